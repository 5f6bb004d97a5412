// SPDX-License-Identifier: MIT
// A project's own initialiser macro changes where it is defined.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      #define BOX_INIT(n) {RELOCK_MUTEX_INITIALIZER(box_lock), n}
// CHECK:      static struct box boxes[2] = {BOX_INIT(1), BOX_INIT(2)};
#include <pthread.h>
#include <stdio.h>

struct box {
  pthread_mutex_t lock;
  int n;
};
#define BOX_INIT(n) {PTHREAD_MUTEX_INITIALIZER, n}
static struct box boxes[2] = {BOX_INIT(1), BOX_INIT(2)};

int main(void) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&boxes[i].lock);
    boxes[i].n += 10;
    pthread_mutex_unlock(&boxes[i].lock);
  }
  printf("%d %d\n", boxes[0].n, boxes[1].n);
  return 0;
}
