/* SPDX-License-Identifier: MIT
 *
 * An annex: memory beside a mutex, for algorithms whose waiters need more than the mutex has room
 * for. It is made when the mutex is contended for the first time, `tail` points to it from then
 * on, and relock_mutex_destroy() gives it back; a mutex whose memory is reused without that keeps
 * its annex from others for ever. Zero-filled when made; never unmapped.
 *
 * `tail` is not 0 then, so arrivals look at `open` (queue.h): it is 1 from the start, and the
 * algorithm clears it while arrivals must not take a free word past its waiters.
 *
 * As with the mutex itself, a thread must not touch the annex after it has released the word for
 * the last time or told the last client that its section is done.
 */
#ifndef RELOCK_BASE_ANNEX_H
#define RELOCK_BASE_ANNEX_H

#include <relock/relock.h>
#include <stddef.h>

enum { RELOCK_ANNEX_SIZE = 4096 };

/* The mutex's annex, RELOCK_ANNEX_SIZE bytes aligned to a page. Null: no memory. */
void *relock_annex(relock_mutex_t *mutex);

/* Takes the annex away from a mutex that nobody uses, if it has one. Only for mutexes of
 * algorithms with an annex. */
void relock_annex_give_back(relock_mutex_t *mutex);

#endif
