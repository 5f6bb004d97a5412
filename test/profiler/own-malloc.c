// SPDX-License-Identifier: MIT
// A program with an allocator of its own, which locks and calls the system, is recorded from its
// first allocation on; the profiler never needs memory in a way that comes back to itself.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("heap_lock")["acquisitions"] >= 1009' \
// RUN:   'not any(profile["dropped"].values())'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char heap[8 << 20];
static size_t used;

void *malloc(size_t size) {
  char *result = NULL;
  size = (size + 31) & ~(size_t)15; /* its size, and then itself */
  pthread_mutex_lock(&heap_lock);
  syscall(SYS_getpid);
  if (used + size <= sizeof heap) {
    result = heap + used + 16;
    memcpy(result - 16, &size, sizeof size);
    used += size;
  }
  pthread_mutex_unlock(&heap_lock);
  if (!result)
    errno = ENOMEM;
  return result;
}

void free(void *memory) { (void)memory; }

void *calloc(size_t count, size_t size) { return malloc(count * size); /* never used before */ }

void *realloc(void *memory, size_t size) {
  char *result = malloc(size);
  size_t before;
  if (!memory || !result)
    return result;
  memcpy(&before, (char *)memory - 16, sizeof before);
  return memcpy(result, memory, before - 16 < size ? before - 16 : size);
}

int main(void) {
  for (int i = 0; i < 1009; i++)
    if (!malloc(10))
      return 1;
  return 0;
}
