/* SPDX-License-Identifier: MIT
 *
 * Invariants
 *  - What a thread holds stands in its own list. An entry is written by that thread, but for
 * `mutex` and `start`, which another thread sets when it releases the mutex in its place: to null,
 * and to when that was. Entries do not move, so that it finds them.
 *  - The owner of a timed mutex is a mark unless it is a thread pointer, and then odd. A normal one
 *    that is held has its holder's mark, one that is free that of the thread that had it last.
 */
#include "times.h"

#include "os.h"
#include "recorder.h"
#include "stats.h"
#include "thread.h"

#include <stddef.h>
#include <string.h>

enum {
  HELD_MAX = 24,
  POOL = 64 << 20, /* some 10,000 pairs of a thread and a class */
  LEAST_POOL = 1 << 20,
};

struct held {
  relock_mutex_t *mutex; /* null: released */
  uint64_t start;
  uint32_t index;
  enum relock_distance distance;
  struct relock_site *site;
  const relock_mutex_t *recorded; /* the recorder takes it for held; or null */
};

struct relock_times {
  uint32_t held_count;    /* of the list's entries in use */
  uint32_t executing;     /* calls of relock_execute */
  uint64_t section_start; /* 0: in none */
  struct relock_section_times sections;
  uint64_t sleep_start; /* 0: sleeps on no condition variable */
  uint32_t sleep_index;
  uint64_t slept;
  struct held held[HELD_MAX];
  struct relock_submission submission;
  struct relock_class_times *classes[RELOCK_MAX_CLASSES];
};

static char *pool;
static uint64_t pool_size, pool_used, dropped;
static uint64_t cost, bias;
static uint64_t start_ticks, start_ns;

uint64_t relock_times_cost(void) { return cost; }
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
  if (at + size <= pool_size)
    return pool + at;
  drop();
  return NULL;
}

static struct relock_times *times_of(struct relock_thread *self) {
  if (!self) {
    drop();
    return NULL;
  }
  if (!self->times)
    /* Release: pairs with the acquire in relock_times_add_up(). */
    relock_store_release(&self->times, (struct relock_times *)allocate(sizeof *self->times));
  return self->times;
}

static struct relock_class_times *class_times(struct relock_times *times, uint32_t index) {
  struct relock_class_times **slot = &times->classes[index];
  if (!*slot)
    /* Release: pairs with the acquire in relock_times_add_up(). */
    relock_store_release(slot, (struct relock_class_times *)allocate(sizeof **slot));
  return *slot;
}

/* --- adding ---------------------------------------------------------------------------------- */

static void add(struct relock_distribution *distribution, uint64_t ticks) {
  relock_count_own(&distribution->count, 1);
  relock_count_own(&distribution->total, ticks);
  relock_count_own(&distribution->buckets[relock_bucket(ticks)], 1);
  if (ticks > distribution->max)
    relock_store_relaxed(&distribution->max, ticks);
}

/* Returns what counts of it. */
static uint64_t add_hold(struct relock_class_times *times, struct relock_site *site,
                         enum relock_distance distance, uint64_t ticks) {
  relock_count_own(&times->came_from[distance], 1);
  ticks -= ticks < bias / 1024 ? ticks : bias / 1024;
  add(&times->hold, ticks);
  if (site)
    relock_count_own(&site->hold, ticks);
  return ticks;
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
  add(&times->wait, ticks);
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

static bool recorder_takes(const relock_mutex_t *mutex, uint32_t index, uint64_t since, int how) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->takes(number, mutex, since, how);
  return number;
}

static void recorder_gives(struct held *held, uint64_t now) {
  if (held->recorded)
    relock_recorder->gives(held->recorded, now);
  held->recorded = NULL;
}

static void recorder_waited(uint32_t index, uint64_t start, uint64_t ticks, uint32_t waiters) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->waited(number, start, ticks, waiters);
}

static void recorder_held(uint32_t index, uint64_t ticks) {
  const uint32_t number = relock_recorder ? number_of(index) : 0;
  if (number)
    relock_recorder->held(number, ticks);
}

/* --- sections -------------------------------------------------------------------------------- */

static void section_begins(struct relock_times *times, uint64_t now) {
  if (!times->section_start)
    relock_store_relaxed(&times->section_start, now);
}

static void section_may_end(struct relock_times *times, uint64_t now) {
  if (times->held_count || times->executing || !times->section_start)
    return;
  relock_count_own(&times->sections.ticks, between(times->section_start, now));
  relock_count_own(&times->sections.count, 1);
  relock_store_relaxed(&times->section_start, 0);
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
    released = last->start > released ? last->start : released;
    recorder_gives(last, last->start);
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

/* --- where a mutex comes from ---------------------------------------------------------------- */

enum { UNKNOWN_THREAD = 0x7fffffff };

static uintptr_t mark_of(uint32_t thread, uint32_t processor) {
  return (uintptr_t)processor << 32 | (uintptr_t)thread << 1 | 1;
}
static bool is_mark(uintptr_t owner) { return owner & 1; }
static uint32_t thread_of(uintptr_t mark) { return (uint32_t)mark >> 1; }
static uint32_t processor_of(uintptr_t mark) { return (uint32_t)(mark >> 32); }

struct relock_arrival relock_times_arrive(const struct relock_thread *self, uintptr_t owner) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
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

/* --- holders --------------------------------------------------------------------------------- */

static struct held *free_entry(struct relock_times *times) {
  if (times->held_count < HELD_MAX)
    return &times->held[times->held_count++];
  for (int i = 0; i < HELD_MAX; i++)
    /* Acquire: pairs with the release in release_for(). */
    if (!relock_load_acquire(&times->held[i].mutex)) {
      recorder_gives(&times->held[i], times->held[i].start);
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
  forget_released(times);
  uint64_t now = relock_ticks(), asked = acquisition->asked;
  const uint64_t wait = between(asked, now);
  struct relock_site *site = add_acquisition(of_class, acquisition, wait);
  section_begins(times, asked ? asked : now);
  if (asked)
    recorder_waited(index, asked, wait, acquisition->waiters);
  struct held *held = free_entry(times);
  if (!held) {
    drop();
    return arrival.mark;
  }
  const int how = (acquisition->tried ? RELOCK_TAKE_TRIED : 0) | (asked ? RELOCK_TAKE_WAITED : 0);
  if (recorder_takes(mutex, index, asked ? asked : now, how))
    held->recorded = mutex;
  held->start = now;
  held->index = index;
  held->distance = arrival.distance;
  held->site = site;
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
static struct relock_hold release_for(struct relock_times *times, relock_mutex_t *mutex,
                                      uint64_t now) {
  uintptr_t owner = relock_load_relaxed(&mutex->relock_private.owner);
  struct relock_times *holder = NULL;
  if (is_mark(owner) && thread_of(owner) != UNKNOWN_THREAD)
    holder = relock_thread_numbered(thread_of(owner))->times;
  for (int i = 0; holder && i < HELD_MAX; i++) {
    struct held *held = &holder->held[i];
    if (relock_load_relaxed(&held->mutex) != mutex)
      continue;
    struct relock_hold hold = {between(held->start, now), held->distance, held->index + 1, NULL};
    held->start = now;
    /* Release: pairs with the acquires in forget_released() and free_entry(). */
    relock_store_release(&held->mutex, NULL);
    relock_count_own(&times->sections.foreign_releases, 1);
    return hold;
  }
  return (struct relock_hold){0};
}

struct relock_hold relock_times_release(struct relock_thread *self, relock_mutex_t *mutex) {
  uint64_t now = relock_ticks();
  struct relock_times *times = times_of(self);
  struct relock_hold hold = {0};
  if (!times)
    return hold;
  struct held *held = find(times, mutex);
  if (held) {
    hold = (struct relock_hold){between(held->start, now), held->distance, held->index + 1,
                                held->site};
    held->start = now;
    recorder_gives(held, now);
    relock_store_relaxed(&held->mutex, NULL);
    forget_released(times);
  } else {
    hold = release_for(times, mutex, now);
  }
  return hold;
}

void relock_times_released(struct relock_thread *self, const struct relock_hold *hold) {
  struct relock_times *times = hold->index ? times_of(self) : NULL;
  struct relock_class_times *of_class = times ? class_times(times, hold->index - 1) : NULL;
  if (of_class)
    recorder_held(hold->index - 1, add_hold(of_class, hold->site, hold->distance, hold->ticks));
}

/* --- executed sections ----------------------------------------------------------------------- */

void relock_times_execute(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                          bool has_mutex, uint64_t now) {
  struct relock_times *times = times_of(self);
  if (!times)
    return;
  forget_released(times);
  section_begins(times, now);
  times->executing++;
  recorder_takes(mutex, index, now, has_mutex ? 0 : RELOCK_TAKE_WAITED);
}

void relock_times_executed(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                           const struct relock_acquisition *acquisition, uint64_t wait,
                           uint64_t hold, enum relock_distance distance, uint64_t now) {
  struct relock_times *times = times_of(self);
  if (!times)
    return;
  times->executing--;
  section_may_end(times, now);
  if (relock_recorder)
    relock_recorder->gives(mutex, now);
  struct relock_class_times *of_class = class_times(times, index);
  if (!of_class)
    return;
  struct relock_site *site = add_acquisition(of_class, acquisition, wait);
  if (acquisition->asked)
    recorder_waited(index, acquisition->asked, wait, acquisition->waiters);
  recorder_held(index, add_hold(of_class, site, distance, hold));
}

struct relock_submission *relock_times_submission(struct relock_thread *self) {
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
  relock_store_relaxed(&times->sleep_index, lock_class->relock_index);
  relock_store_relaxed(&times->sleep_start, relock_ticks());
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
    add(&of_class->idle, ticks);
}

/* --- adding up ------------------------------------------------------------------------------- */

static void add_distribution(struct relock_distribution *sum,
                             const struct relock_distribution *part) {
  sum->count += relock_load_relaxed(&part->count);
  sum->total += relock_load_relaxed(&part->total);
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
      sum->ticks += between(since, now);
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
  if (record->times)
    forget_thread(record->times);
}

static void restart(struct relock_times *times, bool survives, uint64_t now) {
  for (int i = 0; i < RELOCK_MAX_CLASSES; i++)
    if (times->classes[i])
      memset(times->classes[i], 0, sizeof *times->classes[i]);
  times->sections = (struct relock_section_times){0};
  if (!survives)
    forget_thread(times);
  for (uint32_t i = 0; i < times->held_count; i++) {
    times->held[i].start = now;
    times->held[i].site = NULL;
  }
  if (times->section_start)
    times->section_start = now;
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

/* Holds of nobody. The shortest of several rounds is the one that nothing disturbed. */
static void calibrate(void) {
  enum { ROUNDS = 20, HOLDS = 100 };
  static struct relock_class_times of_class;
  static struct relock_times times = {.classes = {&of_class}};
  static struct relock_thread nobody = {.times = &times, .stack = SIZE_MAX};
  static relock_class_t lock_class;
  static relock_mutex_t mutex;
  static const char own_class;
  const struct relock_acquisition acquisition = {0, 1, 1, 0, false};
  nobody.thread_pointer = relock_thread_pointer();
  uint64_t shortest = UINT64_MAX, least = UINT64_MAX;
  if (relock_recorder) {
    relock_recorder->measures(true);
    recorded_as[lock_class.relock_index] = relock_recorder->lock_class(&own_class, true);
  }
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t held = 0, start = relock_ticks();
    for (int i = 0; i < HOLDS; i++) {
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
  if (relock_recorder) {
    recorded_as[lock_class.relock_index] = 0;
    relock_recorder->measures(false);
  }
  cost = shortest * 1024 / HOLDS;
  bias = least * 1024 / HOLDS;
}

void relock_times_start(void) {
  if (relock_load_relaxed(&relock_stats_timed))
    return;
  for (uint64_t size = POOL; !pool && size >= LEAST_POOL; size /= 4) {
    pool = relock_os->reserve(size);
    pool_size = pool ? size : 0;
  }
  calibrate();
  start_ns = relock_os->now_ns();
  start_ticks = relock_ticks();
  relock_store_relaxed(&relock_stats_timed, 1);
}
