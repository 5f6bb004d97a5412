// SPDX-License-Identifier: MIT
// A va_list of the function travels by reference, where it is an array and where it is none. A parameter
// of that type holds: what it is differs between machines.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct add_section {
// CHECK-NEXT:   int n;
// CHECK-NEXT:   int *sum;
// CHECK-NEXT:   va_list *arguments;
// CHECK-NEXT: };
// CHECK:          *section->sum += va_arg((*section->arguments), int);
// CHECK:      struct format_section {
// CHECK-NEXT:   int *length;
// CHECK-NEXT:   const char *form;
// CHECK-NEXT:   va_list *arguments;
// CHECK:        *section->length = vsnprintf(line, sizeof line, section->form, *section->arguments);
// CHECK:      static int format_list(
// CHECK:        relock_mutex_lock(&lock);
#include <stdarg.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static char line[100];

static int add(int n, ...) {
  va_list arguments;
  int sum = 0;
  va_start(arguments, n);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < n; i++)
    sum += va_arg(arguments, int);
  total += sum;
  pthread_mutex_unlock(&lock);
  sum += va_arg(arguments, int);
  va_end(arguments);
  return sum;
}

static int format(const char *form, ...) {
  va_list arguments;
  int length;
  va_start(arguments, form);
  pthread_mutex_lock(&lock);
  length = vsnprintf(line, sizeof line, form, arguments);
  pthread_mutex_unlock(&lock);
  va_end(arguments);
  return length;
}

static int format_list(const char *form, va_list arguments) {
  int length;
  pthread_mutex_lock(&lock);
  length = vsnprintf(line, sizeof line, form, arguments);
  pthread_mutex_unlock(&lock);
  return length;
}

static int format_more(const char *form, ...) {
  va_list arguments;
  va_start(arguments, form);
  int length = format_list(form, arguments);
  va_end(arguments);
  return length;
}

int main(void) {
  int sum = add(2, 10, 20, 30), length = format("%d-%s", 12, "x");
  printf("%d %d %s\n", sum, length, line);
  length = format_more("%d", 345);
  printf("%d %d %s\n", total, length, line);
  return 0;
}
