/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sample.h"
#include "held.h"
#include "site.h"
#include "store.h"

#include <features.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_TABLE_SIZE = 1 << 16, PROBES_MAX = 64 };
/* Of backtraces, in ns; and the part of a thread's processor time that it gets for further ones. */
enum { FIRST_BUDGET = 2000000, BUDGET_PART = 1024, LONGEST_INTERVAL = 64 };

static struct relock_site *sites[SITE_TABLE_SIZE]; /* entries are filled, never emptied */
static uint64_t interval;                          /* ticks between two samples of a thread */
static bool limited;                               /* by what they cost */

void sample_start(void) {
  const char *text = secure_getenv(RELOCK_RECORDS_SAMPLE);
  limited = !text;
  interval = (text ? strtoull(text, NULL, 10) : 1000) * relock_ticks_per_millisecond() / 1000;
}

uint64_t sample_interval(void) { return interval; }

void sample_begin(struct thread *thread) {
  sample_begin_at(&thread->acquisitions, thread->record->id);
  sample_begin_at(&thread->waits, thread->record->id);
  sample_begin_at(&thread->other_waits, thread->record->id);
  for (int i = 0; i < 2; i++)
    sample_begin_at(&thread->librelock[i], thread->record->id);
  relock_timing_begin(&thread->timing, thread->record->id);
  thread->budget = (struct budget){.left = FIRST_BUDGET, .interval = interval};
  samples_await(thread);
}

unsigned samples_due(struct thread *thread) {
  unsigned due = 0;
  thread->acquisitions.countdown -= thread->gap;
  thread->events.due.countdown -= thread->gap;
  thread->timing.due.countdown -= thread->gap;
  if (!thread->acquisitions.countdown)
    due |= DUE_BACKTRACE;
  if (!thread->events.due.countdown)
    due |= DUE_EVENT;
  if (!thread->timing.due.countdown)
    due |= DUE_TIMING;
  return due;
}

void samples_await(struct thread *thread) {
  uint64_t gap = thread->acquisitions.countdown;
  if (thread->events.due.countdown < gap)
    gap = thread->events.due.countdown;
  if (thread->timing.due.countdown < gap)
    gap = thread->timing.due.countdown;
  thread->countdown = thread->gap = gap;
}

/* Older unwinders take a lock of the loader, which a thread that holds a mutex of the program
 * must not wait for: the program may take the two in the other order. */
static bool may_unwind(const struct thread *thread) {
#if __GLIBC_PREREQ(2, 35) && __GNUC__ >= 12
  (void)thread;
  return true;
#else
  return !thread->held_count && !thread->read_count;
#endif
}

static size_t hash(uint32_t group, bool reading, const uint64_t *frames, uint32_t count) {
  uint64_t value = (uint64_t)reading << 32 | group;
  for (uint32_t i = 0; i < count; i++)
    value = (value ^ frames[i]) * 0x9e3779b97f4a7c15ull;
  return (size_t)(value >> 32);
}

/* Where the site of this backtrace stands, or can be entered; null: there is no room. What stands
 * there is not read again: another thread may enter another site meanwhile. */
static struct relock_site **find(uint32_t group, bool reading, const uint64_t *frames,
                                 uint32_t count, struct relock_site **found) {
  size_t at = hash(group, reading, frames, count);
  for (unsigned probe = 0; probe < PROBES_MAX; probe++, at++) {
    struct relock_site **entry = &sites[at % SITE_TABLE_SIZE];
    struct relock_site *site = __atomic_load_n(entry, __ATOMIC_ACQUIRE); /* pairs with add() */
    *found = site;
    if (!site || (site->group == group && site->reading == reading && site->frame_count == count &&
                  !memcmp(site->frames, frames, count * sizeof *frames)))
      return entry;
  }
  *found = NULL;
  return NULL;
}

static struct relock_site *add(uint32_t group, bool reading, const uint64_t *frames,
                               uint32_t count) {
  struct relock_site **entry, *site;
  record_lock();
  entry = find(group, reading, frames, count, &site);
  if (entry && !site && (site = record_allocate(RELOCK_RECORD_SITE, sizeof *site))) {
    site->group = group;
    site->reading = reading;
    site->frame_count = count;
    memcpy(site->frames, frames, count * sizeof *frames);
    __atomic_store_n(entry, site, __ATOMIC_RELEASE); /* pairs with find() */
  }
  record_unlock();
  return site;
}

static struct relock_site *site_of(const struct thread *thread, uint32_t group, bool reading,
                                   const uint64_t *frames, uint32_t count) {
  struct relock_site *site;
  find(group, reading, frames, count, &site);
  if (!site) {
    if (!thread->held_count && !thread->read_count) /* see may_unwind() */
      site_refresh_modules();
    site = add(group, reading, frames, count);
  }
  if (!site)
    count_drop(&header->dropped_samples);
  return site;
}

static struct relock_site *current_site(const struct thread *thread, uint32_t group, bool reading) {
  uint64_t frames[RELOCK_FRAMES];
  return site_of(thread, group, reading, frames, site_backtrace(0, frames));
}

/* The frames of a call of librelock: the section or 0, the caller, and the callers of that. Null:
 * it is on no stack, since its section was submitted before. */
static struct relock_site *librelock_site(const struct thread *thread, uint32_t group,
                                          const struct relock_call_place *place) {
  uint64_t callers[RELOCK_FRAMES] = {place->caller}, frames[RELOCK_FRAMES];
  uint32_t count = place->whole ? site_backtrace(place->caller, callers) : 1;
  if (!count)
    return NULL;
  count = count < RELOCK_FRAMES ? count : RELOCK_FRAMES - 1;
  frames[0] = place->section;
  memcpy(&frames[1], callers, count * sizeof *callers);
  return site_of(thread, group, false, frames, count + 1);
}

static void spend(struct budget *budget, uint64_t spent) {
  const int64_t ns = (int64_t)(1000000 * spent / relock_ticks_per_millisecond());
  const uint64_t now = record_processor_time();
  if (!now)
    return;
  budget->left += (int64_t)((now - budget->processor) / BUDGET_PART);
  budget->left = (budget->left < FIRST_BUDGET ? budget->left : FIRST_BUDGET) - ns;
  budget->processor = now;
  if (budget->left < 0 && budget->interval < LONGEST_INTERVAL * interval)
    budget->interval *= 2;
  else if (budget->left >= 0 && budget->interval > interval)
    budget->interval /= 2;
}

/* It began at that time. What others did meanwhile is none of its cost. */
static void count_cost(struct thread *thread, uint64_t start) {
  struct budget *budget = &thread->budget;
  uint64_t spent = relock_ticks() - start;
  if (lost_processor(thread) && spent > budget->cost && budget->cost)
    spent = budget->cost;
  budget->cost = spent;
  thread->record->sampling += spent;
  if (limited)
    spend(budget, spent);
}

struct sample sample_acquisition(struct thread *thread, const struct relock_object *object,
                                 bool reading, unsigned due) {
  struct sample sample = {.reading = reading};
  if (due & DUE_BACKTRACE) {
    uint64_t now = relock_ticks();
    sample.weight = sample_gap(&thread->acquisitions, now, thread->budget.interval);
    if (may_unwind(thread))
      sample.site = current_site(thread, object->group, reading);
    count_cost(thread, now);
  }
  if (due & DUE_EVENT)
    sample.event_weight = event_prepare(thread);
  return sample;
}

void sample_wait(struct thread *thread, const struct relock_object *object, struct sample *sample) {
  uint64_t now = relock_ticks();
  sample->wait_weight = sample_gap(&thread->waits, now, thread->budget.interval);
  if (!sample->site) {
    sample->weight = 0;
    if (may_unwind(thread))
      sample->site = current_site(thread, object->group, sample->reading);
  }
  count_cost(thread, now);
}

uint32_t sample_librelock(struct thread *thread, uint32_t group,
                          const struct relock_call_place *place, struct relock_traced *traced) {
  struct sampling *sampling = &thread->librelock[place->waits];
  const uint64_t now = relock_ticks();
  const uint32_t weight = (uint32_t)sample_gap(sampling, now, thread->budget.interval);
  if (!traced->site && may_unwind(thread))
    traced->site = librelock_site(thread, group, place);
  if (place->waits)
    traced->waits = weight;
  else
    traced->weight = weight;
  count_cost(thread, now);
  return (uint32_t)sampling->countdown;
}

static void add_to(uint64_t *sum, uint64_t value) {
  if (value)
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

void sample_librelock_took(const struct relock_traced *traced, bool waited, uint64_t ticks) {
  struct relock_site *site = traced->site;
  add_to(&site->samples, 1);
  add_to(&site->acquisitions, traced->weight);
  add_to(&site->contended, waited ? traced->waits : 0);
  add_to(&site->wait, waited ? traced->waits * ticks : 0);
}

void sample_librelock_held(const struct relock_traced *traced, uint64_t ticks) {
  add_to(&((struct relock_site *)traced->site)->hold, traced->weight * ticks);
}

void sample_gave_up(const struct sample *sample, uint64_t wait) {
  if (sample->site)
    add_to(&sample->site->wait, sample->wait_weight * wait);
}

static void remove_pending(struct thread *thread, uint32_t index) {
  thread->pending[index] = thread->pending[--thread->pending_count];
}

/* Holds that other threads have ended meanwhile are not waited for. */
static void forget_ended(struct thread *thread, const struct relock_object *object, bool reading) {
  if (thread->held_count + thread->read_count <= 1)
    thread->pending_count = 0;
  for (uint32_t i = thread->pending_count; !reading && i-- > 0;)
    if (thread->pending[i].object == object)
      remove_pending(thread, i);
}

static void await_release(struct thread *thread, const struct relock_object *object,
                          const struct sample *sample, uint64_t hold_start) {
  forget_ended(thread, object, sample->reading);
  if (thread->pending_count == PENDING_MAX) {
    count_drop(&header->dropped_samples);
    return;
  }
  thread->pending[thread->pending_count++] =
      (struct pending){object, sample->site, hold_start, sample->weight};
}

void sample_acquired(struct thread *thread, const struct relock_object *object,
                     const struct sample *sample, uint64_t hold_start, uint64_t wait) {
  if (sample->site) {
    add_to(&sample->site->samples, 1);
    add_to(&sample->site->acquisitions, sample->weight);
    add_to(&sample->site->contended, sample->wait_weight);
    add_to(&sample->site->wait, sample->wait_weight * wait);
    if (sample->weight && hold_start)
      await_release(thread, object, sample, hold_start);
  }
  if (sample->event_weight && hold_start)
    event_section_begins(thread, object, hold_start, sample->reading, sample->event_weight);
}

void sample_released(struct thread *thread, const struct relock_object *object, uint64_t hold_start,
                     uint64_t hold) {
  for (uint32_t i = 0; i < thread->pending_count; i++) {
    struct pending *pending = &thread->pending[i];
    if (pending->object != object || pending->hold_start != hold_start)
      continue;
    add_to(&pending->site->hold, pending->weight * hold);
    remove_pending(thread, i);
    return;
  }
}

/* Threads wait for the end of the program, or are cancelled: a wait is counted when it has ended.
 */
struct wait_sample sample_other_wait(struct thread *thread, uint32_t group) {
  struct wait_sample sample = {NULL, 0};
  uint64_t now;
  if (!sample_due(&thread->other_waits))
    return sample;
  now = relock_ticks();
  sample.weight = sample_gap(&thread->other_waits, now, thread->budget.interval);
  if (may_unwind(thread))
    sample.site = current_site(thread, group, false);
  count_cost(thread, now);
  return sample;
}

void sample_waited(const struct wait_sample *sample, uint64_t wait) {
  if (!sample->site)
    return;
  add_to(&sample->site->samples, 1);
  add_to(&sample->site->contended, sample->weight);
  add_to(&sample->site->wait, sample->weight * wait);
}
