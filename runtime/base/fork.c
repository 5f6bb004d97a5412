/* SPDX-License-Identifier: MIT
 *
 * Fork handlers: the class list is consistent in the child, the server is started anew at its
 * next use, and old waiters are forgotten.
 */
#include "fork.h"

#include "class.h"
#include "stats.h"
#include "../server/rcl.h"

#include <pthread.h>

uint32_t relock_generation_counter;

static void before_fork(void) { relock_classes_lock(); }

static void after_fork_in_parent(void) { relock_classes_unlock(); }

static void after_fork_in_child(void) {
  relock_add_relaxed(&relock_generation_counter, 1);
  relock_rcl_after_fork();
  relock_stats_after_fork();
  relock_classes_unlock();
}

__attribute__((constructor(101))) static void register_handlers(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
