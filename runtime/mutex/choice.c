/* SPDX-License-Identifier: MIT
 *
 * Registration of lock classes and start-up checks.
 *
 * When classes become known. Each class is registered by a constructor of priority 101 in every
 * object file that includes the table, and by its first use if that comes earlier. Shared
 * libraries run their constructors before the program does; within the program, all
 * constructors with a priority precede those without one. So the program's constructors without
 * priority, one in each file that includes relock.h, are the first moment at which all classes
 * are known that do not come by dlopen(), and RELOCK_LOCKS is checked there. Calls from a library
 * come too early and are ignored. What a library might still bring is reported at exit.
 */
#define _GNU_SOURCE
#include "choice.h"

#include "../base/guard.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../locks/algorithm.h"
#include "environment.h"
#include "nearest.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Nothing calls process/ by name, which stands above this room. A program that is linked statically
 * gets it by this, the only name that leads upwards. */
extern const char relock_process_is_linked RELOCK_HIDDEN;
__attribute__((used)) static const char *const process = &relock_process_is_linked;

static bool checked; /* by the main program */

static const struct relock_algorithm *choose(const relock_class_t *lock_class, unsigned *server) {
  const struct relock_algorithm *algorithm = relock_option_algorithm(lock_class->name, server);
  if (algorithm)
    return algorithm;
  const char *name = lock_class->algorithm ? lock_class->algorithm : RELOCK_DEFAULT_ALGORITHM;
  algorithm = relock_algorithm_parse(name, strlen(name), server);
  if (!algorithm)
    relock_usage_error("lock class '%s': unknown algorithm '%s'; rcl and adaptive_rcl may have a "
                       "server from 1 to %d, rcl:2; the algorithms are: %s",
                       lock_class->name, name, RELOCK_MAX_SERVERS, relock_algorithms());
  return algorithm;
}

static void give(relock_class_t *lock_class, const struct relock_algorithm *algorithm,
                 unsigned server) {
  const uint32_t mode = algorithm->always_delegates ? RELOCK_CLASS_ALWAYS_DELEGATES : 0;
  const uint32_t moves = relock_load_relaxed(&lock_class->relock_flags) & -RELOCK_CLASS_MOVE;
  relock_store_relaxed(&lock_class->relock_server, server - 1);
  relock_store_relaxed(&lock_class->relock_flags, mode | (moves + RELOCK_CLASS_MOVE));
  /* Release: pairs with the acquire in relock_resolved_class_of(). */
  relock_store_release(&lock_class->relock_ops, algorithm);
  /* Who still saw the former algorithm changes the mode no more. Release: pairs with the acquire in
   * set_mode(), adaptive_rcl.c. */
  relock_store_release(&lock_class->relock_flags, mode | (moves + 2 * RELOCK_CLASS_MOVE));
}

void relock_class_resolve(relock_class_t *lock_class) {
  relock_options_read();
  relock_guard_take(RELOCK_GUARD_CLASSES);
  if (!lock_class->relock_ops) {
    unsigned server;
    const struct relock_algorithm *algorithm = choose(lock_class, &server);
    relock_class_enlist(lock_class);
    give(lock_class, algorithm, server);
  }
  relock_guard_release(RELOCK_GUARD_CLASSES);
}

/* Clients of the old and the new algorithm meet at the word and in the queue, which those that can
 * move have in common; requests that are posted already are served where they are. */
int relock_class_move(relock_class_t *lock_class, const char *text) {
  lock_class = lock_class ? lock_class : &relock_default_class;
  relock_class_register(lock_class);
  unsigned server;
  const struct relock_algorithm *algorithm = relock_algorithm_parse(text, strlen(text), &server);
  if (!algorithm)
    return EINVAL;
  relock_guard_take(RELOCK_GUARD_CLASSES);
  bool can = algorithm->can_move && lock_class->relock_ops->can_move;
  if (can)
    give(lock_class, algorithm, server);
  relock_guard_release(RELOCK_GUARD_CLASSES);
  return can ? 0 : ENOTSUP;
}

int relock_mutex_set_server(relock_mutex_t *mutex, unsigned server) {
  if (server > RELOCK_MAX_SERVERS)
    return EINVAL;
  /* Requests at the former server are served there: as after relock_class_move(). */
  relock_store_relaxed(&mutex->relock_private.server, (uint8_t)server);
  return 0;
}

void relock_class_register(relock_class_t *lock_class) {
  /* Acquire: pairs with the release in relock_class_resolve(). */
  if (!relock_load_acquire(&lock_class->relock_ops))
    relock_class_resolve(lock_class);
}

static bool is_class(const char *name, size_t length) {
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next)
    if (strlen(c->name) == length && memcmp(c->name, name, length) == 0)
      return true;
  return false;
}

/* As many as fit. */
static void list_classes(char *text, size_t size) {
  static const char more[] = " ...";
  size_t used = 0;
  text[0] = '\0';
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    const size_t length = strlen(c->name) + (used > 0);
    if (used + length + sizeof more > size) {
      strcpy(text + used, more);
      return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", c->name);
  }
}

static bool is_known(const struct relock_choice *choice) {
  const bool every = choice->name_length == 1 && choice->name[0] == '*';
  return every || is_class(choice->name, choice->name_length);
}

/* Null: none is near enough to have been meant. */
static const char *nearest_class(const struct relock_choice *choice) {
  const char *nearest = NULL;
  int least = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    const int distance = relock_name_distance(choice->name, choice->name_length, c->name);
    if (distance < 0 || (nearest && distance >= least))
      continue;
    nearest = c->name;
    least = distance;
  }
  return nearest;
}

/* Ends the program for the first class name in RELOCK_LOCKS that no class has. */
static void refuse_unknown(void) {
  struct relock_choice choice;
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice)) {
    if (is_known(&choice))
      continue;
    char valid[3000];
    list_classes(valid, sizeof valid);
    relock_usage_error("RELOCK_LOCKS: unknown lock class '%.*s'; the lock classes are: %s "
                       "(and * for every class)",
                       (int)choice.name_length, choice.name, valid);
  }
}

/* What has been said of the entries, by their places in the list; those beyond share the last. */
static uint64_t said;
enum { ENTRIES = 64 };

static uint64_t entry_bit(unsigned entry) {
  return (uint64_t)1 << (entry < ENTRIES ? entry : ENTRIES - 1);
}

static void say_near(const struct relock_choice *choice, const char *nearest) {
  relock_say("RELOCK_LOCKS: unknown lock class '%.*s' is ignored; did you mean '%s'? "
             "RELOCK_STRICT=1 makes it an error",
             (int)choice->name_length, choice->name, nearest);
}

/* Of those that look like a class there is, at once; of others, which may belong to another program
 * or to a library that is not loaded yet, only when no class can come any more. */
static void say_unknown(bool may_come) {
  struct relock_choice choice;
  unsigned entry = 0;
  for (const char *at = relock_option_first(&choice); at;
       at = relock_option_next(at, &choice), entry++) {
    if (said & entry_bit(entry) || is_known(&choice))
      continue;
    const char *nearest = nearest_class(&choice);
    if (may_come && !nearest)
      continue;
    said |= entry_bit(entry);
    if (nearest) {
      say_near(&choice, nearest);
      continue;
    }
    char valid[300];
    list_classes(valid, sizeof valid);
    relock_say(
        "RELOCK_LOCKS: unknown lock class '%.*s' is ignored; the lock classes are: %s (and * "
        "for every class). RELOCK_STRICT=1 makes it an error",
        (int)choice.name_length, choice.name, valid);
  }
}

struct program {
  const void *address; /* asked for */
  bool has_address, loads_libraries;
};

/* dl_iterate_phdr visits the main program first: stop there. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct program *program = context;
  uintptr_t offset = (uintptr_t)program->address - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && offset - segment->p_vaddr < segment->p_memsz)
      program->has_address = true;
    if (segment->p_type == PT_INTERP)
      program->loads_libraries = true;
  }
  return 1;
}

void relock_check_options(void) {
  struct program program = {.address = __builtin_return_address(0)};
  if (!checked)
    dl_iterate_phdr(look_at_program, &program);
  if (!program.has_address)
    return;
  checked = true;
  relock_options_read();
  relock_class_register(&relock_default_class);
  relock_guard_take(RELOCK_GUARD_CLASSES);
  if (relock_option_strict())
    refuse_unknown();
  else
    say_unknown(program.loads_libraries);
  relock_guard_release(RELOCK_GUARD_CLASSES);
}

/* A forked child has nothing to add to what its parent says. */
__attribute__((destructor)) static void check_at_exit(void) {
  if (relock_options_are_inherited())
    return;
  relock_class_register(&relock_default_class);
  relock_guard_take(RELOCK_GUARD_CLASSES);
  say_unknown(false);
  relock_guard_release(RELOCK_GUARD_CLASSES);
}
