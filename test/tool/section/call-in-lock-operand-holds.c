// SPDX-License-Identifier: MIT
// A call in the lock operand happens twice, at the lock and at the unlock, and may answer
// otherwise: such a section holds, through wrappers too.
// RUN: %check_rewrite %s --algorithms=posix,mcs
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (call-in-lock-operand-holds.c:[[#]])
// CHECK:      the lock operand calls a function, at the lock and at the unlock [lock-expression]
// CHECK:      hold straight work2
// CHECK:      the lock operand calls a function, at the lock and at the unlock [lock-expression]
// CHECK:      hold straight work3
// CHECK-NEXT: 'i' in the lock operand changes in the section [lock-expression]
#include <pthread.h>
#include <stdio.h>
struct box { pthread_mutex_t lock; int n; };
static struct box boxes[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static int picks, index_;
static struct box *pick(void) { picks++; return &boxes[index_]; }
static void enter(struct box *b) { pthread_mutex_lock(&b->lock); }
static void leave(struct box *b) { pthread_mutex_unlock(&b->lock); }
static int ends(void) {
  return (pthread_mutex_trylock(&boxes[0].lock) == 0) * 2 + (pthread_mutex_trylock(&boxes[1].lock) == 0);
}
static void work(void) {
  pthread_mutex_lock(&pick()->lock);
  index_ = 1;
  pthread_mutex_unlock(&pick()->lock);
}
static void work2(void) {
  enter(pick());
  boxes[0].n++;
  leave(pick());
}
static int i;
static void work3(void) {
  pthread_mutex_lock(&boxes[i].lock);
  i = 1;
  pthread_mutex_unlock(&boxes[i].lock);
}
int main(void) {
  pthread_mutex_lock(&boxes[1].lock);
  work();
  printf("%d %d\n", picks, ends());
  pthread_mutex_unlock(&boxes[0].lock);
  pthread_mutex_unlock(&boxes[1].lock);
  index_ = 0;
  work2();
  printf("%d %d\n", picks, boxes[0].n);
  pthread_mutex_lock(&boxes[1].lock);
  work3();
  printf("%d\n", ends());
  pthread_mutex_unlock(&boxes[0].lock);
  pthread_mutex_unlock(&boxes[1].lock);
  return 0;
}
