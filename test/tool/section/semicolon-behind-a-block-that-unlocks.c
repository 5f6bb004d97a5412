// SPDX-License-Identifier: MIT
// What a macro processor makes of UNLOCK(lock); is `{pthread_mutex_unlock(&lock);};`, also where an
// early exit follows. The exit's own statements stay.
// RUN: %rewritten %s | FileCheck %s
// CHECK-LABEL: static int get_section(void *context) {
// CHECK:         if (list == 0) {
// CHECK-NEXT:      puts("none");
// CHECK-NEXT:      return 1;
// CHECK-NEXT:    }
// CHECK-LABEL: int *get(void) {
// CHECK:         {{if \(relock_execute.*get_section, &p\)\) {}}
// CHECK-NEXT:      exit(1);
// CHECK-NEXT:    }
// CHECK-LABEL: int *maybe(void) {
// CHECK:         {{if \(relock_execute.*maybe_section, &p\)\) {}}
// CHECK-NEXT:      CHECKED(p);
// CHECK-NEXT:      return 0;
// CHECK-NEXT:    }
// CHECK-LABEL: void leave(int how) {
// CHECK:         {{if \(relock_execute.*leave_section, &section\)\) {}}
// CHECK-NEXT:      return;
// CHECK-NEXT:    }
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECKED(x)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *list;

int *get(void) {
  int *p;
  {pthread_mutex_lock(&lock);};
  if (list == 0) {
    puts("none");
    {pthread_mutex_unlock(&lock);};
    exit(1);
  }
  p = list;
  list = 0;
  {pthread_mutex_unlock(&lock);};
  return p;
}

int *maybe(void) {
  int *p;
  {pthread_mutex_lock(&lock);};
  if (list == 0) {
    {pthread_mutex_unlock(&lock);};
    CHECKED(p);
    return 0;
  }
  p = list;
  {pthread_mutex_unlock(&lock);};
  return p;
}

void leave(int how) {
  {pthread_mutex_lock(&lock);};
  if (how) {
    {pthread_mutex_unlock(&lock);};
    return;
  }
  list = 0;
  {pthread_mutex_unlock(&lock);};
  puts("left");
}
