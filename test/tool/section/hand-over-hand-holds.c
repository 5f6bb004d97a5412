// SPDX-License-Identifier: MIT
// Two sections that overlap, neither within the other, hold: each place says which lock it is
// about. Balanced nesting in the same file holds for its order, and its inner section delegates.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold nested crossed
// CHECK-NEXT: takes another lock here, and keeps it beyond its end [hand-over-hand]
// CHECK:      delegate straight balanced
// CHECK:      hold nested walk
// CHECK-NEXT: takes another lock here, and keeps it beyond its end [hand-over-hand]
// CHECK:      hold nested walk
// CHECK-NEXT: releases another lock here, which was taken before it [hand-over-hand]
// CHECK:      hold nested crossed
// CHECK-NEXT: releases another lock here, which was taken before it [hand-over-hand]
// CHECK:      hold nested balanced
// CHECK-NEXT: takes 'first', whose holder may wait for 'second' here [lock-order]
// CHECK:      6 lock sites: 1 delegate, 5 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

struct node {
  pthread_mutex_t lock;
  int count;
};

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static struct node list[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static int total;

static void crossed(int amount) {
  pthread_mutex_lock(&first);
  total += amount;
  pthread_mutex_lock(&second);
  total++;
  pthread_mutex_unlock(&first);
  total--;
  pthread_mutex_unlock(&second);
}

static void balanced(int amount) {
  pthread_mutex_lock(&second);
  total += amount;
  pthread_mutex_lock(&first);
  total++;
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
}

static void walk(struct node *node, struct node *next) {
  pthread_mutex_lock(&node->lock);
  node->count++;
  pthread_mutex_lock(&next->lock);
  pthread_mutex_unlock(&node->lock);
  next->count++;
  pthread_mutex_unlock(&next->lock);
}

int main(void) {
  crossed(2);
  balanced(3);
  walk(&list[0], &list[1]);
  printf("%d %d %d\n", total, list[0].count, list[1].count);
  return 0;
}
