/* SPDX-License-Identifier: MIT */
#include "held.h"

void hold_forget(struct thread *thread, const struct relock_object *object) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < thread->held_count; i++)
    if (thread->held[i].object != object && holds(thread, thread->held[i].object))
      thread->held[kept++] = thread->held[i];
  thread->held_count = kept;
}
