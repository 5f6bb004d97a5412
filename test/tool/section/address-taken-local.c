// SPDX-License-Identifier: MIT
// A local whose address others have is used in place, not copied: a section sees what was written
// through the pointer, and the pointer sees what the section writes.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:        long *level;
// CHECK:        bump(section->level);
// CHECK-NEXT:   total += *section->level + section->step;
// CHECK:        .level = &level
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, *seen;

static void bump(long *value) { (*value)++; }

static long raise_level(long step) {
  long level = step;
  seen = &level;
  *seen += 10;
  pthread_mutex_lock(&lock);
  bump(&level);
  total += level + step;
  pthread_mutex_unlock(&lock);
  return *seen;
}

int main(void) {
  long one = raise_level(1), two = raise_level(2);
  seen = NULL;
  printf("%ld %ld %ld\n", one, two, total);
  return 0;
}
