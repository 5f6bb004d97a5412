/* SPDX-License-Identifier: MIT
 *
 * Threads that end, signals, processes and libraries, as cases of the conformance client.
 */
#ifndef RELOCK_TEST_ENVIRONMENT_H
#define RELOCK_TEST_ENVIRONMENT_H

void thread_exit_handlers_use_locks(void);
void signals_arrive_all_the_time(void);
void cancellation_waits_for_its_points(void);
void cleanup_handler_unlocks_behind_a_section(void);
void streams_locked_by_the_client(void);
void fork_in_every_phase(void);
void libraries_come_and_go(void);
void ten_thousand_threads(void);

#endif
