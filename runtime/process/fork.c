/* SPDX-License-Identifier: MIT
 *
 * Start of the runtime and fork handlers: the class list is consistent in the child, the server is
 * started anew at its next use, and old waiters are forgotten.
 */
#include "../base/annotate.h"
#include "../base/class.h"
#include "../base/counters.h"
#include "../base/generation.h"
#include "../base/guard.h"
#include "../base/os.h"
#include "../base/signals.h"
#include "../base/thread.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../collectives/barrier.h"
#include "../debug/layout.h"
#include "../mutex/environment.h"
#include "../mutex/submit.h"
#include "../server/client.h"
#include "../statistics/stats_output.h"
#include "../statistics/times.h"
#include "threads.h"

#include <pthread.h>

extern const char relock_process_is_linked RELOCK_HIDDEN;
const char relock_process_is_linked = 1; /* see mutex/choice.c */

/* Every program that is linked with the runtime has it. */
__attribute__((used)) static const struct relock_debug_layout *const layout = &relock_debug_layout;

static uint64_t signals; /* guarded by RELOCK_GUARD_FORK: what the thread that forks blocks */

/* The sections that servers run may need the other guards to come to their ends. */
static void before_fork(void) {
  relock_settle();
  relock_guard_take(RELOCK_GUARD_FORK);
  relock_servers_before_fork();
  signals = relock_os->block_signals(); /* handlers may need a guard */
  relock_guards_take_all();
}

static void release_guards(void) {
  relock_guards_release_all();
  const uint64_t mask = signals;
  relock_guard_release(RELOCK_GUARD_FORK);
  relock_os->restore_signals(mask);
}

static void after_fork_in_parent(void) {
  relock_servers_after_fork_in_parent();
  release_guards();
}

static void after_fork_in_child(void) {
  relock_add_relaxed(&relock_generation_counter, 1);
  relock_guards_after_fork();
  relock_threads_after_fork();
  relock_signals_after_fork();
  relock_servers_after_fork();
  relock_options_after_fork();
  relock_stats_after_fork();
  relock_times_after_fork();
  relock_stats_output_after_fork();
  release_guards();
  relock_process_first_thread_starts();
  relock_word_start(); /* a child is not registered for barriers of its parent */
}

/* A detector that sees the runtime's own accesses is told which words are shared by other means
 * than it knows; what is written once and read ever after is written before there are threads. */
static void start_watched(void) {
  relock_guards_annotate();
  relock_threads_annotate();
  relock_class_register(&relock_default_class);
  relock_wait_calibrate();
}

__attribute__((constructor(101))) static void start(void) {
  relock_threads_tell(&relock_process_threads);
  relock_sections_wrapped_by(relock_unwrapped_section);
  relock_options_read();
  relock_barrier_options_read();
  relock_word_start();
  if (relock_is_watched())
    start_watched();
  relock_stats_signal_start();
  if (relock_os->is_first_thread() && relock_process_first_thread_starts())
    relock_stats_thread_start();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
