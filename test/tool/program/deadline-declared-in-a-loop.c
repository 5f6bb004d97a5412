// SPDX-License-Identifier: MIT
// A lock stays the same one where a loop declares, or changes, the deadline of a wait with it: the
// section that takes it within another lock is delegated. It does not where its own operand changes.
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  delegate nested over_timed (
// CHECK-DAG:  hold nested over_walked (
// CHECK-DAG:  takes 'node.walked', whose holder may wait here for other threads [lock-order]
#include <pthread.h>
#include <time.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int total, queued;
struct node {
  pthread_mutex_t walked;
  struct node *next;
};

void consume(void) {
  pthread_mutex_lock(&timed);
  while (queued == 0) {
    struct timespec until;
    struct timespec *deadline = &until;
    clock_gettime(CLOCK_REALTIME, &until);
    deadline = total ? deadline : NULL;
    pthread_cond_timedwait(&ready, &timed, deadline);
  }
  queued--;
  pthread_mutex_unlock(&timed);
}

void over_timed(void) {
  pthread_mutex_lock(&outer);
  total++;
  pthread_mutex_lock(&timed);
  queued++;
  pthread_mutex_unlock(&timed);
  pthread_mutex_unlock(&outer);
}

void walk(struct node *n) {
  pthread_mutex_lock(&n->walked);
  n = n->next;
  pthread_mutex_unlock(&n->walked);
}

void over_walked(struct node *n) {
  pthread_mutex_lock(&outer);
  total++;
  pthread_mutex_lock(&n->walked);
  total++;
  pthread_mutex_unlock(&n->walked);
  pthread_mutex_unlock(&outer);
}
