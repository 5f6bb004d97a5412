/* SPDX-License-Identifier: MIT
 *
 * The list of lock classes.
 *
 * Invariant: a class is put into the list, under RELOCK_GUARD_CLASSES, when its relock_ops is set,
 * and leaves it when the library that defines it is closed, or at exit; a copy keeps its name and
 * counters.
 */
#include "class.h"

#include "counters.h"
#include "guard.h"
#include "os.h"

#include <string.h>

relock_class_t relock_default_class = {.name = "default"};

/* Guarded by RELOCK_GUARD_CLASSES. */
static relock_class_t *first_class;
static uint32_t next_index;

relock_class_t *relock_classes_first(void) { return first_class; }

/* The link that leads to the class of that name whose library was closed, or to the end. */
static relock_class_t **link_to_remembered(const char *name) {
  relock_class_t **link = &first_class;
  while (*link &&
         !((*link)->relock_flags & RELOCK_CLASS_REMEMBERED && strcmp((*link)->name, name) == 0))
    link = &(*link)->relock_next;
  return link;
}

/* A library that is opened again goes on with its old counters. */
void relock_class_enlist(relock_class_t *lock_class) {
  relock_class_t **link = link_to_remembered(lock_class->name), *remembered = *link;
  if (remembered) {
    lock_class->relock_index = remembered->relock_index;
    lock_class->relock_mutexes += remembered->relock_mutexes;
    lock_class->relock_next = remembered->relock_next;
  } else {
    lock_class->relock_index = next_index < RELOCK_MAX_CLASSES - 1 ? next_index++ : next_index;
    lock_class->relock_next = first_class;
    link = &first_class;
  }
  *link = lock_class;
}

/* Under the lock. At exit, when all classes are remembered, a program may have forbidden itself to
 * ask for memory: there is room for some 250 without. */
static void *room_for_copy(size_t size) {
  static _Alignas(relock_class_t) char room[64 << 10];
  static size_t used;
  const size_t alignment = _Alignof(relock_class_t);
  size = (size + alignment - 1) / alignment * alignment;
  if (size > sizeof room - used)
    return relock_os->reserve(size);
  used += size;
  return room + used - size;
}

/* Of relock_private, in a copy: where the class was; nothing may be there any more. */
enum { FORMER };

/* A copy takes the place in the list of a class whose memory may vanish. The class itself stays as
 * it is: at exit, threads may still use it. */
void relock_class_remember(relock_class_t *lock_class) {
  relock_guard_take(RELOCK_GUARD_CLASSES);
  relock_class_t **link = &first_class;
  while (*link && *link != lock_class)
    link = &(*link)->relock_next;
  size_t name_size = strlen(lock_class->name) + 1;
  relock_class_t *copy = *link ? room_for_copy(sizeof *copy + name_size) : NULL;
  if (*link && copy) {
    *copy = *lock_class;
    copy->name = memcpy(copy + 1, lock_class->name, name_size);
    copy->relock_flags |= RELOCK_CLASS_REMEMBERED;
    copy->relock_private[FORMER] = lock_class;
  }
  if (*link)
    *link = copy ? copy : lock_class->relock_next;
  relock_guard_release(RELOCK_GUARD_CLASSES);
}

/* `previous` may have vanished, with its library, since the caller got it. */
relock_class_t *relock_class_next(const relock_class_t *previous) {
  relock_guard_take(RELOCK_GUARD_CLASSES);
  relock_class_t *c = first_class;
  if (previous) {
    while (c && c != previous && c->relock_private[FORMER] != previous)
      c = c->relock_next;
    c = c ? c->relock_next : NULL;
  }
  relock_guard_release(RELOCK_GUARD_CLASSES);
  return c;
}

void relock_class_visit(void (*visit)(relock_class_t *lock_class, void *context), void *context) {
  relock_guard_take(RELOCK_GUARD_CLASSES);
  for (relock_class_t *c = first_class; c; c = c->relock_next)
    visit(c, context);
  relock_guard_release(RELOCK_GUARD_CLASSES);
}
