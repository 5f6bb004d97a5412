/* SPDX-License-Identifier: MIT */
#include "contended.h"
#include "edge.h"
#include "histograms.h"
#include "hold.h"
#include "intervals.h"
#include "timeline.h"

struct contended contended_begins(struct thread *thread, struct relock_object *object,
                                  struct sample *sample) {
  struct contended wait = {object, relock_ticks(), edge_holder(object), 0};
  section_waits(thread, wait.before);
  if (sample_due(&thread->waits))
    sample_wait(thread, object, sample);
  wait.waiters = __atomic_fetch_add(&object->waiting, 1, __ATOMIC_RELAXED);
  return wait;
}

uint64_t contended_ends(const struct contended *wait) {
  uint64_t now = relock_ticks();
  __atomic_fetch_sub(&wait->object->waiting, 1, __ATOMIC_RELAXED);
  return now;
}

uint32_t contended_acquired(const struct contended *wait, struct thread *thread, uint64_t after) {
  struct relock_object *object = wait->object;
  uint32_t releaser = object->counts.owner;
  object->counts.acquisitions++;
  object->times.contended++;
  object->times.wait += after - wait->before;
  hold_begins_timed(thread, object, (struct timed){after, 1}, false);
  return releaser;
}

void contended_timed_out(const struct contended *wait) {
  __atomic_fetch_add(&wait->object->rare.timeouts, 1, __ATOMIC_RELAXED);
}

void contended_measure(const struct contended *wait, struct thread *thread,
                       const struct sample *sample, uint32_t releaser, uint64_t hold_start,
                       uint64_t after) {
  const uint64_t length = after - wait->before;
  const uint32_t group = wait->object->group;
  measure_wait(thread, group, sample->reading ? RELOCK_READ_WAIT : RELOCK_WAIT, length,
               wait->waiters);
  edge_count(thread, group, wait->holder, releaser, length);
  timeline_add(thread, group, wait->before, length);
  intervals_add(thread, group, wait->before, length);
  if (hold_start)
    sample_acquired(thread, wait->object, sample, hold_start, length);
  else
    sample_gave_up(sample, length);
}
