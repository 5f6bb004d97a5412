// SPDX-License-Identifier: MIT
// A lock wrapper may give a name to what its lock is reached through: a member of its parameter, a
// global pointer, an element, an index, the lock itself. Its callers have the sections that they
// would have if the wrapper said so in one expression: what that reads must not change in them.
// Where the wrapper may have changed it before the lock, or calls for it, nobody knows which it is.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// TEXT-DAG: relock_execute_any_thread(&h->queue->m, member_section, h);
// TEXT-DAG: relock_execute_resumable_any_thread(&h->queue->m, waits_section,
// TEXT-DAG: relock_execute_any_thread(&h->own.m, own_section, h);
// TEXT-DAG: relock_execute_any_thread(&the.own.m, object_section, NULL);
// TEXT-DAG: relock_execute_any_thread(&current->m, global_section, NULL);
// TEXT-DAG: relock_execute_any_thread(&(&table[i & mask])->m, section, context);
// TEXT-DAG: relock_execute_any_thread(&table[((unsigned char)(i))].m, section, context);
// TEXT-DAG: relock_execute_any_thread(&h->queue->m, macros_section, h);
// TEXT-DAG: relock_execute_any_thread(&h->queue->m, relayed_section, h);
// TEXT-DAG: relock_execute_any_thread(&(((struct handle *)(p))->queue)->m, section, context);
// TEXT-DAG: relock_execute_any_thread(&((struct queue *)(QUEUE_AROUND(next)))->m, section, context);
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

struct queue {
  pthread_mutex_t m;
  pthread_cond_t c;
  int n;
  struct queue *next;
};
struct handle {
  struct queue *queue;
  struct queue own;
};
static struct queue spare = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1, NULL};
struct queue *current = &spare;
static struct queue table[8];
static unsigned mask = 7, next;
static struct handle the;
static int notes;
static void note(void) { notes++; }
struct queue *queue_of(struct handle *h) { return h->queue; }

static void member_lock(struct handle *h) {
  struct handle *const k = h;
  struct queue *q = k->queue;
  pthread_mutex_t *const m = &q->m;
  pthread_mutex_lock(m);
}
static void member_unlock(struct handle *h) { pthread_mutex_unlock(&h->queue->m); }
// CHECK-DAG: delegate straight member
void member(struct handle *h) {
  member_lock(h);
  h->queue->n++;
  member_unlock(h);
}

static void member_wait(struct handle *h) {
  struct queue *q = h->queue;
  pthread_cond_wait(&q->c, &q->m);
}
// CHECK-DAG: delegate waiting waits
void waits(struct handle *h) {
  member_lock(h);
  while (!h->queue->n)
    member_wait(h);
  h->queue->n--;
  member_unlock(h);
}

// CHECK-DAG: hold straight moves
// CHECK-DAG: 'queue' in the lock operand changes in the section [lock-expression]
void moves(struct handle *h) {
  member_lock(h);
  struct queue *q = h->queue;
  h->queue = &spare;
  h->queue = q;
  member_unlock(h);
}

static void move(struct handle *h) { h->queue = h->queue; }
// CHECK-DAG: hold straight moves_below
void moves_below(struct handle *h) {
  member_lock(h);
  move(h);
  member_unlock(h);
}

static void own_lock(struct handle *h) {
  struct queue *q = &h->own;
  pthread_mutex_lock(&q->m);
}
static void own_unlock(struct handle *h) {
  struct queue *q = &h->own;
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight own
void own(struct handle *h) {
  own_lock(h);
  h->own.n++;
  own_unlock(h);
}

static void object_lock(void) {
  struct queue *q = &the.own;
  pthread_mutex_lock(&q->m);
}
static void object_unlock(void) {
  struct queue *q = &the.own;
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight object
void object(void) {
  object_lock();
  the.own.n++;
  object_unlock();
}

static void global_lock(void) {
  struct queue *q = current;
  pthread_mutex_lock(&q->m);
}
static void global_unlock(void) {
  struct queue *q = current;
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight global
void global(void) {
  global_lock();
  spare.n++;
  global_unlock();
}

static void element_lock(unsigned i) {
  struct queue *q = &table[i & mask];
  pthread_mutex_lock(&q->m);
}
static void element_unlock(unsigned i) {
  struct queue *q = &table[i & mask];
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight element
void element(unsigned i) {
  element_lock(i);
  table[i & 7].n++;
  element_unlock(i);
}

static void narrow_lock(unsigned i) {
  unsigned char k = i;
  pthread_mutex_lock(&table[k].m);
}
static void narrow_unlock(unsigned i) {
  unsigned char k = i;
  pthread_mutex_unlock(&table[k].m);
}
// CHECK-DAG: delegate straight narrow
void narrow(unsigned i) {
  narrow_lock(i);
  table[i & 7].n++;
  narrow_unlock(i);
}
static void wide_unlock(unsigned i) { pthread_mutex_unlock(&table[i].m); }
// CHECK-DAG: hold cross-function unlike
void unlike(unsigned i) {
  narrow_lock(i);
  table[i & 7].n++;
  wide_unlock(i);
}

#define QUEUE_OF(h) ((h)->queue)
#define LOCK_OF(q) (&(q)->m)
static void macros_lock(struct handle *h) {
  struct queue *q = QUEUE_OF(h);
  pthread_mutex_lock(LOCK_OF(q));
}
static void macros_unlock(struct handle *h) {
  struct queue *q = QUEUE_OF(h);
  pthread_mutex_unlock(LOCK_OF(q));
}
// CHECK-DAG: delegate straight macros
void macros(struct handle *h) {
  macros_lock(h);
  h->queue->n++;
  macros_unlock(h);
}

static void queue_lock(struct queue *q) { pthread_mutex_lock(&q->m); }
static void queue_unlock(struct queue *q) { pthread_mutex_unlock(&q->m); }
static void relayed_lock(struct handle *h) {
  struct queue *q = h->queue;
  queue_lock(q);
}
static void relayed_unlock(struct handle *h) {
  struct queue *q = h->queue;
  queue_unlock(q);
}
// CHECK-DAG: delegate straight relayed
void relayed(struct handle *h) {
  relayed_lock(h);
  h->queue->n++;
  relayed_unlock(h);
}

static void untyped_lock(void *p) {
  struct handle *h = p;
  struct queue *q = h->queue;
  pthread_mutex_lock(&q->m);
}
static void untyped_unlock(void *p) {
  struct handle *h = p;
  struct queue *q = h->queue;
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight untyped
void untyped(struct handle *h) {
  untyped_lock(h);
  h->queue->n++;
  untyped_unlock(h);
}
static void as_queue_unlock(void *p) {
  struct queue *q = p;
  pthread_mutex_unlock(&q->m);
}
static void as_queue_lock(void *p) {
  struct queue *q = p;
  pthread_mutex_lock(&q->m);
}
#define QUEUE_AROUND(next) ((struct queue *)((char *)(next) - offsetof(struct queue, next)))
static void around_lock(struct queue **next) {
  struct queue *q = QUEUE_AROUND(next);
  pthread_mutex_lock(&q->m);
}
static void around_unlock(struct queue **next) {
  struct queue *q = QUEUE_AROUND(next);
  pthread_mutex_unlock(&q->m);
}
// CHECK-DAG: delegate straight around
void around(struct queue **next) {
  around_lock(next);
  spare.n++;
  around_unlock(next);
}

struct other {
  int first;
  pthread_mutex_t m;
};
static void as_other_unlock(void *p) {
  struct other *o = p;
  pthread_mutex_unlock(&o->m);
}
// CHECK-DAG: delegate straight as_queue
void as_queue(struct queue *q) {
  as_queue_lock(q);
  q->n++;
  as_queue_unlock(q);
}
// CHECK-DAG: hold cross-function as_other
void as_other(void *p) {
  as_queue_lock(p);
  ((struct queue *)p)->n++;
  as_other_unlock(p);
}

// Its type is another one in the converted program.
static void any_lock(void *p) {
  pthread_mutex_t *m = p;
  pthread_mutex_lock(m);
}
static void any_unlock(void *p) {
  pthread_mutex_t *m = p;
  pthread_mutex_unlock(m);
}
// CHECK-DAG: hold straight any
void any(struct queue *q) {
  any_lock(&q->m);
  q->n++;
  any_unlock(&q->m);
}

// CHECK-DAG: delegate straight more
static void more_lock(struct handle *h) {
  struct queue *q = h->queue;
  pthread_mutex_lock(&q->m);
  note();
}
void more(struct handle *h) {
  more_lock(h);
  h->queue->n++;
  member_unlock(h);
}

// None of these has sections in its callers: the lock may be another one than the name says.
static void noted_lock(struct handle *h) {
  struct queue *q = h->queue;
  note();
  pthread_mutex_lock(&q->m);
}
static void next_lock(struct handle *h) {
  struct queue *q = h->queue;
  h->queue = q->next;
  pthread_mutex_lock(&q->m);
}
static void behind_lock(struct handle *h) {
  struct queue *q = h->queue;
  pthread_mutex_lock(&q->m);
  h->queue = q->next;
}
static void tested_lock(struct handle *h) {
  struct queue *q = h->queue;
  if ((note(), 1) + pthread_mutex_lock(&q->m) > 1)
    note();
}
static void any_element_lock(void) {
  struct queue *q = &table[next++ & 7];
  pthread_mutex_lock(&q->m);
}
static void called_lock(struct handle *h) {
  struct queue *q = queue_of(h);
  pthread_mutex_lock(&q->m);
}
static void assigned_lock(struct handle *h) {
  struct queue *q;
  q = h->queue;
  pthread_mutex_lock(&q->m);
}
static void through_lock(struct handle *h) {
  struct queue *q = h->queue, *r = q;
  q = &spare;
  pthread_mutex_lock(&r->m);
}
// CHECK-NOT: delegate {{[a-z-]+}} nobody
void nobody(struct handle *h) {
  noted_lock(h);
  next_lock(h);
  behind_lock(h);
  tested_lock(h);
  any_element_lock();
  called_lock(h);
  assigned_lock(h);
  through_lock(h);
}

int main(void) {
  struct handle h = {&spare, {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, NULL}};
  for (int k = 0; k < 8; k++)
    pthread_mutex_init(&table[k].m, NULL);
  pthread_mutex_init(&the.own.m, NULL);
  member(&h), waits(&h), moves(&h), moves_below(&h), own(&h), object(), global();
  element(11), narrow(2), macros(&h), relayed(&h), untyped(&h), as_queue(&spare), more(&h);
  any(&spare), around(&spare.next);
  printf("%d %d %d %d %d\n", spare.n, h.own.n, the.own.n, table[3].n, table[2].n);
  return 0;
}
