/* SPDX-License-Identifier: MIT
 *
 * Invariants
 *  - What a thread holds stands in its own list. An entry is written by that thread, but for
 * `mutex` and `released`, which another thread sets when it releases the mutex in its place: to
 * null, and to when that was. Entries do not move, so that it finds them.
 *  - The owner of a timed mutex is a mark unless it is a thread pointer, and then odd. A normal one
 *    that is held has its holder's mark, one that is free that of the thread that had it last.
 */
#define _GNU_SOURCE
#include "times.h"

#include "../base/annotate.h"
#include "../base/counters.h"
#include "../base/os.h"
#include "../base/thread.h"
#include "recorder.h"
#include "timing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  HELD_MAX = 24,
  POOL = 64 << 20, /* some 10,000 pairs of a thread and a class */
  LEAST_POOL = 1 << 20,
};

struct held {
  relock_mutex_t *mutex; /* null: released */
  struct relock_timed timed;
  uint64_t released; /* by another thread */
  uint32_t index;
  enum relock_distance distance;
  struct relock_site *site;
  const relock_mutex_t *recorded; /* the recorder takes it for held; or null */
  struct relock_traced traced;
};

struct relock_times {
  uint32_t held_count;    /* of the list's entries in use */
  uint32_t executing;     /* calls of relock_execute that passed a section on */
  uint64_t section_start; /* 0: in none, or in one that is not timed */
  uint32_t section_weight;
  struct relock_section_times sections;
  uint64_t sleep_start; /* 0: sleeps on no condition variable */
  uint32_t sleep_index;
  uint64_t slept;
  struct relock_timing timing;
  uint32_t weight; /* of the next hold that is chosen */
  bool chose;      /* one since the period was adapted last */
  uint32_t calls;  /* up to the next one that is traced, and of those that wait */
  uint32_t waiting_calls;
  struct held held[HELD_MAX];
  struct relock_timed_submission submission;
  struct relock_class_times *classes[RELOCK_MAX_CLASSES];
};

static char *pool;
static uint64_t pool_size, pool_used, dropped;
static uint64_t cost, untimed_cost, bias;
static uint64_t millisecond; /* in ticks; 0: all holds are timed */
static uint64_t start_ticks, start_ns;

uint64_t relock_times_cost(void) { return cost; }
uint64_t relock_times_untimed_cost(void) { return untimed_cost; }
uint64_t relock_times_bias(void) { return bias; }
uint64_t relock_times_dropped(void) { return relock_load_relaxed(&dropped); }

static double ns_per_tick(void) {
  uint64_t ticks = relock_ticks() - start_ticks, ns = relock_os->now_ns() - start_ns;
  return start_ticks && ticks && ns ? (double)ns / (double)ticks : 1;
}

uint64_t relock_times_ticks_per_second(void) { return (uint64_t)(1e9 / ns_per_tick() + 0.5); }

uint64_t relock_times_ns(uint64_t ticks) {
  return ticks ? (uint64_t)((double)ticks * ns_per_tick() + 0.5) : 0;
}

static void drop(void) { relock_add_relaxed(&dropped, 1); }

/* --- memory ---------------------------------------------------------------------------------- */

static void *allocate(size_t size) {
  size = (size + RELOCK_CACHE_LINE - 1) & ~(size_t)(RELOCK_CACHE_LINE - 1);
  if (relock_load_relaxed(&pool_used) + size > pool_size) {
    drop();
    return NULL;
  }
  uint64_t at = relock_add_relaxed(&pool_used, size);
  if (at + size <= pool_size) {
    if (relock_is_watched())
      relock_annotate_own(pool + at, size);
    return pool + at;
  }
  drop();
  return NULL;
}

static void timing_begins(struct relock_times *times, uint32_t number) {
  relock_timing_begin(&times->timing, number + 1);
  times->weight = 1;
  times->chose = false;
}

static __attribute__((noinline)) struct relock_times *make_times(struct relock_thread *self) {
  struct relock_times *times = self ? allocate(sizeof *times) : NULL;
  if (times) {
    timing_begins(times, self->number);
    times->waiting_calls = 1;
    /* Release: pairs with the acquire in relock_times_add_up(). */
    relock_store_release(&self->times, times);
  } else if (!self) {
    drop();
  }
  return times;
}

static inline struct relock_times *times_of(struct relock_thread *self) {
  return RELOCK_LIKELY(self && self->times) ? self->times : make_times(self);
}

static __attribute__((noinline)) struct relock_class_times *
make_class_times(struct relock_class_times **slot) {
  struct relock_class_times *times = allocate(sizeof *times);
  if (times) {
    times->sure = RELOCK_FIRST_TIMED;
    /* Release: pairs with the acquire in relock_times_add_up(). */
    relock_store_release(slot, times);
  }
  return times;
}

static inline struct relock_class_times *class_times(struct relock_times *times, uint32_t index) {
  struct relock_class_times **slot = &times->classes[index];
  return RELOCK_LIKELY(*slot != NULL) ? *slot : make_class_times(slot);
}

/* --- adding ---------------------------------------------------------------------------------- */

static double load_number(const double *number) {
  double value;
  __atomic_load(number, &value, __ATOMIC_RELAXED);
  return value;
}

static struct relock_chance chance_of(const struct relock_distribution *distribution) {
  const struct relock_chance *chance = &distribution->chance;
  return (struct relock_chance){load_number(&chance->weights), load_number(&chance->values),
                                load_number(&chance->squares)};
}

static void add_chance(struct relock_distribution *distribution, uint64_t ticks, uint32_t weight) {
  struct relock_chance chance = distribution->chance;
  relock_chance_add(&chance, ticks, weight);
  __atomic_store(&distribution->chance.weights, &chance.weights, __ATOMIC_RELAXED);
  __atomic_store(&distribution->chance.values, &chance.values, __ATOMIC_RELAXED);
  __atomic_store(&distribution->chance.squares, &chance.squares, __ATOMIC_RELAXED);
}

/* weight: how many it stands for. */
static void add(struct relock_distribution *distribution, uint64_t ticks, uint32_t weight) {
  relock_count_own(&distribution->count, weight);
  relock_count_own(&distribution->total, weight * ticks);
  relock_count_own(&distribution->values, 1);
  relock_count_own(&distribution->buckets[relock_bucket(ticks)], weight);
  if (ticks > distribution->max)
    relock_store_relaxed(&distribution->max, ticks);
  if (weight > 1)
    add_chance(distribution, ticks, weight);
}

static struct relock_site *site_of(struct relock_class_times *times,
                                   const struct relock_acquisition *acquisition) {
  for (int i = 0; i < RELOCK_SITES; i++) {
    struct relock_site *site = &times->sites[i];
    if (site->caller == acquisition->caller && site->section == acquisition->section)
      return site;
    if (site->caller)
      continue;
    relock_store_relaxed(&site->section, acquisition->section);
    /* Release: pairs with the acquire in add_sites(). */
    relock_store_release(&site->caller, acquisition->caller);
    return site;
  }
  return NULL;
}

static void add_wait(struct relock_class_times *times, uint64_t ticks, uint32_t waiters) {
  add(&times->wait, ticks, 1);
  relock_count_own(&times->waiters, waiters);
  if (waiters > times->waiters_max)
    relock_store_relaxed(&times->waiters_max, (uint64_t)waiters);
}

static struct relock_site *add_acquisition(struct relock_class_times *times,
                                           const struct relock_acquisition *acquisition,
                                           uint64_t wait) {
  struct relock_site *site = site_of(times, acquisition);
  if (acquisition->asked)
    add_wait(times, wait, acquisition->waiters);
  if (!site)
    return NULL;
  relock_count_own(&site->acquisitions, 1);
  if (acquisition->asked) {
    relock_count_own(&site->contended, 1);
    relock_count_own(&site->wait, wait);
  }
  return site;
}

/* Clocks of two processors may differ. */
static uint64_t between(uint64_t start, uint64_t end) { return end > start ? end - start : 0; }

/* --- what the recorder is told --------------------------------------------------------------- */

/* The numbers of classes by index; that of the calibration while it lasts. */
static uint32_t recorded_as[RELOCK_MAX_CLASSES];

uint32_t relock_times_recorded_as(uint32_t index) {
  const uint32_t number = relock_load_relaxed(&recorded_as[index]);
  return number == UINT32_MAX ? 0 : number;
}

/* Of a class that is used. 0: it is not recorded. */
static uint32_t number_of(uint32_t index) {
  uint32_t number = relock_load_relaxed(&recorded_as[index]);
  if (RELOCK_UNLIKELY(!number)) {
    number = relock_recorder->lock_class(&recorded_as[index], false);
    relock_store_relaxed(&recorded_as[index], number);
  }
  return number == UINT32_MAX ? 0 : number;
}

static bool recorder_takes(const struct relock_times *times, const relock_mutex_t *mutex,
                           uint32_t index, struct relock_timed timed, int how) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->takes(number, mutex, timed, times->timing.each, how);
  return number;
}

static struct relock_timed recorder_gives(struct held *held, uint64_t now) {
  struct relock_timed timed = {0, 0};
  if (held->recorded)
    timed = relock_recorder->gives(held->recorded, now);
  held->recorded = NULL;
  return timed;
}

static void recorder_waited(uint32_t index, uint64_t start, uint64_t ticks, uint32_t waiters) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->waited(number, start, ticks, waiters);
}

static void recorder_held(uint32_t index, uint64_t ticks, uint32_t weight) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->held(number, ticks, weight);
}

static void recorder_traced_took(const struct relock_acquisition *acquisition, uint64_t wait) {
  if (RELOCK_UNLIKELY(acquisition->traced.site != NULL))
    relock_recorder->traced_took(&acquisition->traced, acquisition->asked != 0, wait);
}

static void recorder_traced_held(const struct relock_traced *traced, uint64_t ticks) {
  if (RELOCK_UNLIKELY(traced->site != NULL))
    relock_recorder->traced_held(traced, ticks);
}

/* --- sections -------------------------------------------------------------------------------- */

static bool in_section(const struct relock_times *times) {
  return times->held_count || times->executing;
}

/* Before what it is of is counted among those that are held. */
static void section_begins(struct relock_times *times, struct relock_timed timed) {
  if (in_section(times))
    return;
  relock_count_own(&times->sections.count, 1);
  if (!timed.weight)
    return;
  relock_store_relaxed(&times->section_weight, timed.weight);
  relock_store_relaxed(&times->section_start, timed.start);
}

static void section_ends(struct relock_times *times, uint64_t now) {
  relock_count_own(&times->sections.ticks,
                   times->section_weight * between(times->section_start, now));
  relock_store_relaxed(&times->section_start, 0);
}

/* now: 0 if the clock was not read. */
static void section_may_end(struct relock_times *times, uint64_t now) {
  if (RELOCK_UNLIKELY(times->section_start != 0) && !in_section(times))
    section_ends(times, now ? now : relock_ticks());
}

/* From then on it is timed for itself alone. */
static void section_lasts(struct relock_times *times, uint64_t since) {
  if (times->section_start && times->section_weight != 1)
    section_ends(times, since);
  relock_store_relaxed(&times->section_weight, 1u);
  if (!times->section_start)
    relock_store_relaxed(&times->section_start, since);
}

/* The thread waits since then, for what the clock is read anyway, and can take long: its section,
 * and what it holds, are timed for themselves alone. */
static void holds_last(struct relock_times *times, uint64_t since) {
  if (!in_section(times))
    return;
  section_lasts(times, since);
  for (uint32_t i = 0; i < times->held_count; i++) {
    struct relock_timed *timed = &times->held[i].timed;
    relock_store_relaxed(&timed->weight, 1u);
    if (!timed->start)
      relock_store_relaxed(&timed->start, since);
  }
}

/* Takes those off the end of the list that are held no more, some since another thread released
 * them. */
static void forget_released(struct relock_times *times) {
  uint64_t released = 0;
  while (times->held_count) {
    struct held *last = &times->held[times->held_count - 1];
    /* Acquire: pairs with the release in release_for(). */
    if (relock_load_acquire(&last->mutex))
      return;
    released = last->released > released ? last->released : released;
    recorder_gives(last, last->released);
    times->held_count--;
  }
  section_may_end(times, released);
}

/* --- those who wait --------------------------------------------------------------------------- */

/* By the mutex's address: a mutex has no room for that. Two that are waited for at the same time
 * seldom share a place. */
enum { WAITED_FOR = 1 << 14 };
static uint32_t waiting[WAITED_FOR];

static uint32_t *waiting_for(const relock_mutex_t *mutex) {
  const uint64_t address = (uintptr_t)mutex;
  return &waiting[(address >> 3) * 0x9e3779b97f4a7c15ull >> 32 & (WAITED_FOR - 1)];
}

uint32_t relock_times_wait_begins(const relock_mutex_t *mutex) {
  return relock_add_relaxed(waiting_for(mutex), 1);
}

void relock_times_wait_ends(const relock_mutex_t *mutex) {
  relock_add_relaxed(waiting_for(mutex), (uint32_t)-1);
}

/* --- where calls come from -------------------------------------------------------------------- */

/* Where a section runs, the stack shows who runs it, and not who passed it on. */
static bool runs_section(const struct relock_thread *self, const struct relock_times *times) {
  const uintptr_t here = relock_frame();
  if (here - self->stack_end >= self->stack || self->rcl_serves || times->executing)
    return true;
  for (uint32_t i = 0; i < times->held_count; i++) {
    const relock_mutex_t *mutex = relock_load_relaxed(&times->held[i].mutex);
    if (mutex && relock_load_relaxed(&mutex->relock_private.executing))
      return true;
  }
  return false;
}

/* Returns how many calls on it is to be told again. */
static __attribute__((noinline)) uint32_t tell_call(const struct relock_thread *self,
                                                    const relock_class_t *lock_class,
                                                    struct relock_acquisition *acquisition,
                                                    bool waits) {
  enum { LATER = 1000 };
  if (!relock_recorder)
    return UINT32_MAX;
  const uint32_t number = number_of(lock_class->relock_index);
  const struct relock_call_place place = {acquisition->section, acquisition->caller,
                                          !runs_section(self, self->times), waits};
  return number ? relock_recorder->trace(number, &place, &acquisition->traced) : LATER;
}

void relock_times_trace(struct relock_thread *self, const relock_class_t *lock_class,
                        struct relock_acquisition *acquisition) {
  struct relock_times *times = times_of(self);
  if (!times)
    return;
  self->traces = false;
  times->calls = tell_call(self, lock_class, acquisition, false);
}

/* A call is over, or has its mutex. */
static inline void count_call(struct relock_thread *self, struct relock_times *times) {
  if (RELOCK_UNLIKELY(--times->calls == 0))
    self->traces = true;
}

void relock_times_trace_wait(struct relock_thread *self, const relock_class_t *lock_class,
                             struct relock_acquisition *acquisition) {
  struct relock_times *times = times_of(self);
  if (times && RELOCK_UNLIKELY(--times->waiting_calls == 0))
    times->waiting_calls = tell_call(self, lock_class, acquisition, true);
}

/* --- where a mutex comes from ---------------------------------------------------------------- */

enum { UNKNOWN_THREAD = 0x7fffffff };

static uintptr_t mark_of(uint32_t thread, uint32_t processor) {
  return (uintptr_t)processor << 32 | (uintptr_t)thread << 1 | 1;
}
static bool is_mark(uintptr_t owner) { return owner & 1; }
static uint32_t thread_of(uintptr_t mark) { return (uint32_t)mark >> 1; }
static uint32_t processor_of(uintptr_t mark) { return (uint32_t)(mark >> 32); }

struct relock_arrival relock_times_arrive(const struct relock_thread *self, uintptr_t owner) {
  const uintptr_t here = relock_frame();
  if (!self || RELOCK_UNLIKELY(here - self->stack_end >= self->stack))
    self = relock_thread_on_stack(here); /* a section runs for another thread */
  const uint32_t *known =
      self ? relock_processor_known(relock_load_relaxed(&self->thread_pointer)) : NULL;
  const uint32_t number = self ? self->number : UNKNOWN_THREAD;
  const uint32_t processor = relock_processor_here(known);
  struct relock_arrival arrival = {mark_of(number, processor), RELOCK_SAME_THREAD};
  if (number == UNKNOWN_THREAD || (is_mark(owner) && thread_of(owner) == UNKNOWN_THREAD))
    arrival.distance = RELOCK_UNKNOWN_DISTANCE;
  else if (is_mark(owner) && thread_of(owner) != number)
    arrival.distance = relock_processor_distance(processor_of(owner), processor);
  return arrival;
}

/* --- which holds are timed ------------------------------------------------------------------- */

/* Of one for which nobody had to wait. One that is timed for its call alone has no weight. */
static inline struct relock_timed choose(struct relock_times *times,
                                         struct relock_class_times *of_class,
                                         const struct relock_traced *traced) {
  struct relock_timing *timing = &times->timing;
  const bool due = --timing->due.countdown == 0;
  struct relock_timed timed = {0, 0};
  if (RELOCK_LIKELY(!due && !of_class->sure && !traced->weight))
    return timed;
  timed = (struct relock_timed){relock_ticks(), 0};
  if (due) {
    timed.weight = times->weight;
    times->weight = (uint32_t)timing->due.period;
    timing->due.countdown = relock_random_gap(&timing->due.random, timing->due.period);
    timing->last = timed.start;
    timing->block_count++;
    times->chose = true;
  }
  if (of_class->sure) {
    of_class->sure--;
    timed.weight = 1;
  }
  return timed;
}

/* When the mutex is released; in another section only if that does not end. */
static void adapt(struct relock_times *times) {
  enum { LATEST = 2048 };
  if (RELOCK_LIKELY(!times->chose) || (in_section(times) && times->timing.block_count < LATEST))
    return;
  times->chose = false;
  relock_timing_adapt(&times->timing, millisecond,
                      relock_recorder ? relock_recorder->processor_time : NULL);
}

/* A hold is over. */
static void add_hold(struct relock_class_times *times, uint32_t index,
                     const struct relock_hold *hold) {
  relock_count_own(&times->came_from[hold->distance], 1);
  if (RELOCK_LIKELY(!hold->weight && !hold->traced.site))
    return;
  recorder_traced_held(&hold->traced, hold->ticks);
  if (!hold->weight)
    return;
  const uint64_t own = bias / 1024, ticks = hold->ticks > own ? hold->ticks - own : 0;
  add(&times->hold, ticks, hold->weight);
  if (hold->site)
    relock_count_own(&hold->site->hold, hold->weight * ticks);
  if (ticks * RELOCK_LONG_PER_MILLISECOND >= millisecond)
    times->sure = times->sure > RELOCK_TIMED_AFTER_LONG ? times->sure : RELOCK_TIMED_AFTER_LONG;
  recorder_held(index, ticks, hold->weight);
}

/* --- holders --------------------------------------------------------------------------------- */

static struct held *free_entry(struct relock_times *times) {
  if (times->held_count < HELD_MAX)
    return &times->held[times->held_count++];
  for (int i = 0; i < HELD_MAX; i++)
    /* Acquire: pairs with the release in release_for(). */
    if (!relock_load_acquire(&times->held[i].mutex)) {
      recorder_gives(&times->held[i], times->held[i].released);
      return &times->held[i];
    }
  return NULL;
}

uintptr_t relock_times_acquired(struct relock_thread *self, relock_mutex_t *mutex,
                                const relock_class_t *lock_class,
                                const struct relock_acquisition *acquisition) {
  struct relock_times *times = times_of(self);
  uint32_t index = lock_class->relock_index;
  struct relock_class_times *of_class = times ? class_times(times, index) : NULL;
  const struct relock_arrival arrival =
      relock_times_arrive(self, relock_load_relaxed(&mutex->relock_private.owner));
  if (!of_class)
    return arrival.mark;
  count_call(self, times);
  forget_released(times);
  struct relock_timed timed = choose(times, of_class, &acquisition->traced);
  struct relock_timed section = timed.weight ? timed : (struct relock_timed){0, 0};
  const uint64_t asked = acquisition->asked;
  uint64_t wait = 0;
  if (RELOCK_UNLIKELY(asked != 0)) {
    timed = (struct relock_timed){relock_ticks(), 1};
    section = (struct relock_timed){asked, 1};
    wait = between(asked, timed.start);
    holds_last(times, asked);
    recorder_waited(index, asked, wait, acquisition->waiters);
  }
  struct relock_site *site = add_acquisition(of_class, acquisition, wait);
  recorder_traced_took(acquisition, wait);
  section_begins(times, section);
  struct held *held = free_entry(times);
  if (!held) {
    drop();
    return arrival.mark;
  }
  const int how = (acquisition->tried ? RELOCK_TAKE_TRIED : 0) | (asked ? RELOCK_TAKE_WAITED : 0);
  if (recorder_takes(times, mutex, index, section, how))
    held->recorded = mutex;
  held->timed.start = timed.start;
  held->timed.weight = timed.weight;
  held->released = 0;
  held->index = index;
  held->distance = arrival.distance;
  held->site = site;
  held->traced.site = acquisition->traced.site;
  if (RELOCK_UNLIKELY(held->traced.site != NULL))
    held->traced = acquisition->traced;
  relock_store_relaxed(&held->mutex, mutex);
  return arrival.mark;
}

void relock_times_gave_up(struct relock_thread *self, const relock_class_t *lock_class,
                          uint64_t asked, uint32_t waiters) {
  struct relock_times *times = times_of(self);
  struct relock_class_times *of_class = times ? class_times(times, lock_class->relock_index) : NULL;
  if (!of_class)
    return;
  const uint64_t wait = between(asked, relock_ticks());
  add_wait(of_class, wait, waiters);
  holds_last(times, asked);
  relock_count_own(&of_class->timeouts, 1);
  recorder_waited(lock_class->relock_index, asked, wait, waiters);
}

void relock_times_try_failed(struct relock_thread *self, const relock_class_t *lock_class) {
  struct relock_times *times = times_of(self);
  struct relock_class_times *of_class = times ? class_times(times, lock_class->relock_index) : NULL;
  if (of_class)
    relock_count_own(&of_class->trylock_failures, 1);
}

void relock_times_reentered(struct relock_thread *self, const relock_class_t *lock_class) {
  struct relock_times *times = times_of(self);
  struct relock_class_times *of_class = times ? class_times(times, lock_class->relock_index) : NULL;
  if (of_class)
    relock_count_own(&of_class->reentries, 1);
}

static struct held *find(struct relock_times *times, const relock_mutex_t *mutex) {
  for (uint32_t i = times->held_count; i > 0; i--)
    if (relock_load_relaxed(&times->held[i - 1].mutex) == mutex)
      return &times->held[i - 1];
  return NULL;
}

/* Another thread acquired the mutex, which is released by this one. */
static struct relock_hold release_for(struct relock_times *times, relock_mutex_t *mutex) {
  const uint64_t now = relock_ticks();
  uintptr_t owner = relock_load_relaxed(&mutex->relock_private.owner);
  struct relock_times *holder = NULL;
  if (is_mark(owner) && thread_of(owner) != UNKNOWN_THREAD)
    holder = relock_thread_numbered(thread_of(owner))->times;
  for (int i = 0; holder && i < HELD_MAX; i++) {
    struct held *held = &holder->held[i];
    if (relock_load_relaxed(&held->mutex) != mutex)
      continue;
    /* Its holder may be about to wait: see holds_last(), which sets the weight first. */
    const uint64_t start = relock_load_relaxed(&held->timed.start);
    const uint32_t weight = start ? relock_load_relaxed(&held->timed.weight) : 0;
    struct relock_hold hold = {.ticks = start ? between(start, now) : 0,
                               .weight = weight,
                               .distance = held->distance,
                               .index = held->index + 1};
    held->released = now;
    /* Release: pairs with the acquires in forget_released() and free_entry(). */
    relock_store_release(&held->mutex, NULL);
    relock_count_own(&times->sections.foreign_releases, 1);
    return hold;
  }
  return (struct relock_hold){0};
}

/* By its own thread. */
static struct relock_hold release(struct relock_times *times, struct held *held) {
  /* One wide load would have to wait for the two stores. */
  struct relock_timed timed = {relock_load_relaxed(&held->timed.start),
                               relock_load_relaxed(&held->timed.weight)};
  uint64_t now = timed.start ? relock_ticks() : 0;
  const struct relock_timed recorded = recorder_gives(held, now);
  if (RELOCK_UNLIKELY(recorded.weight == 1 && timed.weight != 1)) {
    timed = recorded;
    now = now ? now : relock_ticks();
    if (times->section_weight != 1 || !times->section_start)
      section_lasts(times, timed.start);
  }
  const struct relock_hold hold = {between(timed.start, now), timed.weight, held->distance,
                                   held->index + 1,           held->site,   held->traced};
  held->released = now;
  relock_store_relaxed(&held->mutex, NULL);
  forget_released(times);
  return hold;
}

struct relock_hold relock_times_release(struct relock_thread *self, relock_mutex_t *mutex) {
  struct relock_times *times = times_of(self);
  if (!times)
    return (struct relock_hold){0};
  struct held *held = find(times, mutex);
  return held ? release(times, held) : release_for(times, mutex);
}

void relock_times_released(struct relock_thread *self, const struct relock_hold *hold) {
  struct relock_times *times = hold->index ? times_of(self) : NULL;
  struct relock_class_times *of_class = times ? class_times(times, hold->index - 1) : NULL;
  if (!of_class)
    return;
  add_hold(of_class, hold->index - 1, hold);
  adapt(times);
}

/* --- executed sections ----------------------------------------------------------------------- */

void relock_times_execute(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                          bool waits, uint64_t now) {
  struct relock_times *times = times_of(self);
  const struct relock_timed timed = {now, 1};
  if (!times)
    return;
  forget_released(times);
  if (waits)
    holds_last(times, now);
  section_begins(times, timed);
  times->executing++;
  recorder_takes(times, mutex, index, timed, waits ? RELOCK_TAKE_WAITED : 0);
}

void relock_times_executed(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                           const struct relock_acquisition *acquisition, uint64_t wait,
                           uint64_t hold, enum relock_distance distance, uint64_t now) {
  struct relock_times *times = times_of(self);
  if (!times)
    return;
  times->executing--;
  count_call(self, times);
  section_may_end(times, now);
  if (relock_recorder)
    relock_recorder->gives(mutex, now);
  struct relock_class_times *of_class = class_times(times, index);
  if (!of_class)
    return;
  struct relock_site *site = add_acquisition(of_class, acquisition, wait);
  recorder_traced_took(acquisition, wait);
  if (acquisition->asked)
    recorder_waited(index, acquisition->asked, wait, acquisition->waiters);
  add_hold(of_class, index,
           &(struct relock_hold){hold, 1, distance, index + 1, site, acquisition->traced});
}

struct relock_timed_submission *relock_times_submission(struct relock_thread *self) {
  struct relock_times *times = times_of(self);
  return times ? &times->submission : NULL;
}

/* --- waits on condition variables ------------------------------------------------------------ */

uint64_t relock_times_slept(void) {
  const struct relock_thread *self = relock_own_record;
  return self && self->times ? self->times->slept : 0;
}

void relock_times_sleep(struct relock_thread *self, const relock_class_t *lock_class) {
  struct relock_times *times = times_of(self);
  if (!times)
    return;
  const uint64_t now = relock_ticks();
  holds_last(times, now);
  relock_store_relaxed(&times->sleep_index, lock_class->relock_index);
  relock_store_relaxed(&times->sleep_start, now);
}

void relock_times_wake(struct relock_thread *self) {
  struct relock_times *times = self ? self->times : NULL;
  if (!times || !times->sleep_start)
    return;
  uint64_t ticks = between(times->sleep_start, relock_ticks());
  relock_store_relaxed(&times->sleep_start, 0);
  times->slept += ticks;
  struct relock_class_times *of_class = class_times(times, times->sleep_index);
  if (of_class)
    add(&of_class->idle, ticks, 1);
}

/* --- adding up ------------------------------------------------------------------------------- */

static void add_distribution(struct relock_distribution *sum,
                             const struct relock_distribution *part) {
  sum->count += relock_load_relaxed(&part->count);
  sum->total += relock_load_relaxed(&part->total);
  sum->values += relock_load_relaxed(&part->values);
  const struct relock_chance chance = chance_of(part);
  sum->chance.weights += chance.weights;
  sum->chance.values += chance.values;
  sum->chance.squares += chance.squares;
  uint64_t max = relock_load_relaxed(&part->max);
  sum->max = max > sum->max ? max : sum->max;
  for (int i = 0; i < RELOCK_BUCKETS; i++)
    sum->buckets[i] += relock_load_relaxed(&part->buckets[i]);
}

static struct relock_site *same_site(struct relock_times_sum *sum, uintptr_t section,
                                     uintptr_t caller) {
  for (uint32_t i = 0; i < sum->site_count; i++)
    if (sum->sites[i].section == section && sum->sites[i].caller == caller)
      return &sum->sites[i];
  if (sum->site_count == sizeof sum->sites / sizeof *sum->sites)
    return NULL;
  struct relock_site *site = &sum->sites[sum->site_count++];
  site->section = section;
  site->caller = caller;
  return site;
}

static void add_sites(struct relock_times_sum *sum, const struct relock_class_times *part) {
  for (int i = 0; i < RELOCK_SITES; i++) {
    const struct relock_site *site = &part->sites[i];
    /* Acquire: pairs with the release in site_of(). */
    uintptr_t caller = relock_load_acquire(&site->caller);
    if (!caller)
      return;
    struct relock_site *same = same_site(sum, relock_load_relaxed(&site->section), caller);
    if (!same) {
      sum->sites_omitted++;
      continue;
    }
    same->acquisitions += relock_load_relaxed(&site->acquisitions);
    same->contended += relock_load_relaxed(&site->contended);
    same->wait += relock_load_relaxed(&site->wait);
    same->hold += relock_load_relaxed(&site->hold);
  }
}

static struct relock_times *times_numbered(uint32_t number) {
  /* Acquire: pairs with the release in times_of(). */
  return relock_load_acquire(&relock_thread_numbered(number)->times);
}

void relock_times_add_up(uint32_t index, struct relock_times_sum *sum) {
  uint64_t now = relock_ticks();
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    struct relock_times *times = times_numbered(i);
    /* Acquire: pairs with the release in class_times(). */
    struct relock_class_times *part = times ? relock_load_acquire(&times->classes[index]) : NULL;
    uint64_t since = times ? relock_load_relaxed(&times->sleep_start) : 0;
    if (since && relock_load_relaxed(&times->sleep_index) == index) {
      sum->waiting++;
      sum->all.idle.total += between(since, now);
    }
    if (!part)
      continue;
    add_distribution(&sum->all.wait, &part->wait);
    add_distribution(&sum->all.hold, &part->hold);
    add_distribution(&sum->all.idle, &part->idle);
    for (int d = 0; d < RELOCK_DISTANCES; d++)
      sum->all.came_from[d] += relock_load_relaxed(&part->came_from[d]);
    sum->all.waiters += relock_load_relaxed(&part->waiters);
    const uint64_t most = relock_load_relaxed(&part->waiters_max);
    sum->all.waiters_max = most > sum->all.waiters_max ? most : sum->all.waiters_max;
    sum->all.trylock_failures += relock_load_relaxed(&part->trylock_failures);
    sum->all.timeouts += relock_load_relaxed(&part->timeouts);
    sum->all.reentries += relock_load_relaxed(&part->reentries);
    add_sites(sum, part);
  }
}

uint64_t relock_times_waited(uint32_t index) {
  uint64_t sum = 0;
  uint32_t end = relock_load_relaxed(&relock_stats_timed) ? relock_threads_end() : 0;
  for (uint32_t i = 0; i < end; i++) {
    struct relock_times *times = times_numbered(i);
    /* Acquire: pairs with the release in class_times(). */
    struct relock_class_times *part = times ? relock_load_acquire(&times->classes[index]) : NULL;
    sum += part ? relock_load_relaxed(&part->wait.total) : 0;
  }
  return sum;
}

void relock_times_add_up_sections(struct relock_section_times *sum) {
  uint64_t now = relock_ticks();
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    const struct relock_times *times = times_numbered(i);
    if (!times)
      continue;
    sum->ticks += relock_load_relaxed(&times->sections.ticks);
    sum->count += relock_load_relaxed(&times->sections.count);
    sum->foreign_releases += relock_load_relaxed(&times->sections.foreign_releases);
    uint64_t since = relock_load_relaxed(&times->section_start);
    if (since)
      sum->ticks += relock_load_relaxed(&times->section_weight) * between(since, now);
  }
}

/* --- start, threads, fork -------------------------------------------------------------------- */

static void forget_thread(struct relock_times *times) {
  times->held_count = times->executing = 0;
  memset(times->held, 0, sizeof times->held);
  relock_store_relaxed(&times->section_start, 0);
  relock_store_relaxed(&times->sleep_start, 0);
}

void relock_times_thread_starts(struct relock_thread *record) {
  record->traces = true;
  if (!record->times)
    return;
  forget_thread(record->times);
  record->times->timing.block_processor = 0; /* was another thread's */
}

static void restart(struct relock_times *times, bool survives, uint64_t now) {
  for (int i = 0; i < RELOCK_MAX_CLASSES; i++)
    if (times->classes[i]) {
      memset(times->classes[i], 0, sizeof *times->classes[i]);
      times->classes[i]->sure = RELOCK_FIRST_TIMED;
    }
  if (!survives)
    forget_thread(times);
  times->sections = (struct relock_section_times){.count = in_section(times)};
  for (uint32_t i = 0; i < times->held_count; i++) {
    times->held[i].timed = (struct relock_timed){now, 1};
    times->held[i].site = NULL;
    times->held[i].traced.site = NULL;
  }
  if (in_section(times)) {
    times->section_start = now;
    times->section_weight = 1;
  }
}

void relock_times_after_fork(void) {
  uint64_t now = relock_load_relaxed(&relock_stats_timed) ? relock_ticks() : 0;
  relock_store_relaxed(&dropped, 0);
  for (int i = 0; i < WAITED_FOR && now; i++)
    relock_store_relaxed(&waiting[i], 0);
  for (uint32_t i = 0; now && i < relock_threads_end(); i++) {
    struct relock_thread *record = relock_thread_numbered(i);
    if (record->times)
      restart(record->times, record == relock_own_record, now);
  }
}

/* Holds of nobody, timed or not. The shortest of several rounds is the one that nothing disturbed.
 * Returns what a hold takes with all that is recorded of it; *length: what it is long itself. */
static uint64_t time_holds(bool timed, uint64_t *length) {
  enum { ROUNDS = 20, HOLDS = 100 };
  static struct relock_class_times of_class;
  static struct relock_times times = {.classes = {&of_class}};
  static struct relock_thread nobody = {.times = &times, .stack = SIZE_MAX};
  static relock_class_t lock_class;
  static relock_mutex_t mutex;
  const struct relock_acquisition acquisition = {.section = 1, .caller = 1};
  nobody.thread_pointer = relock_thread_pointer();
  uint64_t shortest = UINT64_MAX, least = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t held = 0, start = relock_ticks();
    for (int i = 0; i < HOLDS; i++) {
      times.timing.due = (struct relock_gap){timed ? 1 : UINT64_MAX, 1, 1};
      times.weight = 1;
      of_class.sure = 0;
      mutex.relock_private.owner =
          relock_times_acquired(&nobody, &mutex, &lock_class, &acquisition);
      const struct relock_hold hold = relock_times_release(&nobody, &mutex);
      relock_times_released(&nobody, &hold);
      held += hold.ticks;
    }
    uint64_t took = relock_ticks() - start;
    shortest = took < shortest ? took : shortest;
    least = held < least ? held : least;
  }
  *length = least * 1024 / HOLDS;
  return shortest * 1024 / HOLDS;
}

static void calibrate(void) {
  static const char own_class;
  uint64_t length, none;
  if (relock_recorder) {
    relock_recorder->measures(true);
    recorded_as[0] = relock_recorder->lock_class(&own_class, true);
  }
  untimed_cost = time_holds(false, &none);
  cost = time_holds(true, &length);
  if (relock_recorder) {
    recorded_as[0] = 0;
    relock_recorder->measures(false);
  }
  bias = length;
}

/* Reads the environment. */
static void start_choosing(void) {
  /* By `relock profile --time-all`, for the profiler as well: profiler/layout.h. */
  const bool all = secure_getenv("RELOCK_PROFILE_TIME_ALL") != NULL;
  millisecond = all ? 0 : relock_ticks_per_millisecond();
}

void relock_times_start(void) {
  if (relock_load_relaxed(&relock_stats_timed))
    return;
  for (uint64_t size = POOL; !pool && size >= LEAST_POOL; size /= 4) {
    pool = relock_os->reserve(size);
    pool_size = pool ? size : 0;
  }
  calibrate();
  start_choosing();
  start_ns = relock_os->now_ns();
  start_ticks = relock_ticks();
  relock_store_relaxed(&relock_stats_timed, 1);
}
