// SPDX-License-Identifier: MIT
// A member that skipped text operates on is one of the struct that its function declares the
// variable with, or else the text around, if they do; a variable of an inner block, or of another
// function, says nothing.
// RUN: (%verdicts %s; true) | FileCheck %s
// CHECK:      global.spin ({{.*}}): convert
// CHECK:      other.lock ({{.*}}): convert
// CHECK:      queue.lock ({{.*}}): keep
// CHECK:      shadowed.guard ({{.*}}): keep
// CHECK:      typed.mutex ({{.*}}): keep
#include <pthread.h>

struct queue {
  pthread_mutex_t lock;
};
struct other {
  pthread_mutex_t lock;
};
struct global {
  pthread_mutex_t spin;
};
struct shadowed {
  pthread_mutex_t guard;
};
typedef struct typed {
  pthread_mutex_t mutex;
} typed_t;
int total;

void add_global(struct global *g) {
  pthread_mutex_lock(&g->spin);
  total++;
  pthread_mutex_unlock(&g->spin);
}

void add(struct queue *q, struct other *o, struct shadowed *s, typed_t *t) {
  pthread_mutex_lock(&q->lock);
  total++;
  pthread_mutex_unlock(&q->lock);
  pthread_mutex_lock(&o->lock);
  total++;
  pthread_mutex_unlock(&o->lock);
  pthread_mutex_lock(&s->guard);
  total++;
  pthread_mutex_unlock(&s->guard);
  pthread_mutex_lock(&t->mutex);
  total++;
  pthread_mutex_unlock(&t->mutex);
}

#ifdef AUDIT
struct audit {
  pthread_mutex_t lock, guard, mutex, spin;
};
static struct audit **audits;
static void audit_global(int i) { pthread_mutex_lock(&audits[i]->spin); }
static void audit_queue(struct queue *q) { pthread_mutex_lock(&q->lock); }
static void audit(struct audit *q) { pthread_mutex_lock(&q->lock); }
static void audit_shadowed(struct shadowed *q) {
  for (;;) {
    struct audit *q = 0;
    total += q != 0;
  }
  pthread_mutex_lock(&q->guard);
}
static void audit_another(struct audit *q) { total += q != 0; }
static void audit_typed(typed_t *q) { pthread_mutex_lock(&q->mutex); }
#endif
