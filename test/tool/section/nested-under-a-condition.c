// SPDX-License-Identifier: MIT
// A lock that all its operations in a function take or release under one condition, which does not
// change, is released on each path: sections around it and within it are delegated, where the order of
// the locks allows. Where the condition may change between, the lock may stay held.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG: delegate nested within
// CHECK-DAG: delegate straight within
// CHECK-DAG: delegate nested noted
// CHECK-DAG: delegate straight noted
// CHECK-DAG: delegate nested both
// CHECK-DAG: delegate straight both
// CHECK-DAG: hold nested changing
// CHECK-DAG: hold nested member
// CHECK-DAG: hold nested either
// CHECK-DAG: :58: takes another lock here, and may not release it on each path [nested]
// CHECK-DAG: :70: takes another lock here, and may not release it on each path [nested]
// CHECK-DAG: :92: takes another lock here, and may not release it on each path [nested]
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t around = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static int total, other;
struct flags {
  int shared;
};

static void within(bool shared) {
  if (shared)
    pthread_mutex_lock(&outer);
  total++;
  pthread_mutex_lock(&inner);
  other++;
  pthread_mutex_unlock(&inner);
  if (shared)
    pthread_mutex_unlock(&outer);
}

static void noted(int shared) {
  bool locked = false;
  if (shared > 1) {
    pthread_mutex_lock(&outer);
    locked = true;
  }
  total++;
  pthread_mutex_lock(&inner);
  other++;
  pthread_mutex_unlock(&inner);
  if (locked)
    pthread_mutex_unlock(&outer);
}

static void changing(int shared) {
  pthread_mutex_lock(&around);
  if (shared)
    pthread_mutex_lock(&kept);
  other++;
  shared += other < 0;
  if (shared)
    pthread_mutex_unlock(&kept);
  total++;
  pthread_mutex_unlock(&around);
}

static void member(struct flags *flags) {
  pthread_mutex_lock(&around);
  if (flags->shared)
    pthread_mutex_lock(&kept);
  other++;
  if (flags->shared)
    pthread_mutex_unlock(&kept);
  total++;
  pthread_mutex_unlock(&around);
}

static void both(int shared, int more) {
  pthread_mutex_lock(&outer);
  if (shared && more > 1)
    pthread_mutex_lock(&inner);
  other++;
  if (shared && more > 1)
    pthread_mutex_unlock(&inner);
  total++;
  pthread_mutex_unlock(&outer);
}

static void either(int shared, int more) {
  pthread_mutex_lock(&around);
  if (shared || more > 1)
    pthread_mutex_lock(&kept);
  other++;
  if (shared && more > 1)
    pthread_mutex_unlock(&kept);
  total++;
  pthread_mutex_unlock(&around);
}

int main(void) {
  struct flags flags = {1};
  int i;
  for (i = 0; i < 4; i++)
    within(i > 1), noted(i), changing(i > 2), member(&flags), both(i > 1, i);
  either(0, 0);
  printf("%d %d\n", total, other);
  return 0;
}
