/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "processor.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct relock_processor *processors;
static uint32_t processor_count;

void relock_processors_load(const char *folder, void *(*allocate)(size_t size)) {
  char path[600];
  struct stat status;
  struct relock_processor *table = NULL;
  int file;
  snprintf(path, sizeof path, "%s/%s", folder, RELOCK_PROCESSORS_FILE);
  file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0)
    return;
  if (fstat(file, &status) == 0 && status.st_size > 0 && status.st_size < 1 << 20)
    table = allocate((size_t)status.st_size);
  if (table && read(file, table, (size_t)status.st_size) == status.st_size) {
    processors = table;
    processor_count = (uint32_t)((size_t)status.st_size / sizeof *processors);
  }
  close(file);
}

enum relock_distance relock_processor_distance(uint32_t from, uint32_t to) {
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
