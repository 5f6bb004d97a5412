/* SPDX-License-Identifier: MIT */
#include "intervals.h"
#include "pairs.h"
#include "store.h"

/* 4.5 MiB in all. What finds no room shows as waiting that is in no interval. */
static uint32_t left = 1 << 13;

static struct relock_intervals *record_of(struct thread *thread, uint32_t group, uint32_t level) {
  struct relock_intervals *record = pairs_record(&thread->intervals, (uint64_t)group << 32 | level,
                                                 RELOCK_RECORD_INTERVALS, sizeof *record, &left);
  if (record) {
    record->group = group;
    record->level = level;
  }
  return record;
}

/* A wait from before a fork has its part since then. */
void intervals_add(struct thread *thread, uint32_t group, uint64_t start, uint64_t wait) {
  uint64_t begin = header->start_ticks, at = start > begin ? start - begin : 0;
  uint64_t end = start + wait > begin ? start + wait - begin : 0;
  struct relock_intervals *record = NULL;
  while (at < end) {
    struct relock_interval in = relock_interval_at(at);
    uint64_t until = in.end < end ? in.end : end;
    if (!record || record->level != in.level)
      record = record_of(thread, group, in.level);
    if (!record)
      return;
    record->wait[in.index] += until - at;
    at = until;
  }
}
