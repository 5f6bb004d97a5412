/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record.h"
#include "events.h"
#include "hold.h"
#include "processor.h"
#include "real.h"
#include "sample.h"
#include "site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
  GROUP_TABLE_SIZE = 2 * GROUPS_MAX,
  COMMIT_STEP = 256 << 10,
  SEALED_RESERVE = 4 << 20,
  EARLY_NAMES = 64,
};
#define DEFAULT_LIMIT (512ul << 20)
#define OLD_KERNEL_LIMIT (64ul << 20)
#define NO_GROUP UINT32_MAX

/* For private_allocate(). */
struct pool {
  char *next, *end;
};

_Static_assert(GROUPS_MAX == STATS_PAGE * STATS_PAGES, "a thread has a place for each");
_Static_assert(sizeof(struct relock_group) <= 256, "each mutex of a static array has one");

struct relock_header *header;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t object_table[OBJECT_TABLE_SIZE];
static struct relock_group **groups; /* by index */
static uint32_t *group_table;        /* index + 1, by hash */
static uint32_t group_count;
static struct relock_object *free_objects; /* linked through `address` */
/* A thread that has been created and named, but has not run yet. */
struct early_name {
  pthread_t id;
  bool waiting;
  char name[16];
};

static struct thread *free_threads, **all_threads;
static struct early_name early_names[EARLY_NAMES]; /* a ring */
static uint32_t early_next;
static uint32_t thread_count, thread_capacity;
static uint64_t used, committed, changes; /* mirrors of the header that fork copies */
static struct pool pool;
static char directory[512];
static bool populate_works;
static bool sealed; /* the program may have forbidden all that we would call */

void record_lock(void) { real.lock(&lock); }
void record_unlock(void) { real.unlock(&lock); }

static uint64_t time_of(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void) { return time_of(CLOCK_MONOTONIC); }

uint64_t record_processor_time(void) { return sealed ? 0 : time_of(CLOCK_THREAD_CPUTIME_ID); }

/* No lock operation of the program is to change its errno. */
static void *private_pages(size_t size) {
  int before = errno;
  void *pages =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = before;
  return pages == MAP_FAILED ? NULL : pages;
}

void *private_allocate(size_t size) {
  void *result;
  size = (size + 15) & ~(size_t)15;
  if ((size_t)(pool.end - pool.next) < size) {
    size_t chunk = size > (256u << 10) ? size : 256u << 10;
    char *pages = sealed ? NULL : private_pages(chunk);
    if (!pages)
      return NULL;
    pool.next = pages;
    pool.end = pages + chunk;
  }
  result = pool.next;
  pool.next += size;
  return result;
}

/* A full file system would answer the first touch of a page with SIGBUS, in the middle of the
 * program: reserve pages before they are touched, and drop records when that fails. */
static bool commit(char *base, uint64_t from, uint64_t to) {
  int before = errno;
  bool done = !populate_works || madvise(base + from, to - from, MADV_POPULATE_WRITE) == 0;
  errno = before;
  return done;
}

void *record_allocate(enum relock_record_kind kind, size_t size) {
  struct relock_record *record;
  size = (size + 63) & ~(size_t)63;
  while (used + size > committed) {
    uint64_t to = committed + COMMIT_STEP;
    to = to < header->capacity ? to : header->capacity;
    if (to == committed || sealed || !commit((char *)header, committed, to))
      return NULL;
    committed = to;
  }
  record = (struct relock_record *)((char *)header + used);
  memset(record, 0, size);
  record->kind = kind;
  record->size = (uint32_t)size;
  used += size;
  __atomic_store_n(&header->used, used, __ATOMIC_RELEASE);
  return record;
}

void record_seal(bool on) {
  record_lock();
  sealed = false;
  if (on) {
    uint64_t to = used + SEALED_RESERVE;
    char *pages = private_pages(SEALED_RESERVE);
    to = to < header->capacity ? (to + 4095) & ~(uint64_t)4095 : header->capacity;
    if (to > committed && commit((char *)header, committed, to))
      committed = to;
    if (pages) {
      pool.next = pages;
      pool.end = pages + SEALED_RESERVE;
    }
    sealed = true;
  }
  record_unlock();
}

static int create_file(uint64_t size) {
  char path[600];
  int file = -1;
  /* One process can run several programs in a row. */
  for (int run = 0; run < 10000; run++) {
    snprintf(path, sizeof path, "%s/%d.%d.records", directory, (int)getpid(), run);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST)
      break;
  }
  if (file >= 0 && ftruncate(file, (off_t)size)) {
    close(file);
    unlink(path);
    return -1;
  }
  return file;
}

/* Maps a new file with its first `first` bytes reserved. */
static char *map_file(uint64_t *size, uint64_t first) {
  int file = create_file(*size);
  char *base = MAP_FAILED;
  if (file < 0)
    return NULL;
  for (;; *size /= 2) {
    base = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (base != MAP_FAILED || *size / 2 < first)
      break;
  }
  if (base != MAP_FAILED && madvise(base, first, MADV_POPULATE_WRITE)) {
    populate_works = false;
    if (errno == EINVAL) /* before Linux 5.14 */
      *size = *size < OLD_KERNEL_LIMIT ? *size : OLD_KERNEL_LIMIT;
    if (errno != EINVAL || posix_fallocate(file, 0, (off_t)*size)) {
      munmap(base, *size);
      base = MAP_FAILED;
    }
  } else {
    populate_works = true;
  }
  close(file); /* the program finds its file descriptors as it expects them */
  return base == MAP_FAILED ? NULL : base;
}

static uint64_t at_most(int resource, unsigned part, uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return bytes;
  return limit.rlim_cur / part < bytes ? limit.rlim_cur / part : bytes;
}

/* A file beyond the limit would end the program with SIGXFSZ, and of an address space that is
 * limited most has to be left to the program. 0: there is no room. */
static uint64_t limit(void) {
  const char *text = secure_getenv(RELOCK_RECORDS_LIMIT);
  uint64_t bytes = text ? strtoull(text, NULL, 10) : DEFAULT_LIMIT;
  if (bytes < COMMIT_STEP)
    bytes = COMMIT_STEP;
  bytes = at_most(RLIMIT_FSIZE, 1, at_most(RLIMIT_AS, RELOCK_RECORDS_PART, bytes));
  if (at_most(RLIMIT_AS, 1, RELOCK_RECORDS_SPACE) < RELOCK_RECORDS_SPACE)
    return 0;
  return bytes < COMMIT_STEP ? 0 : bytes & ~(uint64_t)4095;
}

static void begin_header(uint64_t size) {
  header->version = RELOCK_RECORDS_VERSION;
  header->pid = (uint32_t)getpid();
  header->parent = (uint32_t)getppid();
  header->capacity = size;
  header->end = RELOCK_END_UNKNOWN;
  header->start_ns = now_ns();
  header->start_ticks = relock_ticks();
  header->used = used;
  header->changes = changes;
}

bool record_start(void) {
  const char *name = secure_getenv(RELOCK_RECORDS_DIR);
  uint64_t size = limit();
  ssize_t length;
  if (!name || !*name || strlen(name) >= sizeof directory || !size)
    return false;
  strcpy(directory, name);
  groups = private_pages(GROUPS_MAX * sizeof *groups);
  group_table = private_pages(GROUP_TABLE_SIZE * sizeof *group_table);
  if (!groups || !group_table)
    return false;
  header = (struct relock_header *)map_file(&size, COMMIT_STEP);
  if (!header)
    return false;
  used = RELOCK_RECORDS_FIRST;
  committed = COMMIT_STEP;
  begin_header(size);
  length = readlink("/proc/self/exe", header->executable, sizeof header->executable - 1);
  if (length < 0)
    header->executable[0] = 0;
  site_refresh_modules();
  sample_start();
  timing_start();
  events_start();
  relock_processors_load(directory, private_allocate);
  __atomic_store_n(&header->magic, RELOCK_RECORDS_MAGIC, __ATOMIC_RELEASE);
  return true;
}

static void clear_group(struct relock_group *group) {
  memset(&group->retired, 0, sizeof group->retired);
  memset(&group->retired_times, 0, sizeof group->retired_times);
  memset(&group->retired_rare, 0, sizeof group->retired_rare);
  memset(&group->events, 0, sizeof group->events);
  memset(&group->read_events, 0, sizeof group->read_events);
  group->objects = 0;
}

static void clear_object(struct relock_object *object) {
  memset(&object->counts, 0, sizeof object->counts);
  memset(&object->times, 0, sizeof object->times);
  memset(&object->rare, 0, sizeof object->rare);
  object->counts.sure = RELOCK_FIRST_TIMED;
  object->waiting = 0;
}

/* Objects count themselves in their groups, which have been cleared before. */
static void clear_record(struct relock_record *record, const struct thread *survivor,
                         uint64_t now) {
  switch (record->kind) {
  case RELOCK_RECORD_THREAD: {
    struct relock_thread *thread = (struct relock_thread *)record;
    bool lives = survivor && survivor->record == thread;
    thread->live = lives;
    thread->started = lives;
    thread->start_ticks = now;
    thread->ended_time = thread->section_time = thread->sections = thread->sampling = 0;
    thread->wait_start = 0;
    thread->section_start = lives && (survivor->held_count || survivor->read_count) ? now : 0;
    thread->section_weight = 1;
    break;
  }
  case RELOCK_RECORD_OBJECT: {
    struct relock_object *object = (struct relock_object *)record;
    clear_object(object);
    if (object->live && object->group < group_count) {
      groups[object->group]->objects++;
      object_mark_sure(object, true);
    }
    break;
  }
  case RELOCK_RECORD_HISTOGRAM: {
    struct relock_histogram *histogram = (struct relock_histogram *)record;
    memset(&histogram->count, 0,
           offsetof(struct relock_histogram, group) - offsetof(struct relock_histogram, count));
    break;
  }
  case RELOCK_RECORD_NESTING: {
    struct relock_nesting *nesting = (struct relock_nesting *)record;
    nesting->count = nesting->tried = 0;
    break;
  }
  case RELOCK_RECORD_EDGE: {
    struct relock_edge *edge = (struct relock_edge *)record;
    edge->count = edge->wait = 0;
    break;
  }
  case RELOCK_RECORD_TALLY: {
    struct relock_tally *tally = (struct relock_tally *)record;
    memset(&tally->acquisitions, 0, sizeof *tally - offsetof(struct relock_tally, acquisitions));
    break;
  }
  case RELOCK_RECORD_TIMELINE: {
    struct relock_timeline *timeline = (struct relock_timeline *)record;
    memset(timeline->counts, 0, sizeof *timeline - offsetof(struct relock_timeline, counts));
    break;
  }
  case RELOCK_RECORD_SITE: {
    struct relock_site *site = (struct relock_site *)record;
    site->samples = site->acquisitions = site->hold = site->contended = site->wait = 0;
    break;
  }
  }
}

static void clear_drops(void) {
  header->dropped_objects = header->dropped_histograms = header->dropped_threads = 0;
  header->dropped_nested = header->dropped_modules = 0;
  header->unrecorded_children = header->foreign_releases = 0;
  header->dropped_nestings = header->dropped_samples = header->dropped_edges = 0;
  header->dropped_counters = 0;
}

void record_before_fork(struct thread *thread) {
  __atomic_fetch_add(&header->forks, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; thread && i < thread->held_count; i++)
    thread->depths[i] = thread->held[i].object->counts.depth;
}

/* The forking thread still holds what it held; all other holders stayed behind. */
static void restore_holds(struct thread *survivor, uint64_t now) {
  for (uint32_t i = 0; survivor && i < survivor->held_count; i++) {
    struct relock_counts *counts = &survivor->held[i].object->counts;
    survivor->held[i].plain = 0;
    counts->owner = survivor->id;
    counts->depth = survivor->depths[i];
    counts->hold_start = now;
    counts->hold_weight = 1;
  }
  for (uint32_t i = 0; survivor && i < survivor->read_count; i++) {
    survivor->reads[i].since = now;
    survivor->reads[i].weight = 1;
  }
}

static struct relock_object *object_of(uint64_t slot) { return object_in(slot, slot >> 32 << 32); }
static void vacate(uint64_t *slot) { __atomic_store_n(slot, *slot >> 32 << 32, __ATOMIC_RELEASE); }

static bool is_current(uint64_t slot) {
  const struct relock_object *object = object_of(slot);
  return object->live && object->group < group_count &&
         object_in(slot, object_tag(object->address)) == object;
}

/* The parent went on between the fork and the copy: records that it has given to other mutexes
 * are forgotten here, and made anew when their mutexes are used. */
static void forget_changed(void) {
  free_objects = NULL; /* what was free stays unused: links may be lost */
  for (size_t i = 0; i < OBJECT_TABLE_SIZE; i++)
    if (object_of(object_table[i]) && !is_current(object_table[i]))
      vacate(&object_table[i]);
}

/* The tables point into the mapping, so the copy takes its place at the same address. */
bool record_restart(struct thread *survivor) {
  uint64_t size = header->capacity, wanted = size, now;
  int before = errno;
  char *copy = sealed ? NULL : map_file(&size, committed);
  bool torn;
  if (!copy || size != wanted) {
    if (copy)
      munmap(copy, size);
    count_drop(&header->unrecorded_children);
    if (!sealed)
      munmap(header, wanted);
    errno = before;
    return false;
  }
  /* The magic number comes last: until then the file is no profile, least of all a second one of
   * the parent's. */
  memcpy(copy + sizeof header->magic, (char *)header + sizeof header->magic,
         used - sizeof header->magic);
  torn = __atomic_load_n(&header->changes, __ATOMIC_ACQUIRE) != changes;
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, header) == MAP_FAILED)
    abort(); /* both ranges are ours and of equal size */
  begin_header(size);
  header->forked = 1;
  header->forks = 0;
  clear_drops();
  if (torn)
    forget_changed();
  now = header->start_ticks;
  for (uint32_t i = 0; i < group_count; i++)
    clear_group(groups[i]);
  for (uint64_t at = RELOCK_RECORDS_FIRST; at < used;) {
    struct relock_record *record = (struct relock_record *)((char *)header + at);
    clear_record(record, survivor, now);
    at += record->size;
  }
  restore_holds(survivor, now);
  if (survivor) {
    survivor->pending_count = 0; /* what was held begins anew */
    sample_begin(survivor);
  }
  free_threads = NULL;
  for (uint32_t i = 0; i < thread_count; i++)
    events_forget(all_threads[i]);
  events_forgotten();
  for (uint32_t i = 0; i < thread_count; i++)
    if (all_threads[i] != survivor) {
      all_threads[i]->held_count = all_threads[i]->read_count = all_threads[i]->pending_count = 0;
      all_threads[i]->next_free = free_threads;
      free_threads = all_threads[i];
    }
  __atomic_store_n(&header->magic, RELOCK_RECORDS_MAGIC, __ATOMIC_RELEASE);
  errno = before;
  return true;
}

void record_end(enum relock_end end, int status) {
  if (sealed ? end == RELOCK_END_QUICK : header->pid != (uint32_t)getpid())
    return; /* a child of vfork, in its parent's memory; or it may be one */
  header->status = (uint32_t)status & 0xff;
  if (!sealed) /* no call of the system then */
    header->processor_ns = time_of(CLOCK_PROCESS_CPUTIME_ID);
  header->end_ns = now_ns();
  header->end_ticks = relock_ticks();
  header->end = end;
}

/* Threads. */

static bool remember_thread(struct thread *thread) {
  if (thread_count == thread_capacity) {
    uint32_t capacity = thread_capacity ? 2 * thread_capacity : 256;
    struct thread **threads = private_allocate(capacity * sizeof *threads);
    if (!threads)
      return false;
    if (thread_count)
      memcpy(threads, all_threads, thread_count * sizeof *threads);
    all_threads = threads;
    thread_capacity = capacity;
  }
  all_threads[thread_count++] = thread;
  return true;
}

static struct thread *new_thread(void) {
  const uintptr_t line = _Alignof(struct thread);
  struct thread *thread = private_allocate(sizeof *thread + line);
  if (!thread)
    return NULL;
  thread = (struct thread *)(((uintptr_t)thread + line - 1) & -line);
  thread->record = record_allocate(RELOCK_RECORD_THREAD, sizeof *thread->record);
  if (!thread->record || !remember_thread(thread))
    return NULL;
  thread->id = thread->record->id = thread_count; /* 0 is nobody */
  thread->once = 1;
  thread->header = header;
  thread->trylock = real.trylock;
  thread->unlock = real.unlock;
  events_begin_thread(thread);
  sample_begin(thread);
  return thread;
}

struct thread *thread_take(void) {
  struct thread *thread;
  record_lock();
  thread = free_threads;
  if (thread)
    free_threads = thread->next_free;
  else
    thread = new_thread();
  record_unlock();
  if (thread)
    thread->start = NULL;
  else
    count_drop(&header->dropped_threads);
  return thread;
}

static void set_name(struct relock_thread *record, const char *name) {
  strncpy(record->name, name, sizeof record->name - 1);
}

static void begin_named(struct thread *thread, bool again) {
  record_lock();
  thread->pthread = pthread_self();
  thread->record->live = 1;
  if (!again)
    memset(thread->record->name, 0, sizeof thread->record->name);
  for (uint32_t i = 0; i < EARLY_NAMES; i++)
    if (early_names[i].waiting && pthread_equal(early_names[i].id, thread->pthread)) {
      set_name(thread->record, early_names[i].name);
      early_names[i].waiting = false;
    }
  record_unlock();
}

void thread_name(pthread_t id, const char *name) {
  struct early_name *early;
  record_lock();
  for (uint32_t i = 0; i < thread_count; i++)
    if (all_threads[i]->record->live && pthread_equal(all_threads[i]->pthread, id)) {
      set_name(all_threads[i]->record, name);
      record_unlock();
      return;
    }
  early = &early_names[early_next++ % EARLY_NAMES];
  early->id = id;
  early->waiting = true;
  strncpy(early->name, name, sizeof early->name - 1);
  record_unlock();
}

void thread_begin(struct thread *thread, uint64_t now, bool again) {
  thread->held_count = thread->read_count = thread->pending_count = 0;
  thread->area = processor_area();
  thread->timing.block_processor = thread->budget.processor = 0; /* was another thread's */
  thread->record->section_start = thread->record->wait_start = 0;
  thread->record->start_ticks = now;
  thread->record->started += !again;
  if (!again)
    thread->record->entry = (uintptr_t)thread->start;
  begin_named(thread, again);
}

void thread_finish(struct thread *thread, uint64_t now) {
  struct relock_thread *record = thread->record;
  if (record->section_start)
    record->section_time += record->section_weight * (now - record->section_start);
  record->section_start = record->wait_start = 0;
  record->ended_time += now - record->start_ticks;
  record->live = 0;
  events_end_thread(thread);
  thread_give_back(thread);
}

void thread_give_back(struct thread *thread) {
  record_lock();
  thread->next_free = free_threads;
  free_threads = thread;
  record_unlock();
}

/* Mutexes, and objects of the other primitives. */

static void changed(void) { __atomic_store_n(&header->changes, ++changes, __ATOMIC_RELEASE); }

/* Where the object is, or else one can be put; null: there is no room. */
static uint64_t *find_slot(enum relock_primitive primitive, uintptr_t address) {
  const uint64_t tag = object_tag(address);
  size_t at = object_slot(primitive, address);
  uint64_t *vacant = NULL;
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    uint64_t *slot = &object_table[at & (OBJECT_TABLE_SIZE - 1)];
    const struct relock_object *object = object_in(*slot, tag);
    if (object && object_is(object, primitive, address))
      return slot;
    if (!vacant && !object_of(*slot))
      vacant = slot;
    if (!*slot)
      break;
  }
  return vacant;
}

/* No lock: it is rare, and only a hint. */
void object_mark_sure(const struct relock_object *object, bool sure) {
  const uint64_t tag = object_tag(object->address);
  size_t at = object_slot(object->primitive, object->address);
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    uint64_t *slot = &object_table[at & (OBJECT_TABLE_SIZE - 1)];
    uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (object_in(value, tag) == object) {
      __atomic_compare_exchange_n(slot, &value, sure ? value | OBJECT_SURE : value & ~OBJECT_SURE,
                                  false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
      return;
    }
    if (!value)
      return;
  }
}

static uint64_t group_hash(uint64_t address, const uint64_t *frames, uint32_t count) {
  uint64_t value = address * 31;
  for (uint32_t i = 0; i < count && !address; i++)
    value = (value ^ frames[i]) * 0x100000001b3ull;
  return value;
}

static bool same_group(const struct relock_group *group, enum relock_primitive primitive,
                       uint64_t address, const uint64_t *frames, uint32_t count) {
  if (group->primitive != primitive)
    return false;
  if (group->address || address)
    return group->address == address;
  return group->frame_count == count && !memcmp(group->frames, frames, count * sizeof *frames);
}

static struct relock_group *find_group(enum relock_primitive primitive, uint64_t address,
                                       const uint64_t *frames, uint32_t count, bool initialised) {
  const uint64_t hash = group_hash(address, frames, count);
  size_t at = object_hash((uint32_t)(hash ^ hash >> 32));
  struct relock_group *group;
  for (;; at++) {
    uint32_t index = group_table[at & (GROUP_TABLE_SIZE - 1)];
    if (!index)
      break;
    group = groups[index - 1];
    if (same_group(group, primitive, address, frames, count))
      return group;
  }
  if (group_count == GROUPS_MAX)
    return NULL;
  group = record_allocate(RELOCK_RECORD_GROUP, sizeof *group);
  if (!group)
    return NULL;
  group->index = group_count;
  group->primitive = primitive;
  group->address = address;
  group->initialised = initialised;
  group->frame_count = count;
  memcpy(group->frames, frames, count * sizeof *frames);
  groups[group_count++] = group;
  group_table[at & (GROUP_TABLE_SIZE - 1)] = group_count;
  return group;
}

static struct relock_object *new_object(struct relock_group *group, uintptr_t address) {
  struct relock_object *object = free_objects;
  changed();
  if (object) {
    free_objects = (struct relock_object *)(uintptr_t)object->address;
  } else {
    object = record_allocate(RELOCK_RECORD_OBJECT, sizeof *object);
    if (!object)
      return NULL;
  }
  clear_object(object);
  object->group = group->index;
  object->primitive = group->primitive;
  __atomic_store_n(&object->address, address, __ATOMIC_RELEASE);
  object->live = 1;
  group->objects++;
  return object;
}

/* What a destroyed mutex did stays in its group; its record serves the next mutex. */
static void retire(uint64_t *slot) {
  struct relock_object *object = object_of(*slot);
  struct relock_group *group = groups[object->group];
  changed();
  group->retired.acquisitions += object->counts.acquisitions;
  group->retired.holds += object->counts.holds;
  group->retired_times.contended += object->times.contended;
  group->retired_times.wait += object->times.wait;
  group->retired_times.hold += object->times.hold;
  group->retired_times.weights += object->times.weights;
  group->retired.handovers += object->counts.handovers;
  group->retired_rare.trylock_failures += object->rare.trylock_failures;
  group->retired_rare.timeouts += object->rare.timeouts;
  group->retired_rare.cond_waits += object->rare.cond_waits;
  group->retired_rare.reentries += object->rare.reentries;
  vacate(slot);
  object->live = 0;
  object->address = (uintptr_t)free_objects;
  free_objects = object;
}

static struct relock_object *insert(enum relock_primitive primitive, uintptr_t address,
                                    const uint64_t *frames, uint32_t count, bool initialised) {
  uint64_t *slot = find_slot(primitive, address);
  struct relock_group *group;
  struct relock_object *object;
  if (slot && object_of(*slot)) {
    if (!initialised)
      return object_of(*slot); /* another thread was faster */
    retire(slot);              /* its memory was freed without destroying it */
  }
  if (!slot)
    return NULL;
  group = find_group(primitive, site_is_static(address) ? address : 0, frames, count, initialised);
  object = group ? new_object(group, address) : NULL;
  if (object)
    __atomic_store_n(
        slot, object_tag(address) | OBJECT_SURE | (uint64_t)((char *)object - (char *)header) / 64,
        __ATOMIC_RELEASE);
  return object;
}

struct relock_object *primitive_create(enum relock_primitive primitive, const void *address,
                                       bool initialised) {
  uint64_t frames[RELOCK_FRAMES], start = relock_ticks();
  uint32_t count = site_backtrace(0, frames);
  struct relock_object *object;
  site_refresh_modules();
  record_lock();
  object = insert(primitive, (uintptr_t)address, frames, count, initialised);
  record_unlock();
  __atomic_fetch_add(&header->making, relock_ticks() - start, __ATOMIC_RELAXED);
  return object;
}

struct relock_object *object_create(const pthread_mutex_t *mutex, bool initialised) {
  return primitive_create(RELOCK_MUTEX, mutex, initialised);
}

void primitive_retire(enum relock_primitive primitive, const void *address) {
  uint64_t *slot;
  record_lock();
  slot = find_slot(primitive, (uintptr_t)address);
  if (slot && object_of(*slot))
    retire(slot);
  record_unlock();
}

void object_retire(const pthread_mutex_t *mutex) { primitive_retire(RELOCK_MUTEX, mutex); }

struct relock_group *group_of(const struct relock_object *object) { return groups[object->group]; }

void object_hide(struct relock_object *object) { group_of(object)->hidden = 1; }

/* Histograms. */

static struct relock_histogram *new_histogram(uint32_t thread, uint32_t group,
                                              enum relock_measure what) {
  struct relock_histogram *histogram;
  record_lock();
  histogram = record_allocate(RELOCK_RECORD_HISTOGRAM, sizeof *histogram);
  if (histogram) {
    histogram->group = group;
    histogram->measure = what;
    histogram->thread = thread;
  }
  record_unlock();
  return histogram;
}

static struct stats *thread_stats(struct thread *thread, uint32_t group) {
  struct stats **page = &thread->page[group / STATS_PAGE];
  if (!*page) {
    record_lock();
    *page = private_allocate(STATS_PAGE * sizeof **page);
    record_unlock();
    if (!*page)
      return NULL;
  }
  return &(*page)[group % STATS_PAGE];
}

static struct shared_stats *thread_shared_stats(struct thread *thread, uint32_t group) {
  struct shared_stats **page = &thread->shared_page[group / STATS_PAGE];
  if (!*page) {
    record_lock();
    *page = private_allocate(STATS_PAGE * sizeof **page);
    record_unlock();
    if (!*page)
      return NULL;
  }
  return &(*page)[group % STATS_PAGE];
}

static struct relock_tally *new_tally(uint32_t group) {
  struct relock_tally *tally;
  record_lock();
  tally = record_allocate(RELOCK_RECORD_TALLY, sizeof *tally);
  if (tally)
    tally->group = group;
  record_unlock();
  return tally;
}

struct relock_tally *thread_tally(struct thread *thread, uint32_t group) {
  struct shared_stats *stats = thread_shared_stats(thread, group);
  if (!stats)
    return NULL;
  if (!stats->tally)
    stats->tally = new_tally(group);
  return stats->tally;
}

/* Where a thread keeps the histogram; null if there is no room for that. */
static struct relock_histogram **slot_of(struct thread *thread, uint32_t group,
                                         enum relock_measure what) {
  if (what == RELOCK_READ_WAIT || what == RELOCK_READ_HOLD) {
    struct shared_stats *shared = thread_shared_stats(thread, group);
    if (!shared)
      return NULL;
    return what == RELOCK_READ_WAIT ? &shared->read_wait : &shared->read_hold;
  }
  struct stats *stats = thread_stats(thread, group);
  return stats ? &stats->measure[what] : NULL;
}

struct relock_histogram *histogram_made(struct thread *thread, uint32_t group,
                                        enum relock_measure what) {
  struct relock_histogram **slot = slot_of(thread, group, what);
  if (slot && !*slot)
    *slot = new_histogram(thread->record->id, group, what);
  if (!slot || !*slot) {
    count_drop(&header->dropped_histograms);
    return NULL;
  }
  return *slot;
}

void measure_wait(struct thread *thread, uint32_t group, enum relock_measure what, uint64_t value,
                  uint32_t waiters) {
  struct relock_histogram *histogram = histogram_made(thread, group, what);
  if (!histogram)
    return;
  histogram_add(histogram, value, 1);
  histogram->waiters += waiters;
  if (waiters > histogram->waiters_max)
    histogram->waiters_max = waiters;
}

void measure_read_hold(struct thread *thread, uint32_t group, uint64_t value, uint32_t weight) {
  struct relock_histogram *histogram = histogram_made(thread, group, RELOCK_READ_HOLD);
  if (histogram)
    histogram_add(histogram, value, weight);
}
