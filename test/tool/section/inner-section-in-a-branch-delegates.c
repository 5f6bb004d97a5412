// SPDX-License-Identifier: MIT
// The inner section of a nested pair delegates where it stands in a branch or a loop of the outer
// one, and so does the outer one.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight move
// CHECK:      delegate nested move
// CHECK:      2 lock sites: 2 delegate, 0 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int moved, total;

static void move(int amount) {
  pthread_mutex_lock(&outer);
  for (int i = 0; i < amount; i++) {
    if (i % 2) {
      pthread_mutex_lock(&inner);
      total += i;
      pthread_mutex_unlock(&inner);
    }
    moved++;
  }
  pthread_mutex_unlock(&outer);
}

static void *work(void *unused) {
  for (int i = 0; i < 500; i++)
    move(5);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", moved, total);
  return 0;
}
