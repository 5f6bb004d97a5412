/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "processor.h"
#include "record.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct relock_processor *processors;
static uint32_t processor_count;

void processors_load(const char *folder) {
  char path[600];
  struct stat status;
  struct relock_processor *read_here = NULL;
  int file;
  snprintf(path, sizeof path, "%s/%s", folder, RELOCK_PROCESSORS_FILE);
  file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0)
    return;
  if (fstat(file, &status) == 0 && status.st_size > 0 && status.st_size < 1 << 20)
    read_here = private_allocate((size_t)status.st_size);
  if (read_here && read(file, read_here, (size_t)status.st_size) == status.st_size) {
    processors = read_here;
    processor_count = (uint32_t)((size_t)status.st_size / sizeof *processors);
  }
  close(file);
}

struct processor_mark {
  uint32_t version, flags;
  uint64_t start, length, abort;
} __attribute__((aligned(32)));

#if __has_include(<sys/rseq.h>)
static const uint32_t signature[] = {RSEQ_SIG, 0}; /* which the system looks for before `abort` */
#define ABORT ((uintptr_t)&signature[1])
#else
#define ABORT 0
#endif
const struct processor_mark processor_mark = {0, 0, (uintptr_t)&processor_mark, 1, ABORT};

uint64_t *processor_marked(void) {
  static uint64_t always = (uintptr_t)&processor_mark;
#if __has_include(<sys/rseq.h>)
  if (__rseq_size)
    return (uint64_t *)((char *)__builtin_thread_pointer() + __rseq_offset +
                        offsetof(struct rseq, rseq_cs));
#endif
  return &always;
}

enum relock_distance processor_distance(uint32_t from, uint32_t to) {
  const struct relock_processor *a, *b;
  if (from >= processor_count || to >= processor_count)
    return RELOCK_UNKNOWN_DISTANCE;
  a = &processors[from];
  b = &processors[to];
  if (a->core == b->core)
    return RELOCK_SAME_CORE;
  if (a->cache == b->cache)
    return RELOCK_SAME_CACHE;
  return a->node == b->node ? RELOCK_SAME_NODE : RELOCK_OTHER_NODE;
}
