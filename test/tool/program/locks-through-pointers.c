// SPDX-License-Identifier: MIT
// Pointers to mutexes that are passed through pointers to functions: all functions of such a type
// whose address is taken, and all calls through it, have one lock class, and the types change with
// it: of members, parameters, typedefs, arrays and casts.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,adaptive,ccsynch,rcl
// RUN: %rewritten %s --all | FileCheck --check-prefix=TEXT %s
// CHECK:      apart ({{.*}}): convert
// CHECK-NEXT:   delegate straight alone
// CHECK:      queue.lock ({{.*}}): convert
// CHECK:        hold cross-function take_lock
// CHECK-NEXT:     is a lock wrapper; its sections are listed where it is called [cross-function]
// CHECK-NEXT:   delegate straight add
// CHECK-NEXT:   delegate straight count
// CHECK:      4 lock sites: 3 delegate, 1 hold, 0 keep, 0 uncovered
// TEXT:     typedef void (*locker)(relock_mutex_t *);
// TEXT:     locker take;
// TEXT:     void (*drop)(relock_mutex_t *lock);
// TEXT:     static int (*const tests[])(relock_mutex_t *)
// TEXT:     static void with(void (*use)(relock_mutex_t *, int), relock_mutex_t *lock)
// TEXT:     ((void (*)(relock_mutex_t *))given)(&q->lock);
#include <pthread.h>
#include <stdio.h>

typedef void (*locker)(pthread_mutex_t *);

struct queue {
  pthread_mutex_t lock;
  int length;
  locker take;
  void (*drop)(pthread_mutex_t *lock);
};

static pthread_mutex_t apart = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void take_lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void take_none(pthread_mutex_t *m) { (void)m; }
static void drop_lock(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static void drop_none(pthread_mutex_t *m) { (void)m; }

static void add(pthread_mutex_t *m, int n) {
  pthread_mutex_lock(m);
  total += n;
  pthread_mutex_unlock(m);
}

static int is_set(pthread_mutex_t *m) { return m != NULL; }
static int (*const tests[])(pthread_mutex_t *) = {is_set};

static void with(void (*use)(pthread_mutex_t *, int), pthread_mutex_t *lock) { use(lock, 2); }

static void push(struct queue *q) {
  q->take(&q->lock);
  q->length++;
  q->drop(&q->lock);
}

static void again(struct queue *q, locker given) {
  ((void (*)(pthread_mutex_t *))given)(&q->lock);
  q->length++;
  q->drop(&q->lock);
}

static void count(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  total += q->length;
  pthread_mutex_unlock(&q->lock);
}

static void alone(void) {
  pthread_mutex_lock(&apart);
  total++;
  pthread_mutex_unlock(&apart);
}

static struct queue shared = {PTHREAD_MUTEX_INITIALIZER, 0, take_lock, drop_lock};
static struct queue own = {PTHREAD_MUTEX_INITIALIZER, 0, take_none, drop_none};

static void *work(void *unused) {
  for (int i = 0; i < 1000; i++)
    push(&shared), again(&shared, take_lock);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  push(&own);
  count(&shared);
  alone();
  with(add, &shared.lock);
  printf("%d %d\n", total, tests[0](&own.lock));
  return 0;
}
