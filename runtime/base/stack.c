/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stack.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t rounded(size_t size) {
  const size_t mebibyte = (size_t)1 << 20;
  return size < mebibyte || size > SIZE_MAX - mebibyte ? size
                                                       : (size + mebibyte - 1) & ~(mebibyte - 1);
}

/* The main thread's stack grows up to its limit. (pthread_getattr_np() would read /proc.) */
static size_t main_stack(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? (size_t)limit.rlim_cur
             : SIZE_MAX;
}

static size_t thread_stack(void) {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return relock_default_stack_size();
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

size_t relock_stack_size(void) {
  static __thread size_t size;
  if (!size)
    size = rounded(getpid() == (pid_t)syscall(SYS_gettid) ? main_stack() : thread_stack());
  return size;
}

size_t relock_default_stack_size(void) {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return rounded(size);
}
