/* SPDX-License-Identifier: MIT
 *
 * What is recorded of a wait for a lock that was found taken, whatever kind of lock it is.
 */
#ifndef RELOCK_PROFILER_CONTENDED_H
#define RELOCK_PROFILER_CONTENDED_H

#include "sample.h"
#include "thread.h"

struct contended {
  struct relock_object *object;
  uint64_t before;  /* when it began */
  uint32_t holder;  /* that had the lock then; 0: unknown */
  uint32_t waiters; /* that waited already */
};

struct contended contended_begins(struct thread *thread, struct relock_object *object,
                                  struct sample *sample);
/* The thread has the lock, or has given up. Returns when. */
uint64_t contended_ends(const struct contended *wait);

/* It has it as its only holder. Returns who had it last. */
uint32_t contended_acquired(const struct contended *wait, struct thread *thread, uint64_t after);
/* It had to give up, and the lock itself says so. */
void contended_timed_out(const struct contended *wait);

/* After all else. `hold_start`: of the hold that begins; 0: the thread gave up. `releaser`: see
 * edge_count(). */
void contended_measure(const struct contended *wait, struct thread *thread,
                       const struct sample *sample, uint32_t releaser, uint64_t hold_start,
                       uint64_t after);

#endif
