// SPDX-License-Identifier: MIT
// An unlock followed by a function that never returns is an exit, though no declaration says that
// it does not return: its text does, or that of what it calls last.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// RUN: %rewritten %s | FileCheck %s
// VERDICT:      delegate early-exit observe
// VERDICT:      delegate early-exit both_ways
// VERDICT:      hold split goes_on
// VERDICT:      hold split maybe_returns
// VERDICT:      hold split by_a_label
// VERDICT:      hold split calls_a_hook
// CHECK:        static int observe_section(
// CHECK:          return 1;
// CHECK:        if (relock_execute_any_thread(&lock, observe_section, &section)) {
// CHECK-NEXT:     test_error("under %d", limit);
// CHECK-NEXT:   }
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void verror(const char *format, va_list arguments) {
  vfprintf(stderr, format, arguments);
  if (level)
    exit(0);
  else
    abort();
}

static void test_error(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  verror(format, arguments);
  va_end(arguments);
}

static void loops(void) {
again:
  if (level > 100)
    exit(0);
  level++;
  goto again;
}

static void warn(int limit) {
  if (limit > 1000)
    return;
  abort();
}

static void stops(int limit) {
  if (limit > 1000)
    goto out;
  abort();
out:
  puts("over");
}

void hook(int limit);
__attribute__((weak)) void hook(int limit) {
  if (limit > 1000)
    exit(1);
  abort();
}

static void complain(int limit) { fprintf(stderr, "under %d\n", limit); }

static int observe(int limit, int step) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    test_error("under %d", limit);
  }
  level += step;
  pthread_mutex_unlock(&lock);
  return step;
}

static int both_ways(int limit) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    loops();
  }
  if (level == 3) {
    level++;
    pthread_mutex_unlock(&lock);
    return 1;
  }
  level += 2;
  pthread_mutex_unlock(&lock);
  return 2;
}

static void goes_on(int limit) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    complain(limit);
    return;
  }
  if (level == limit) {
    pthread_mutex_unlock(&lock);
    complain(limit);
  }
  level++;
  pthread_mutex_unlock(&lock);
}

static void maybe_returns(int limit) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    warn(limit);
  }
  level++;
  pthread_mutex_unlock(&lock);
}

static void by_a_label(int limit) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    stops(limit);
  }
  level++;
  pthread_mutex_unlock(&lock);
}

static void calls_a_hook(int limit) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    hook(limit);
  }
  level++;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  goes_on(5);
  maybe_returns(5);
  by_a_label(5);
  calls_a_hook(5);
  for (int i = 0; i < 20; i++)
    printf("%d\n", observe(50, 2) + both_ways(30));
  return 0;
}
