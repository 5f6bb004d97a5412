// SPDX-License-Identifier: MIT
// Variables that no context can bring, and beside each the like that can be brought: a parameter of
// type va_list, a name that the section hides, an object that is large for another thread's stack.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight report_list
// CHECK-NEXT: 'list' is a parameter of type va_list [va-list]
// CHECK-NEXT: delegate straight report
// CHECK-NEXT: hold straight hides
// CHECK-NEXT: 'n' is hidden by a variable of the section with its name [shadowed]
// CHECK-NEXT: delegate straight hides_later
// CHECK-NEXT: hold straight large
// CHECK-NEXT: 'page' is large, and another thread's stack may be too small for it [stack-size]
// CHECK-NEXT: delegate straight small
// CHECK-NEXT: 6 lock sites: 3 delegate, 3 hold
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char line[64];
static int total;

static void report_list(const char *format, va_list list) {
  pthread_mutex_lock(&lock);
  vsnprintf(line, sizeof line, format, list);
  pthread_mutex_unlock(&lock);
}

static void report(const char *format, ...) {
  va_list list;
  va_start(list, format);
  pthread_mutex_lock(&lock);
  vsnprintf(line, sizeof line, format, list);
  pthread_mutex_unlock(&lock);
  va_end(list);
}

static void forward(const char *format, ...) {
  va_list list;
  va_start(list, format);
  report_list(format, list);
  va_end(list);
}

static int hides(int n) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < n; i++) {
    int n = i * 2;
    total += n;
  }
  pthread_mutex_unlock(&lock);
  return total;
}

static int hides_later(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
  {
    int n = 3;
    total += n;
  }
  return total;
}

static void large(void) {
  pthread_mutex_lock(&lock);
  char page[4097];
  total += snprintf(page, sizeof page, "%d", total);
  pthread_mutex_unlock(&lock);
}

static void small(void) {
  pthread_mutex_lock(&lock);
  char page[4096];
  total += snprintf(page, sizeof page, "%d", total);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  forward("%d\n", 1);
  fputs(line, stdout);
  report("%d\n", 2);
  fputs(line, stdout);
  printf("%d ", hides(3));
  printf("%d\n", hides_later(1));
  large();
  small();
  printf("%d\n", total);
  return 0;
}
