/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "events.h"
#include "counter_page.h"
#include "gaps.h"
#include "objects.h"
#include "real.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { PAGE_SIZE = 4096, CALIBRATION = 64, FIRST_DESCRIPTOR = 1024 };

static struct perf_event_attr wanted;
static bool counting, confined;
static uint64_t interval; /* ticks between two counted sections of a thread */
static uint32_t descriptors;
/* 1, and 0 in the child of a fork, even of one that calls no handlers: pages are not inherited. */
static const uint32_t *same_process;

static bool have_page(const struct event_counter *counter) {
  return counter->page && __atomic_load_n(same_process, __ATOMIC_RELAXED);
}

/* A program that closes all descriptors closes this one, too, and gets the number for its own. */
static bool is_open(const struct event_counter *counter) {
  uint64_t id;
  return counter->descriptor >= 0 &&
         real.syscall(SYS_ioctl, counter->descriptor, PERF_EVENT_IOC_ID, &id) == 0 &&
         id == counter->id;
}

/* No function of the C library that could be cancelled. */
static bool read_counter(const struct event_counter *counter, uint64_t *value) {
  int saved = errno;
  bool done;
  if (counter->page)
    return have_page(counter) && counter_page_read(counter->page, read_counter_register, value);
  done = !__atomic_load_n(&confined, __ATOMIC_RELAXED) && is_open(counter) &&
         real.syscall(SYS_read, counter->descriptor, value, sizeof *value) == sizeof *value;
  errno = saved;
  return done;
}

static const struct perf_event_mmap_page *map_page(int descriptor) {
  struct perf_event_mmap_page *page;
  if (!RELOCK_COUNTER_REGISTER || !same_process)
    return NULL;
  page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED)
    return NULL;
  if (page->cap_user_rdpmc)
    return page;
  munmap(page, PAGE_SIZE);
  return NULL;
}

/* Out of the way of the program's descriptors: behind those that it is likely to use, and no more
 * than a quarter of all that it may have. */
static int move_descriptor(int descriptor) {
  struct rlimit limit;
  rlim_t quarter, first;
  int moved = -1;
  errno = EMFILE;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    quarter = limit.rlim_cur / 4;
    first = limit.rlim_cur - quarter < FIRST_DESCRIPTOR ? limit.rlim_cur - quarter
                                                        : (rlim_t)FIRST_DESCRIPTOR;
    if (__atomic_fetch_add(&descriptors, 1, __ATOMIC_RELAXED) < quarter)
      moved = (int)real.syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, (int)first);
    if (moved < 0)
      __atomic_fetch_sub(&descriptors, 1, __ATOMIC_RELAXED);
  }
  return moved;
}

/* With errno set where it fails. */
static bool open_counter(struct event_counter *counter) {
  int descriptor, error = 0;
  if (__atomic_load_n(&confined, __ATOMIC_RELAXED)) {
    errno = EPERM;
    return false;
  }
  descriptor =
      (int)real.syscall(SYS_perf_event_open, &wanted, 0, -1, -1, (long)PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0)
    return false;
  counter->page = map_page(descriptor); /* outlives the descriptor */
  if (!counter->page) {
    counter->descriptor = move_descriptor(descriptor);
    error = counter->descriptor < 0 ? errno : 0;
    if (!error && real.syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, &counter->id))
      error = errno;
  }
  real.syscall(SYS_close, descriptor);
  errno = error;
  return !error;
}

static void reset(struct event_counter *counter) {
  counter->state = EVENT_UNOPENED;
  counter->descriptor = -1;
  counter->page = NULL;
  counter->count = 0;
}

static void close_counter(struct event_counter *counter) {
  int saved = errno;
  const bool free = !__atomic_load_n(&confined, __ATOMIC_RELAXED);
  if (free && have_page(counter))
    munmap((void *)counter->page, PAGE_SIZE);
  if (counter->descriptor >= 0) {
    if (free && is_open(counter))
      real.syscall(SYS_close, counter->descriptor);
    __atomic_fetch_sub(&descriptors, 1, __ATOMIC_RELAXED);
  }
  reset(counter);
  errno = saved;
}

/* The event as `relock profile` encodes it; see RELOCK_RECORDS_EVENT. */
void events_start(uint64_t sampled) {
  const char *text = getenv(RELOCK_RECORDS_EVENT);
  unsigned long long config, config1, config2;
  unsigned type, flags;
  uint32_t *page;
  if (!text ||
      sscanf(text, "%x,%llx,%llx,%llx,%x", &type, &config, &config1, &config2, &flags) != 5)
    return;
  wanted.size = sizeof wanted;
  wanted.type = type;
  wanted.config = config;
  wanted.config1 = config1;
  wanted.config2 = config2;
  wanted.exclude_user = flags & RELOCK_EVENT_NOT_USER ? 1 : 0;
  wanted.exclude_kernel = flags & RELOCK_EVENT_NOT_KERNEL ? 1 : 0;
  wanted.exclude_hv = flags & RELOCK_EVENT_NOT_HYPERVISOR ? 1 : 0;
  interval = sampled / 10;
  page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  if (madvise(page, PAGE_SIZE, MADV_WIPEONFORK) == 0)
    same_process = page;
  *page = 1;
}

/* What two readings with nothing between them count: not the section's. */
static uint64_t reading_alone(const struct event_counter *counter) {
  uint64_t first, last;
  if (!read_counter(counter, &first))
    return 0;
  for (int i = 0; i < CALIBRATION; i++)
    if (!read_counter(counter, &last))
      return 0;
  return (last - first) * 1024 / CALIBRATION;
}

void events_calibrate(struct thread *thread) {
  if (!wanted.size)
    return;
  if (!open_counter(&thread->events)) {
    header->event_error = (uint32_t)errno;
    return;
  }
  thread->events.state = EVENT_OPEN;
  header->event_reading = thread->events.page ? RELOCK_EVENT_REGISTER : RELOCK_EVENT_DESCRIPTOR;
  reading_alone(&thread->events); /* its instructions and data are at hand from here on */
  header->event_alone = reading_alone(&thread->events);
  counting = true;
  thread->events.due.countdown = 1;
}

void events_begin_thread(struct thread *thread) {
  reset(&thread->events);
  sample_begin_at(&thread->events.due, thread->record->id);
  if (!counting)
    thread->events.due.countdown = SAMPLE_NEVER;
}

void events_end_thread(struct thread *thread) { close_counter(&thread->events); }

void events_forget(struct thread *thread) {
  if (counting)
    close_counter(&thread->events);
}

void events_forgotten(void) {
  if (same_process)
    *(uint32_t *)same_process = 1;
}

void events_confine(bool on) { __atomic_store_n(&confined, on, __ATOMIC_RELAXED); }

static bool open_now(struct thread *thread) {
  int saved = errno;
  if (thread->events.state == EVENT_UNOPENED) {
    bool opened = open_counter(&thread->events);
    thread->events.state = opened ? EVENT_OPEN : EVENT_CLOSED;
    if (!opened)
      count_drop(&header->dropped_counters);
  }
  errno = saved;
  return thread->events.state == EVENT_OPEN;
}

uint64_t event_prepare(struct thread *thread) {
  uint64_t now = relock_ticks(), weight = sample_gap(&thread->events.due, now, interval);
  bool open = open_now(thread);
  thread->record->sampling += relock_ticks() - now;
  return open ? weight : 0;
}

void event_section_begins(struct thread *thread, const struct relock_object *object,
                          uint64_t hold_start, bool reading, uint64_t weight) {
  struct event_counter *counter = &thread->events;
  struct counted_section *section;
  uint64_t now = relock_ticks();
  if (thread->held_count + thread->read_count <= 1)
    counter->count = 0; /* what other threads have released meanwhile */
  if (counter->count == EVENT_SECTIONS_MAX)
    return;
  section = &counter->sections[counter->count];
  section->object = object;
  section->hold_start = hold_start;
  section->reading = reading;
  section->weight = weight;
  if (read_counter(counter, &section->value))
    counter->count++;
  section->ticks = relock_ticks() - now;
  thread->record->sampling += section->ticks;
}

static void add_section(const struct counted_section *section, uint64_t events) {
  struct relock_group *group = group_of(section->object);
  struct relock_events *sum = section->reading ? &group->read_events : &group->events;
  __atomic_fetch_add(&sum->samples, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&sum->sections, section->weight, __ATOMIC_RELAXED);
  __atomic_fetch_add(&sum->events, section->weight * events, __ATOMIC_RELAXED);
}

uint64_t event_counted_section_ends(struct thread *thread, const struct relock_object *object,
                                    uint64_t hold_start) {
  struct event_counter *counter = &thread->events;
  uint64_t value, before = 0, now = relock_ticks(), last;
  bool read = read_counter(counter, &value);
  for (uint32_t i = 0; i < counter->count; i++) {
    struct counted_section section = counter->sections[i];
    if (section.object != object || section.hold_start != hold_start)
      continue;
    before = section.ticks;
    if (read)
      add_section(&section, value - section.value);
    counter->sections[i] = counter->sections[--counter->count];
    break;
  }
  last = relock_ticks() - now;
  thread->record->sampling += last;
  return before + last;
}
