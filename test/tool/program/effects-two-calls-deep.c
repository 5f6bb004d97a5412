// SPDX-License-Identifier: MIT
// What a function of the C library does counts for sections that reach it two calls deep: a
// cancellation point, where the program cancels threads, and state of the caller's.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      hold straight cancelled
// CHECK-NEXT: [cancellation]
// CHECK-NEXT: delegate straight identity
// CHECK-NEXT: delegate straight neither
// CHECK-NEXT: 3 lock sites: 2 delegate, 1 hold
// TEXT:       relock_execute(&lock, identity_section, &section);
// TEXT:       relock_execute_any_thread(&lock, neither_section, NULL);
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void shut(void) { close(-1); }
static void shut_indirectly(void) { shut(); }

static void cancelled(void) {
  pthread_mutex_lock(&lock);
  shut_indirectly();
  pthread_mutex_unlock(&lock);
}

static long number(const char *text) { return strtol(text, NULL, 10); }
static long number_indirectly(const char *text) { return number(text); }

static void identity(const char *text) {
  pthread_mutex_lock(&lock);
  total += number_indirectly(text);
  pthread_mutex_unlock(&lock);
}

static long half(long n) { return n / 2; }
static long half_indirectly(long n) { return half(n); }

static void neither(void) {
  pthread_mutex_lock(&lock);
  total = half_indirectly(total);
  pthread_mutex_unlock(&lock);
}

static void *thread(void *unused) {
  cancelled();
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  if (total > 1)
    pthread_cancel(other);
  errno = 0;
  identity("99999999999999999999");
  printf("%d\n", errno == ERANGE);
  neither();
  printf("%d\n", total > 1);
  return 0;
}
