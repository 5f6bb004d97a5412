// SPDX-License-Identifier: MIT
// What a skipped operation is on is read from its argument: an index names no lock, a field is that
// of its struct, and a macro's argument is what its body operates on. The address of a variable
// that only skipped text declares is a lock of its own; declarations and names of macros are no
// operations.
// RUN: (%verdicts %s; true) | FileCheck %s
// CHECK:      aliased ({{.*}}): keep
// CHECK:      buried ({{.*}}): keep
// CHECK:      deep ({{.*}}): convert
// CHECK:      free_lock ({{.*}}): convert
// CHECK:      i ({{.*}}): convert
// CHECK:      queue.lock ({{.*}}): keep
// CHECK-NEXT:   uncovered-operands.c:[[#]]: may be operated on here, in text that no indexed configuration compiles (#ifdef OTHER); index one that does [uncovered]
// CHECK:      table ({{.*}}): keep
// CHECK:      waited ({{.*}}): keep
// CHECK-NEXT:   uncovered-operands.c:[[#]]: {{.*}} [uncovered]
// CHECK:      8 lock sites: 1 delegate, 2 hold, 0 keep, 5 uncovered
#include <pthread.h>

struct queue {
  pthread_mutex_t lock;
};
static pthread_mutex_t table[4];
static pthread_mutex_t free_lock;
static pthread_mutex_t i;
static pthread_mutex_t aliased;
static pthread_mutex_t buried;
static pthread_mutex_t deep;
static pthread_mutex_t waited;
static pthread_cond_t cond;
static struct queue queue;
int total;
#define LOCK pthread_mutex_lock
#define DEEP(unused, m) DEEPER(&(m), 0)
#define DEEPER(m, n) (pthread_mutex_lock(m) + (n))

void all(int at) {
  pthread_mutex_lock(&free_lock);
  total++;
  pthread_mutex_unlock(&free_lock);
  pthread_mutex_lock(&i);
  pthread_mutex_unlock(&i);
  DEEP(at, deep);
}
#ifdef OTHER
static pthread_mutex_t own;
extern int pthread_mutex_lock(pthread_mutex_t *anything);
#define pthread_mutex_trylock(m) 0
#undef pthread_mutex_trylock
void other(struct queue *q, int i) {
  pthread_mutex_lock(&table[i]);
  pthread_mutex_lock(&q->lock);
  LOCK(&aliased);
  DEEP(free_lock, buried);
  pthread_cond_wait(&cond, &waited);
  pthread_mutex_lock(&own);
}
#endif
