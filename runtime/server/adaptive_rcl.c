/* SPDX-License-Identifier: MIT
 *
 * adaptive_rcl: adaptive, as long as sections seldom have to wait. A class whose sections keep
 * having to is handed to the server of client.c:
 *
 *            server_after sections had to wait, and they
 *            are server_percent of all                      PROBES in a row found the word free
 *   MUTEX or COMBINER ------------------------------> SERVER ------------------------> MUTEX
 *
 * The mode is the class's flag "always delegates". Clients of either mode go through the same
 * word, the server by trying it, so that a client that has not seen the change yet does no harm.
 */
#include "../base/class.h"
#include "../base/options.h"
#include "../locks/algorithm.h"
#include "../locks/queue.h"
#include "../locks/section.h"

/* Of so many sections in a row one tries the word itself, to find out whether others still want it.
 * If they do, the server has to fetch the data of that section back: so half as often each time,
 * down to once in SELDOM sections. Guesses. */
enum { PROBE_EVERY = 64, SELDOM = 4096, PROBES = 8 };

/* Not if the class was moved to another algorithm meanwhile. */
static void set_mode(relock_class_t *lock_class, struct relock_thread *self, bool always) {
  /* Acquire: pairs with the release in give(), choice.c. */
  const uint32_t flags = relock_load_acquire(&lock_class->relock_flags);
  if (relock_load_relaxed(&lock_class->relock_ops) == &relock_adaptive_rcl &&
      !(flags & RELOCK_CLASS_ALWAYS_DELEGATES) == always &&
      relock_cas_relaxed(&lock_class->relock_flags, flags, flags ^ RELOCK_CLASS_ALWAYS_DELEGATES))
    relock_stats_count(self, lock_class->relock_index, RELOCK_COUNT_SWITCHES, 1);
}

/* A section of this thread has to wait. */
static void consider_server(relock_class_t *lock_class, struct relock_thread *self) {
  struct relock_watch *watch = &self->watch;
  if (watch->lock_class == lock_class && ++watch->contended < relock_tuning.server_after)
    return;
  uint64_t now = relock_stats_read(self, lock_class->relock_index, RELOCK_COUNT_EXECUTED);
  if (watch->lock_class == lock_class &&
      (now - watch->executed) * relock_tuning.server_percent <= 100ull * watch->contended)
    set_mode(lock_class, self, true);
  *watch = (struct relock_watch){.lock_class = lock_class, .executed = now};
}

/* Tries the word itself. True: the word was free, and is the caller's. */
static bool probe(relock_mutex_t *mutex, relock_class_t *lock_class, struct relock_thread *self) {
  struct relock_watch *watch = &self->watch;
  if (watch->probe_after == 0)
    watch->probe_after = PROBE_EVERY;
  if (++watch->delegated < watch->probe_after)
    return false;
  watch->delegated = 0;
  if (!relock_queue_try(mutex)) {
    watch->free_probes = 0;
    watch->probe_after = watch->probe_after < SELDOM ? 2 * watch->probe_after : SELDOM;
    return false;
  }
  if (watch->probe_after > PROBE_EVERY)
    watch->probe_after /= 2;
  if (++watch->free_probes == PROBES) {
    watch->free_probes = 0;
    set_mode(lock_class, self, false);
  }
  return true;
}

static int adaptive_rcl_execute(relock_mutex_t *mutex, struct relock_thread *self,
                                const struct relock_call *call) {
  relock_class_t *lock_class = relock_class_of(mutex);
  if (relock_class_tries_first(lock_class)) {
    consider_server(lock_class, self);
    return relock_adaptive.execute(mutex, self, call);
  }
  if (probe(mutex, lock_class, self))
    return relock_run_and_release(mutex, self, call->section, call->context);
  return relock_rcl.execute(mutex, self, call);
}

static void adaptive_rcl_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  relock_adaptive.lock(mutex, self);
}

const struct relock_algorithm relock_adaptive_rcl = {.name = "adaptive_rcl",
                                                     .lock = adaptive_rcl_lock,
                                                     .execute = adaptive_rcl_execute,
                                                     .has_server = true,
                                                     .can_move = true};
