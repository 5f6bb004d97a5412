// SPDX-License-Identifier: MIT
// A lock's address that is only dropped keeps nothing, and a mark such as `(void *)1` in a pointer to one
// mixes nothing: but for one that may be an address.
// RUN: %verdicts %s | FileCheck %s
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static int total;
static void *boxes[4];

// CHECK:      dropped (pointers-that-go-nowhere.c:[[#@LINE+2]]): convert
// CHECK-NEXT: delegate straight drops
static pthread_mutex_t dropped = PTHREAD_MUTEX_INITIALIZER;
#define ASSERT_LOCKED(m) ((void)(m))
static void drops(void *unused) {
  (void)unused;
  pthread_mutex_lock(&dropped);
  ASSERT_LOCKED(&dropped);
  (void)dropped;
  total++;
  pthread_mutex_unlock(&dropped);
}

// CHECK:      fixed (pointers-that-go-nowhere.c:[[#@LINE+2]]): keep
// CHECK-NEXT: pointers-that-go-nowhere.c:[[#@LINE+2]]: mixes with a pointer that is not followed [pointer-cast]
static pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *on_the_device(int real) { return real ? (pthread_mutex_t *)0x40000000 : &fixed; }

// CHECK:      mapped (pointers-that-go-nowhere.c:[[#@LINE+2]]): keep
// CHECK-NEXT: pointers-that-go-nowhere.c:[[#@LINE+5]]: mixes with a pointer that is not followed [pointer-cast]
static pthread_mutex_t mapped = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *device(int real) {
  pthread_mutex_t *m = &mapped;
  if (real)
    m = (pthread_mutex_t *)(uintptr_t)boxes[0];
  return m;
}

// CHECK:      marked (pointers-that-go-nowhere.c:[[#@LINE+2]]): convert
// CHECK-NEXT: delegate straight marks
static pthread_mutex_t marked = PTHREAD_MUTEX_INITIALIZER;
static void marks(void) {
  pthread_mutex_t *once = NULL, *never = (pthread_mutex_t *)-1, *m = &marked;
  if (once == NULL && never != m)
    once = (void *)1;
  if (once == never)
    m = once;
  pthread_mutex_lock(m);
  total++;
  pthread_mutex_unlock(m);
}

// CHECK: 4 lock sites
int main(void) {
  boxes[1] = &total;
  drops(0);
  marks();
  pthread_mutex_lock(device(0));
  pthread_mutex_lock(on_the_device(0));
  printf("%d\n", total);
  pthread_mutex_unlock(on_the_device(0));
  pthread_mutex_unlock(device(0));
  return 0;
}
