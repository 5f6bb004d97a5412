// SPDX-License-Identifier: MIT
// A loop without end in the section, left by breaks that have unlocked.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        for (;;) {
// CHECK:            return 1;
// CHECK:            return 0;
// CHECK:          (*at)++;
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:        if (relock_execute_any_thread(&lock, next_section, &at)) {
// CHECK-NEXT:     printf("at %d\n", at);
// CHECK-NEXT:   } else {
// CHECK-NEXT:     puts("none");
// CHECK-NEXT:   }
// CHECK-NEXT:   return at;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready[4] = {0, 0, 1, 0};

static int next(int at) {
  pthread_mutex_lock(&lock);
  for (;;) {
    if (at < 4 && ready[at]) {
      ready[at] = 0;
      pthread_mutex_unlock(&lock);
      printf("at %d\n", at);
      break;
    }
    if (at >= 4) {
      pthread_mutex_unlock(&lock);
      puts("none");
      break;
    }
    at++;
  }
  return at;
}

int main(void) {
  int first = next(0), second = next(0);
  printf("%d %d\n", first, second);
  return 0;
}
