// SPDX-License-Identifier: MIT
// A mutex that a thread takes again without having released it is released by another: a binary
// semaphore, which is kept. A callee that releases it, another element of an array, an unlock
// elsewhere in the function, or a recursive mutex make it none.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// CHECK:      done ({{.*}}): keep
// CHECK-NEXT:   mutex-as-semaphore-keeps.c:[[#]]: is taken again here by a thread that has not released it, and so waits for another one to release it [semaphore]
// CHECK:      elements ({{.*}}): convert
// CHECK:      handed ({{.*}}): convert
// CHECK:      nested ({{.*}}): convert
// CHECK:      ready ({{.*}}): keep
// CHECK-NEXT:   mutex-as-semaphore-keeps.c:[[#]]: is taken again {{.*}} [semaphore]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t ready = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t done = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t elements[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int rounds, total;

static void *serve(void *unused) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&ready);
    rounds++;
    pthread_mutex_unlock(&done);
  }
  return unused;
}

static void release(void) { pthread_mutex_unlock(&handed); }

static void let_go(void) {
  for (int i = 0; i < 2; i++)
    pthread_mutex_unlock(&elements[i]);
}

static void all(void) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_t *one = &elements[i];
    pthread_mutex_lock(one);
  }
  total++;
  let_go();
}

static void deep(int depth) {
  pthread_mutex_lock(&nested);
  pthread_mutex_lock(&nested);
  total += depth;
  pthread_mutex_unlock(&nested);
  pthread_mutex_unlock(&nested);
}

static void hand(void) {
  pthread_mutex_lock(&handed);
  release();
  pthread_mutex_lock(&handed);
  total++;
  release();
}

int main(void) {
  pthread_mutex_lock(&ready);
  pthread_mutex_lock(&done);
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_unlock(&ready);
    pthread_mutex_lock(&done);
  }
  pthread_join(thread, NULL);
  hand();
  all();
  deep(2);
  printf("%d %d\n", rounds, total);
  return 0;
}
