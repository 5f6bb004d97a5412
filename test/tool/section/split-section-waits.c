// SPDX-License-Identifier: MIT
// A section that waits and then unlocks in both arms.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:          if (relock_execute_resumable_any_thread(&lock, get_section, &section,
// CHECK-NEXT:{{.*}}&section.resume)) {
// CHECK-NEXT:       printf("got %d\n", got);
// CHECK-NEXT:     } else {
// CHECK-NEXT:       puts("end");
// CHECK-NEXT:       break;
// CHECK-NEXT:     }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int queue[3], used, closed;

static void *get(void *unused) {
  (void)unused;
  for (;;) {
    int got = 0;
    pthread_mutex_lock(&lock);
    while (!used && !closed)
      pthread_cond_wait(&more, &lock);
    if (used) {
      got = queue[--used];
      pthread_mutex_unlock(&lock);
      printf("got %d\n", got);
    } else {
      pthread_mutex_unlock(&lock);
      puts("end");
      break;
    }
  }
  return NULL;
}

static void put(int n) {
  pthread_mutex_lock(&lock);
  queue[used++] = n;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  pthread_t thread;
  put(1);
  pthread_create(&thread, NULL, get, NULL);
  pthread_mutex_lock(&lock);
  closed = 1;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  return 0;
}
