// SPDX-License-Identifier: MIT
// Another library that stands in front of the same functions sees the same calls, whichever of the
// two was loaded first, and the profiler counts them.
// UNSUPPORTED: asan
// RUN: %cc -g -O1 -rdynamic %s -o %t -pthread
// RUN: %cc -g -O1 -shared -fPIC -DOTHER %s -o %t.so
// RUN: LD_PRELOAD=%t.so %relock profile -o %t.profile -- %t > %t.out
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: FileCheck %s < %t.out
// RUN: %relock profile -o %t.profile -- sh -c 'LD_PRELOAD=%t.so:$LD_PRELOAD exec %t' > %t.out
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009'
// RUN: FileCheck %s < %t.out
// Nor does a clock of its own making mislead the profiler.
// RUN: %python %S/Inputs/expect.py %t.profile '0 < profile["duration_ns"] < 60 * 1000 * MS'
// The program locks 1009 times; whether the other one sees a lock as a trylock is the profiler's
// choice where it stands before it.
// CHECK: the other one saw 1009 acquisitions and 1009 releases
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef OTHER

static int acquisitions, releases;

/* Others' mutexes, the profiler's among them, are not the program's. */
static int is_ours(const pthread_mutex_t *mutex) {
  Dl_info where;
  return dladdr(mutex, &where) && where.dli_sname && strcmp(where.dli_sname, "mutex") == 0;
}

static int pass(const char *name, pthread_mutex_t *mutex, int *count) {
  int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
  int result = real(mutex);
  if (result == 0 && is_ours(mutex))
    ++*count;
  return result;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  return pass("pthread_mutex_lock", mutex, &acquisitions);
}
int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  return pass("pthread_mutex_trylock", mutex, &acquisitions);
}
int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  return pass("pthread_mutex_unlock", mutex, &releases);
}
/* Ten times faster, and it began long ago. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  time->tv_sec = 10 * time->tv_sec + time->tv_nsec / 100000000;
  return result;
}

void other_result(int result[2]) {
  result[0] = acquisitions;
  result[1] = releases;
}

#else

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  void (*other)(int[2]) = (void (*)(int[2]))dlsym(RTLD_DEFAULT, "other_result");
  int seen[2];
  for (int i = 0; i < 1009; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  if (!other)
    return 1;
  other(seen);
  printf("the other one saw %d acquisitions and %d releases\n", seen[0], seen[1]);
  return 0;
}

#endif
