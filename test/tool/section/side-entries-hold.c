// SPDX-License-Identifier: MIT
// A section that a goto or another case of an outer switch enters holds and names the entry.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight jump
// CHECK-NEXT: a goto enters the section [side-entry]
// CHECK:      hold straight select
// CHECK-NEXT: a case of an outer switch enters the section here [side-entry]
// CHECK:      3 lock sites: 0 delegate, 3 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void jump(int locked) {
  if (locked)
    goto have_it;
  pthread_mutex_lock(&lock);
  total++;
have_it:
  total += 10;
  pthread_mutex_unlock(&lock);
}

static void select(int locked) {
  switch (locked) {
  case 0:
    pthread_mutex_lock(&lock);
    total++; /* fall through */
    __attribute__((fallthrough));
  case 1:
    total += 10;
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  jump(0);
  pthread_mutex_lock(&lock);
  jump(1);
  select(0);
  printf("%d\n", total);
  return 0;
}
