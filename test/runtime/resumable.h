/* SPDX-License-Identifier: MIT
 *
 * Properties of condition variables with resumable sections, as cases of the conformance client.
 */
#ifndef RELOCK_TEST_RESUMABLE_H
#define RELOCK_TEST_RESUMABLE_H

void resumable_and_holding_threads_share_a_buffer(void);
void resumable_sections_return_for_work_and_go_on(void);
void resumable_sections_keep_identity_and_place(void);
void waits_end_in_the_order_in_which_they_began(void);
void broadcast_ends_all_waits_and_the_condition(void);
void resumable_timed_waits(void);
void resumable_waits_that_cannot_begin(void);
void deadline_of_a_section_does_not_consume_a_signal(void);
void destroy_waits_for_threads_that_leave(void);
void resumable_waits_can_be_cancelled(void);
void cancellation_does_not_consume_a_signal(void);
void resumable_sections_of_typed_mutexes(void);
void resumable_section_inside_another_section(void);
void others_go_on_while_sections_wait(void);
void waiters_of_the_parent_are_not_in_the_child(void);

#endif
