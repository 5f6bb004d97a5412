// SPDX-License-Identifier: MIT
// A section that takes another lock holds where the thread that runs it could wait in a circle: the
// other lock's holders may wait for this one, over a third, or for something else, or it is another
// lock of one class. What is just not refused: the same nesting in one order, a trylock against the
// order, and locks of one class in different fields.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  hold nested a_then_b
// CHECK-DAG:  takes 'b', whose holder may wait for 'c', whose holder may wait for 'a' here [lock-order]
// CHECK-DAG:  hold nested b_then_c
// CHECK-DAG:  takes 'c', whose holder may wait for 'a', whose holder may wait for 'b' here [lock-order]
// CHECK-DAG:  hold straight c_then_a
// CHECK-DAG:  calls 'take_a', which takes 'a', whose holder may wait for 'b', whose holder may wait for 'c' here [lock-order]
// CHECK-DAG:  delegate straight take_a
// CHECK-DAG:  delegate nested forwards
// CHECK-DAG:  hold nested two_elements
// CHECK-DAG:  takes another lock of its own class here [lock-order]
// CHECK-DAG:  delegate nested then_tried
// CHECK-DAG:  hold nested then_waited
// CHECK-DAG:  takes 'waited', whose holder may wait here for other threads [lock-order]
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct list {
  pthread_mutex_t lock;
  int size;
};
struct pipe {
  struct list in, out;
};
static struct pipe shared = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
struct element {
  pthread_mutex_t element_lock;
  int count;
};
static struct element elements[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;
static sem_t slots;
static int total, slot;

static void take_a(void) {
  pthread_mutex_lock(&a);
  total++;
  pthread_mutex_unlock(&a);
}

static void a_then_b(void) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  total++;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
}

static void b_then_c(void) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&c);
  total++;
  pthread_mutex_unlock(&c);
  pthread_mutex_unlock(&b);
}

static void c_then_a(void) {
  pthread_mutex_lock(&c);
  take_a();
  pthread_mutex_unlock(&c);
}

static void forwards(struct pipe *p) {
  pthread_mutex_lock(&p->in.lock);
  pthread_mutex_lock(&p->out.lock);
  p->out.size += p->in.size;
  pthread_mutex_unlock(&p->out.lock);
  p->in.size = 1;
  pthread_mutex_unlock(&p->in.lock);
}

static void two_elements(struct element *first, struct element *second) {
  pthread_mutex_lock(&first->element_lock);
  first->count++;
  pthread_mutex_lock(&second->element_lock);
  second->count++;
  pthread_mutex_unlock(&second->element_lock);
  pthread_mutex_unlock(&first->element_lock);
}

static void then_tried(void) {
  pthread_mutex_lock(&tried);
  pthread_mutex_lock(&last);
  slot++;
  pthread_mutex_unlock(&last);
  pthread_mutex_unlock(&tried);
}

static void against(void) {
  pthread_mutex_lock(&last);
  if (pthread_mutex_trylock(&tried) == 0) {
    slot++;
    pthread_mutex_unlock(&tried);
  }
  pthread_mutex_unlock(&last);
}

static void take_slot(void) {
  pthread_mutex_lock(&waited);
  sem_wait(&slots);
  slot++;
  pthread_mutex_unlock(&waited);
}

static void then_waited(void) {
  pthread_mutex_lock(&tried);
  pthread_mutex_lock(&waited);
  slot++;
  pthread_mutex_unlock(&waited);
  pthread_mutex_unlock(&tried);
}

int main(void) {
  sem_init(&slots, 0, 1);
  take_a();
  a_then_b();
  b_then_c();
  c_then_a();
  forwards(&shared);
  two_elements(&elements[0], &elements[1]);
  then_tried();
  against();
  take_slot();
  then_waited();
  printf("%d %d %d %d\n", total, slot, shared.in.size, elements[1].count);
  return 0;
}
