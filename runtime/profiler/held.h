/* SPDX-License-Identifier: MIT
 *
 * Whether a thread holds a lock, by the lock's own record, and has had its processor meanwhile.
 */
#ifndef RELOCK_PROFILER_HELD_H
#define RELOCK_PROFILER_HELD_H

#include "processor.h"
#include "thread.h"

/* Other threads may write these two while they are looked at. Atomic, though on their own, so that
 * compilers do not make one load of both: it would have to wait until both stores are done. */
static inline bool is_held(const struct relock_object *object) {
  return __atomic_load_n(&object->counts.depth, __ATOMIC_RELAXED) != 0;
}
static inline bool holds(const struct thread *thread, const struct relock_object *object) {
  return is_held(object) && __atomic_load_n(&object->counts.owner, __ATOMIC_RELAXED) == thread->id;
}

/* The thread lost its processor since it looked at that last, see processor.h. */
static inline bool lost_processor(const struct thread *thread) {
  return __atomic_load_n(&thread->area->mark, __ATOMIC_RELAXED) != PROCESSOR_MARK;
}

/* Takes the object, and those that other threads have released meanwhile, out of what the
 * thread holds. */
void hold_forget(struct thread *thread, const struct relock_object *object);

#endif
