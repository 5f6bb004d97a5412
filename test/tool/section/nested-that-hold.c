// SPDX-License-Identifier: MIT
// Sections that take another lock and hold, each with its reason: the other lock may not be released
// on each path, is only tried, or is taken beside a wait. The inner ones delegate where they can.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  hold nested sometimes
// CHECK-DAG:  takes another lock here, and may not release it on each path [nested]
// CHECK-DAG:  hold nested tries
// CHECK-DAG:  tries to take another lock here [nested]
// CHECK-DAG:  hold nested waits
// CHECK-DAG:  waits on a condition variable, and takes another lock [nested]
// CHECK-DAG:  hold nested changes
// CHECK-DAG:  delegate straight waits
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t maybe = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pair[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int total, ready = 1;

static void sometimes(int twice) {
  pthread_mutex_lock(&outer);
  if (twice > 1)
    pthread_mutex_lock(&maybe);
  total++;
  if (twice >= 2)
    pthread_mutex_unlock(&maybe);
  pthread_mutex_unlock(&outer);
}

static void tries(void) {
  pthread_mutex_lock(&outer);
  if (pthread_mutex_trylock(&maybe) == 0) {
    total++;
    pthread_mutex_unlock(&maybe);
  }
  pthread_mutex_unlock(&outer);
}

static void waits(void) {
  pthread_mutex_lock(&outer);
  while (!ready)
    pthread_cond_wait(&changed, &outer);
  pthread_mutex_lock(&inner);
  total++;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
}

static void changes(int i) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&pair[i]);
  pthread_mutex_lock(&pair[i + 1]);
  pthread_mutex_unlock(&pair[i]);
  i++;
  total++;
  pthread_mutex_unlock(&pair[i]);
  pthread_mutex_unlock(&outer);
}

int main(void) {
  sometimes(1);
  sometimes(2);
  tries();
  waits();
  changes(0);
  printf("%d\n", total);
  return 0;
}
