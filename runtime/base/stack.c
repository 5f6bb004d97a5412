/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stack.h"

#include "arch.h"

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

/* The main thread's stack grows up to its limit, from where its environment lies, unless setenv()
 * has moved that. (pthread_getattr_np() would read /proc.) */
static void main_stack(size_t *size, uintptr_t *end) {
  struct rlimit limit;
  *size = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
              ? (size_t)limit.rlim_cur
              : SIZE_MAX / 2;
  uintptr_t here = relock_frame(), top = (uintptr_t)environ;
  if (top < here || top - here > *size)
    top = here;
  *end = top > *size ? top - *size : 0;
}

static void thread_stack(size_t *size, uintptr_t *end) {
  pthread_attr_t attributes;
  void *lowest = (void *)relock_frame();
  *size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &lowest, size);
    pthread_attr_destroy(&attributes);
  }
  *end = (uintptr_t)lowest;
}

void relock_stack_of_thread(size_t *size, uintptr_t *end) {
  if (getpid() == (pid_t)syscall(SYS_gettid))
    main_stack(size, end);
  else
    thread_stack(size, end);
  *size = rounded(*size);
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
