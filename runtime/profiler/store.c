/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "store.h"
#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

enum { COMMIT_STEP = 256 << 10, SEALED_RESERVE = 4 << 20 };
#define DEFAULT_LIMIT (512ul << 20)
#define OLD_KERNEL_LIMIT (64ul << 20)

/* For private_allocate(). */
struct pool {
  char *next, *end;
};

struct relock_header *header;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
void *private_pages(size_t size) {
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

bool store_start(void) {
  const char *name = secure_getenv(RELOCK_RECORDS_DIR);
  uint64_t size = limit();
  ssize_t length;
  if (!name || !*name || strlen(name) >= sizeof directory || !size)
    return false;
  strcpy(directory, name);
  header = (struct relock_header *)map_file(&size, COMMIT_STEP);
  if (!header)
    return false;
  used = RELOCK_RECORDS_FIRST;
  committed = COMMIT_STEP;
  begin_header(size);
  length = readlink("/proc/self/exe", header->executable, sizeof header->executable - 1);
  if (length < 0)
    header->executable[0] = 0;
  return true;
}

const char *store_directory(void) { return directory; }

static bool torn;

/* The tables point into the mapping, so the copy takes its place at the same address. */
bool store_restart(void) {
  uint64_t size = header->capacity, wanted = size;
  char *copy = sealed ? NULL : map_file(&size, committed);
  if (!copy || size != wanted) {
    if (copy)
      munmap(copy, size);
    count_drop(&header->unrecorded_children);
    if (!sealed)
      munmap(header, wanted);
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
  return true;
}

void store_complete(void) {
  __atomic_store_n(&header->magic, RELOCK_RECORDS_MAGIC, __ATOMIC_RELEASE);
}

void store_changes(void) { __atomic_store_n(&header->changes, ++changes, __ATOMIC_RELEASE); }

bool store_is_torn(void) { return torn; }

struct relock_record *store_next(const struct relock_record *record) {
  const uint64_t at = record ? (uint64_t)((const char *)record - (char *)header) + record->size
                             : RELOCK_RECORDS_FIRST;
  return at < used ? (struct relock_record *)((char *)header + at) : NULL;
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
