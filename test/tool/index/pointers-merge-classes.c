// SPDX-License-Identifier: MIT
// Locks that one pointer can mean are one class, whatever way the pointer goes: an initialiser of
// a struct or an array, a conditional, a parameter without a name in its prototype.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      a (pointers-merge-classes.c:[[#]]): convert
// CHECK:      delegate straight on
// CHECK:      delegate straight main
// CHECK:      delegate straight main
// CHECK-NOT:  {{^}}b (
// CHECK:      held (pointers-merge-classes.c:[[#]]): convert
// CHECK-NEXT:   delegate straight main
// CHECK:      later (pointers-merge-classes.c:[[#]]): convert
// CHECK-NEXT:   delegate straight main
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *all[] = {&a, &b};
struct config {
  pthread_mutex_t *lock;
  int n;
};
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static struct config config = {.lock = &held};
static int total;

static void on(pthread_mutex_t *);
static void on(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  total++;
  pthread_mutex_unlock(m);
}

int main(int argc, char **argv) {
  extern pthread_mutex_t later;
  (void)argv;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(all[i]);
    total++;
    pthread_mutex_unlock(all[i]);
  }
  pthread_mutex_lock(config.lock);
  config.n++;
  pthread_mutex_unlock(config.lock);
  pthread_mutex_t *m = argc > 1 ? &a : &b;
  pthread_mutex_lock(m);
  total++;
  pthread_mutex_unlock(m);
  on(m);
  pthread_mutex_lock(&later);
  total++;
  pthread_mutex_unlock(&later);
  printf("%d %d\n", total, config.n);
  return 0;
}

pthread_mutex_t later = PTHREAD_MUTEX_INITIALIZER;
