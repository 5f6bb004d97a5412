// SPDX-License-Identifier: MIT
// A condition variable changes with the mutex that is waited with.
// One that belongs to a kept mutex stays.
// RUN: %check_rewrite %s --lock lock=rcl
// RUN: %rewritten %s --lock lock=rcl | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(lock);
// CHECK-NEXT: static relock_cond_t filled = RELOCK_COND_INITIALIZER;
// CHECK-NEXT: static relock_cond_t emptied;
// CHECK-NEXT: static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
// CHECK-NEXT: static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
// CHECK:          while (count == 1)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &emptied, 1);
// CHECK:          relock_cond_signal(&filled);
// CHECK:        relock_cond_init(&emptied, NULL);
// CHECK:          pthread_cond_wait(&ended, &other);
// CHECK:        relock_cond_destroy(&emptied);
// REASON:     delegate waiting put
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int count, value, end;

static void put(int n) {
  pthread_mutex_lock(&lock);
  while (count == 1)
    pthread_cond_wait(&emptied, &lock);
  value = n;
  count = 1;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
}

static int get(void) {
  int result;
  pthread_mutex_lock(&lock);
  while (count == 0)
    pthread_cond_wait(&filled, &lock);
  result = value;
  count = 0;
  pthread_cond_signal(&emptied);
  pthread_mutex_unlock(&lock);
  return result;
}

static void *produce(void *unused) {
  for (int i = 1; i <= 200; i++)
    put(i);
  pthread_mutex_lock(&other);
  end = 1;
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&other);
  return unused;
}

int main(void) {
  pthread_t thread;
  long sum = 0;
  pthread_cond_init(&emptied, NULL);
  pthread_create(&thread, NULL, produce, NULL);
  for (int i = 0; i < 200; i++)
    sum += get();
  pthread_mutex_lock(&other);
  while (!end)
    pthread_cond_wait(&ended, &other);
  pthread_mutex_unlock(&other);
  pthread_join(thread, NULL);
  pthread_cond_destroy(&emptied);
  printf("%ld\n", sum);
  return 0;
}
