/* SPDX-License-Identifier: MIT
 *
 * Start of the runtime and fork handlers: the class list is consistent in the child, the server is
 * started anew at its next use, and old waiters are forgotten.
 */
#include "fork.h"

#include "../server/client.h"
#include "../server/submit.h"
#include "annex.h"
#include "class.h"
#include "options.h"
#include "stats.h"
#include "stats_output.h"
#include "thread.h"
#include "word.h"

#include <pthread.h>

uint32_t relock_generation_counter;

static void before_fork(void) {
  relock_settle();
  relock_classes_lock();
  relock_threads_lock();
  relock_annexes_lock();
  relock_servers_before_fork();
}

static void unlock_all(void) {
  relock_annexes_unlock();
  relock_threads_unlock();
  relock_classes_unlock();
}

static void after_fork_in_parent(void) {
  relock_servers_after_fork_in_parent();
  unlock_all();
}

static void after_fork_in_child(void) {
  relock_add_relaxed(&relock_generation_counter, 1);
  relock_threads_after_fork();
  relock_servers_after_fork();
  relock_stats_after_fork();
  relock_stats_output_after_fork();
  unlock_all();
  relock_first_thread_starts();
  relock_word_start(); /* a child is not registered for barriers of its parent */
}

__attribute__((constructor(101))) static void start(void) {
  relock_options_read();
  relock_word_start();
  if (relock_os->is_first_thread() && relock_first_thread_starts())
    relock_stats_thread_start();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
