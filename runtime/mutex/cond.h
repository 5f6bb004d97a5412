/* SPDX-License-Identifier: MIT
 *
 * Waiting on a condition variable in two steps, for whoever waits: a holder takes both, a resumable
 * section the first and its client the second. See cond.c for the states of a waiter.
 */
#ifndef RELOCK_MUTEX_COND_H
#define RELOCK_MUTEX_COND_H

#include "../locks/owed.h"

#include <relock/relock.h>
#include <stdint.h>

/* 0, or EINVAL for a clock or nanoseconds that nobody can wait for. deadline null: for ever. */
int relock_cond_check_time(clockid_t clock, const struct timespec *deadline);

/* The first step: makes the waiter one of the condition variable's, behind those that wait
 * already. The caller owns the mutex's word. Never waits, whatever other threads do, but for others
 * that are the first with it in a forked child, for a few instructions. */
void relock_cond_enlist(relock_cond_t *cond, relock_mutex_t *mutex,
                        struct relock_cond_waiter *waiter);

/* The second step, without the mutex: sleeps until signalled (0) or until the deadline
 * (ETIMEDOUT); the waiter is nobody's then. A cancellation point: a cancelled thread consumes no
 * signal and holds the mutex in its cleanup handlers. */
int relock_cond_sleep(relock_cond_t *cond, relock_mutex_t *mutex, struct relock_cond_waiter *waiter,
                      clockid_t clock, const struct timespec *deadline);

#endif
