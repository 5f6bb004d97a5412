// SPDX-License-Identifier: MIT
// Each wait of a section has a number of its own.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:          while (state != 1)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &changed, 1);
// CHECK-NEXT:     state = 2;
// CHECK-NEXT:     relock_cond_broadcast(&changed);
// CHECK-NEXT:     do {
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &changed, 2);
// CHECK-NEXT:     } while (state != 3);
// CHECK-NEXT:     *section->seen = state;
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;

static int watch(void) {
  int seen;
  pthread_mutex_lock(&lock);
  while (state != 1)
    pthread_cond_wait(&changed, &lock);
  state = 2;
  pthread_cond_broadcast(&changed);
  do {
    pthread_cond_wait(&changed, &lock);
  } while (state != 3);
  seen = state;
  state = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return seen;
}

static void step(void) {
  pthread_mutex_lock(&lock);
  while (state != 0)
    pthread_cond_wait(&changed, &lock);
  state = 1;
  pthread_cond_broadcast(&changed);
  while (state != 2)
    pthread_cond_wait(&changed, &lock);
  state = 3;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void *other(void *unused) {
  for (int i = 0; i < 500; i++)
    step();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  int sum = 0;
  for (int i = 0; i < 500; i++)
    sum += watch();
  pthread_join(thread, NULL);
  printf("%d %d\n", sum, state);
  return 0;
}
