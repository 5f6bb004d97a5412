// SPDX-License-Identifier: MIT
// Context fields are declared as the user would: enums, typedefs, bool, function pointers,
// pointers to const, unsigned and size types.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct set_section {
// CHECK-NEXT:   enum color color;
// CHECK-NEXT:   size_t size;
// CHECK-NEXT:   int (*convert)(int);
// CHECK-NEXT:   const char *const *names;
// CHECK-NEXT:   unsigned char flags;
// CHECK-NEXT:   bool *odd;
// CHECK-NEXT:   ticks *when;
// CHECK-NEXT: };
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum color { RED, GREEN };
typedef unsigned long long ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum color last;
static size_t total;
static int (*converter)(int);
static const char *name;
static unsigned flagged;

static int twice(int n) { return 2 * n; }

static int set(enum color color, size_t size, int (*convert)(int), const char *const *names,
               unsigned char flags) {
  bool odd;
  ticks when;
  pthread_mutex_lock(&lock);
  last = color;
  total += size;
  converter = convert;
  name = names[1];
  flagged |= flags;
  odd = total & 1;
  when = total + 1ULL;
  pthread_mutex_unlock(&lock);
  return odd ? (int)when : -1;
}

int main(void) {
  static const char *const names[] = {"no", "yes"};
  int set_to = set(GREEN, 3, twice, names, 4);
  printf("%d %d %zu %d %s %u\n", set_to, last, total, converter(4), name, flagged);
  return 0;
}
