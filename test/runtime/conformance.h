/* SPDX-License-Identifier: MIT
 *
 * The cases of the conformance client that share its mutexes, and what they share.
 */
#ifndef RELOCK_TEST_CONFORMANCE_H
#define RELOCK_TEST_CONFORMANCE_H

#include <relock/relock.h>

#include <stdbool.h>

/* Of conformance.c: whether the algorithm runs sections on threads of its own, as rcl does. */
bool has_server(void);

/* Of operations.c: */
enum { THREADS = 8, ROUNDS = 3000 };
extern relock_mutex_t zero, first, second;
extern long counter; /* guarded by one of them */
relock_mutex_t new_mutex(int type);
/* A section that adds a long to the counter, and sees it if another is inside. */
int guarded(void *context);
/* Adds ROUNDS under the first mutex, in all ways. */
void *mix(void *unused);

void use_before_main(void);
void zero_filled_and_static(void);
void unsupported_attributes(void);
void mutual_exclusion_of_all_ways(void);
void own_context_and_result_once_per_call(void);
void lock_only_where_a_condition_holds(void);
void nesting_in_any_order(void);
void try_and_timed_locks(void);
void unlock_by_another_thread(void);
void errorcheck_type(void);
void recursive_type(void);

/* Of delegation.c: */
bool is_delegated(bool any_thread);
/* Whether the algorithm delegates; found out once, and the last line of the output says it. */
bool delegates(void);
void *delegate_as_new_thread(void *unused);

void sections_are_delegated_with_identity_or_not_at_all(void);
void section_run_by_another_thread_is_not_cancelled(void);
void sections_keep_thread_identity(void);
void contended_sections_keep_thread_identity(void);
void errno_is_not_changed(void);

/* Of conditions.c: */
extern struct gate {
  relock_mutex_t mutex;
  relock_cond_t changed;
  long waiting, woken, tickets;
} gate; /* zero-filled */

void signal_and_broadcast(void);
void no_lost_wake_up(void);
void timed_condition_waits(void);
void deadlines_race_with_signals(void);
void deadline_does_not_consume_a_signal(void);
void condition_wait_can_be_cancelled(void);

/* Of threads.c: */
void threads_come_and_go(void);
void last_section_may_free_the_mutex(void);
void holders_are_not_starved(void);
void fork_in_threaded_program(void);

#endif
