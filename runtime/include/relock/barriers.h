/* SPDX-License-Identifier: MIT
 *
 * Relock barriers: relock_barrier_t takes the place of pthread_barrier_t, with the same meanings and
 * error numbers. Like pthread.h's, these need POSIX of 2001 or later: not with -std=c99 alone.
 */
#ifndef RELOCK_BARRIERS_H
#define RELOCK_BARRIERS_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct relock_barrier_algorithm;
struct relock_barrier_node;
struct relock_barrier_line;

/* Same size and alignment as pthread_barrier_t. Needs relock_barrier_init. */
typedef union relock_barrier {
  struct {
    const struct relock_barrier_algorithm *algorithm;
    struct relock_barrier_node *nodes; /* where threads arrive and wait, see collectives/barrier.h */
    uint32_t count;
    uint32_t first; /* the round with which it began */
    struct relock_barrier_line *places;
  } relock_private;
  char relock_size[sizeof(pthread_barrier_t)];
  long relock_align;
} relock_barrier_t;

/* pthread_barrier_init. The algorithm is chosen by the count and the processors, or is
 * RELOCK_BARRIER's in the environment. EINVAL: no threads, or more than INT_MAX; ENOTSUP:
 * process-shared; ENOMEM. */
int relock_barrier_init(relock_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                        unsigned count);

/* pthread_barrier_destroy. By any thread that has returned from relock_barrier_wait, at once: the
 * memory may be freed then. EBUSY: threads wait in a round that is not complete. EINVAL: not
 * initialised. */
int relock_barrier_destroy(relock_barrier_t *barrier);

/* pthread_barrier_wait. PTHREAD_BARRIER_SERIAL_THREAD in one thread of each round, 0 in the others.
 * Threads may come in any round; those that come too many wait for the next. EINVAL: not
 * initialised. */
int relock_barrier_wait(relock_barrier_t *barrier);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
