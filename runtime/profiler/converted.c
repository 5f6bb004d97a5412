/* SPDX-License-Identifier: MIT
 *
 * The locks of librelock, which times and counts them: see ../base/recorder.h. A lock that is held
 * stands among those that its thread reads under, since it has no record of its own, and its class
 * is a group without locks. What librelock does not say, such as whose lock it was, is not
 * recorded.
 */
#include "../base/recorder.h"
#include "hold.h"
#include "preload.h"
#include "timeline.h"

static uint32_t lock_class(const void *key, bool hidden) {
  struct thread *thread = recording_enter();
  struct relock_object *object;
  if (!thread)
    return 0;
  object = primitive_object(RELOCK_CONVERTED, key);
  if (object && hidden)
    object_hide(object);
  recording_leave(thread);
  return object ? object->group + 1 : UINT32_MAX;
}

static void remember(struct thread *thread, uint32_t group, const void *lock) {
  if (thread->read_count == HELD_MAX)
    count_drop(&header->dropped_nestings); /* those inside it */
  else
    thread->reads[thread->read_count++] =
        (struct read_hold){.lock = lock, .group = group, .weight = 1};
}

static void takes(uint32_t number, const void *lock, uint64_t since, int how) {
  const struct relock_object taken = {
      .address = (uintptr_t)lock, .group = number - 1, .primitive = RELOCK_CONVERTED};
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  if (how & RELOCK_TAKE_WAITED)
    section_waits(thread, since);
  else
    section_begins(thread, (struct timed){since, 1});
  if (UNLIKELY(in_section(thread)))
    nesting_count(thread, &taken, false, how & RELOCK_TAKE_TRIED);
  remember(thread, taken.group, lock);
  recording_leave(thread);
}

static void gives(const void *lock, uint64_t now) {
  struct thread *thread = recording_enter();
  struct read_hold hold;
  if (!thread)
    return;
  if (read_forget(thread, lock, &hold) && section_may_end(thread))
    section_ends(thread, now);
  recording_leave(thread);
}

static void waited(uint32_t number, uint64_t start, uint64_t ticks, uint32_t waiters) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  measure_wait(thread, number - 1, RELOCK_WAIT, ticks, waiters);
  timeline_add(thread, number - 1, start, ticks);
  recording_leave(thread);
}

static void held(uint32_t number, uint64_t ticks) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  measure(thread, number - 1, RELOCK_HOLD, ticks, 1);
  recording_leave(thread);
}

static void measures(bool begins) {
  static uint64_t sections, section_time;
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  if (begins) {
    sections = thread->record->sections;
    section_time = thread->record->section_time;
  } else {
    thread->record->sections = sections;
    thread->record->section_time = section_time;
  }
  recording_leave(thread);
}

EXPORT const struct relock_recorder RELOCK_RECORDER;
const struct relock_recorder RELOCK_RECORDER = {
    .version = RELOCK_RECORDER_VERSION,
    .lock_class = lock_class,
    .takes = takes,
    .gives = gives,
    .waited = waited,
    .held = held,
    .measures = measures,
};
