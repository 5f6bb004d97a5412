/* SPDX-License-Identifier: MIT
 *
 * Properties of the mutex beyond exclusion, as cases of the conformance client.
 */
#ifndef RELOCK_TEST_SEMANTICS_H
#define RELOCK_TEST_SEMANTICS_H

#include <relock/relock.h>

/* Runs that many threads over the function, and meanwhile holds the mutex again and again, so that
 * they gather behind it and, where the algorithm delegates, run one another's sections. Returns
 * how often it held the mutex. */
long run_behind_a_holder(int count, void *(*run)(void *), void *argument, relock_mutex_t *mutex);

void error_numbers_of_held_mutexes(void);
void error_numbers_while_a_section_runs(void);
void recursion_has_an_end(void);
void memory_is_reused_for_other_mutexes(void);
void unlocking_in_any_order(void);
void nesting_deeper_than_request_lines(void);
void sections_within_their_own_mutex(void);
void contexts_of_all_sizes(void);
void statistics_are_exact(void);

#endif
