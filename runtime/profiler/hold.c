/* SPDX-License-Identifier: MIT */
#include "hold.h"

uint64_t hold_bias;

enum relock_distance hold_handed_over(struct relock_counts *counts) {
  uint32_t here;
  counts->handovers++;
  relock_ticks_on(&here);
  return processor_distance(counts->processor, here);
}

enum relock_distance hold_forget(struct thread *thread, const struct relock_object *object) {
  enum relock_distance distance = RELOCK_SAME_THREAD;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < thread->held_count; i++) {
    if (thread->held[i].object == object)
      distance = thread->held[i].distance;
    else if (holds(thread, thread->held[i].object))
      thread->held[kept++] = thread->held[i];
  }
  thread->held_count = kept;
  return distance;
}

void hold_came_from(struct thread *thread, uint32_t group, enum relock_distance distance) {
  struct relock_histogram *histogram = histogram_of(thread, group, RELOCK_HOLD);
  if (histogram)
    histogram->handovers[distance - 1]++;
}
