// A class is no accident where what the flow hands on is operated on, where more than one flow joins the
// two, or where they meet with their type.
// RUN: (%verdicts %s; true) 2>&1 | FileCheck %s
// CHECK-NOT: accidental-merge
// CHECK:     exit status
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t e = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t f = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t never_locked = PTHREAD_MUTEX_INITIALIZER;
int n;
// Locks what it is given.
void count(void *p) {
  pthread_mutex_t *m = p;
  pthread_mutex_lock(m);
  n++;
  pthread_mutex_unlock(m);
}
void operated(void) {
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  count(&a);
  count(&b);
}
// Gives it back, and that is locked.
void *same(void *p) { return p; }
void through(void) {
  pthread_mutex_t *m = same(&c);
  pthread_mutex_lock(m);
  pthread_mutex_unlock(m);
  pthread_mutex_lock(&c);
  pthread_mutex_unlock(&c);
  pthread_mutex_lock(&d);
  pthread_mutex_unlock(&d);
  same(&d);
}
// With its type: to cut that would split what the compiler knows to be one.
void typed(pthread_mutex_t *m) { n += m != 0; }
void meet(void) {
  pthread_mutex_lock(&e);
  pthread_mutex_unlock(&e);
  pthread_mutex_lock(&f);
  pthread_mutex_unlock(&f);
  typed(&e);
  typed(&f);
}
// Nothing to gain: one of the two is not locked.
void trace(void *p) { n += p != 0; }
void nothing(void) {
  trace(&never_locked);
  trace(&n);
}
