// SPDX-License-Identifier: MIT
// The other arguments of a wrapper call keep their side effects, and a wrapper that casts its
// parameter locks what it has always locked.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      work2 (wrapper-arguments.c:[[#]])
// CHECK:      work3 (wrapper-arguments.c:[[#]])
#include <pthread.h>
#include <stdio.h>
struct obj { pthread_mutex_t lock; int n; };
struct derived { struct obj base; pthread_mutex_t lock; int m; };
static int traced;
static void lock_obj(struct obj *o, int line) { (void)line; pthread_mutex_lock(&o->lock); }
static void lock_obj2(struct obj *o, int line __attribute__((unused))) { pthread_mutex_lock(&o->lock); }
static void unlock_obj(struct obj *o) { pthread_mutex_unlock(&o->lock); }
static void lock_any(void *o) { pthread_mutex_lock(&((struct obj *)o)->lock); }
static void unlock_any(void *o) { pthread_mutex_unlock(&((struct obj *)o)->lock); }
static struct obj o = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct derived d = {{PTHREAD_MUTEX_INITIALIZER, 0}, PTHREAD_MUTEX_INITIALIZER, 0};
static void work(void) {
  lock_obj(&o, ++traced);
  o.n++;
  unlock_obj(&o);
}
static void work2(void) {
  lock_obj2(&o, ++traced);
  o.n++;
  unlock_obj(&o);
}
static int locked(void) {
  int r = pthread_mutex_trylock(&d.lock);
  if (r == 0)
    pthread_mutex_unlock(&d.lock);
  return r != 0;
}
static int work3(struct derived *p) {
  int r;
  lock_any(p);
  p->m++;
  r = locked();
  unlock_any(p);
  return r;
}
static void *run(void *unused) {
  for (int i = 0; i < 5000; i++)
    work3(&d);
  return unused;
}
int main(void) {
  pthread_t t[4];
  work();
  work2();
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 5000; i++) {
    lock_any(&d.base);
    d.m++;
    unlock_any(&d.base);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  int r = work3(&d);
  printf("%d %d %d %d\n", traced, o.n, d.m, r);
  return 0;
}
