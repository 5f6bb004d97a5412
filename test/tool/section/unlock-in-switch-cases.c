// SPDX-License-Identifier: MIT
// A switch of which every case unlocks, and breaks, returns, or falls out at its end.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        switch (section->what) {
// CHECK-NEXT:   case 'a':
// CHECK-NEXT:     total += n;
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   case 's':
// CHECK-NEXT:     total -= n;
// CHECK-NEXT:     return 2;
// CHECK-NEXT:   case 'q':
// CHECK-NEXT:     return 3;
// CHECK-NEXT:   default:
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:        int taken = relock_execute_any_thread(&lock, act_section, &section);
// CHECK-NEXT:   if (taken == 1) {
// CHECK-NEXT:     adds++;
// CHECK-NEXT:   } else if (taken == 2) {
// CHECK-NEXT:     subs++;
// CHECK-NEXT:     /* not counted below */
// CHECK-NEXT:     return n;
// CHECK-NEXT:   } else if (taken == 3) {
// CHECK-NEXT:     puts("quit");
// CHECK-NEXT:     /* and on */
// CHECK-NEXT:   }
// CHECK-NEXT:   all++;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, adds, subs, all;

static int act(int what, int n) {
  pthread_mutex_lock(&lock);
  switch (what) {
  case 'a':
    total += n;
    pthread_mutex_unlock(&lock);
    adds++;
    break;
  case 's':
    total -= n;
    pthread_mutex_unlock(&lock);
    subs++;
    /* not counted below */
    return n;
  case 'q':
    pthread_mutex_unlock(&lock);
    puts("quit");
    /* and on */
    break;
  default:
    pthread_mutex_unlock(&lock);
  }
  all++;
  return 0;
}

int main(void) {
  int sum = act('a', 5) + act('s', 2) + act('q', 9) + act('x', 1);
  printf("%d %d %d %d %d\n", sum, total, adds, subs, all);
  return 0;
}
