// SPDX-License-Identifier: MIT
// Arrays that a range designator initialises, with alignment in either spelling.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static relock_mutex_t lock __attribute__((aligned(64))) = RELOCK_MUTEX_INITIALIZER(lock);
// CHECK-NEXT: static _Alignas(64) relock_mutex_t locks[16] = {[0 ... 15] = RELOCK_MUTEX_INITIALIZER(locks)};
// CHECK-NEXT: struct cell { relock_mutex_t m; int n; };
// CHECK-NEXT: static struct cell cells[4] = {[0 ... 3] = {RELOCK_MUTEX_INITIALIZER(cell_m), 2}};
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) pthread_mutex_t locks[16] = {[0 ... 15] = PTHREAD_MUTEX_INITIALIZER};
struct cell { pthread_mutex_t m; int n; };
static struct cell cells[4] = {[0 ... 3] = {PTHREAD_MUTEX_INITIALIZER, 2}};
static int total;

__attribute__((noinline))
static void work(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&locks[n]);
  total += n;
  pthread_mutex_unlock(&locks[n]);
  pthread_mutex_lock(&cells[n].m);
  total += cells[n].n;
  pthread_mutex_unlock(&cells[n].m);
}

int main(void) {
  work(1);
  work(3);
  printf("%d\n", total);
  return 0;
}
