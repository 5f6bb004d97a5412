// SPDX-License-Identifier: MIT
// Where all that is left is text for other systems, check has nothing to look at: exit status 0.
// RUN: %program %s %t && cd %t && %relock check -p build | FileCheck %s
// CHECK:      lock ({{.*}}): convert
// CHECK-NEXT:   delegate straight add
// CHECK-NEXT: other-systems-leave-nothing-to-do.c:[[#@LINE+12]]: pthread_mutex_lock in text for another system (#if defined(__APPLE__)) [uncovered]
// CHECK-NEXT: 2 lock sites: 1 delegate, 0 hold, 0 keep, 1 uncovered
#include <pthread.h>

static pthread_mutex_t lock;
int total;

void add(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
#if defined(__APPLE__)
  pthread_mutex_lock(&lock);
#endif
}
