// SPDX-License-Identifier: MIT
// Every form of a mutex declaration and of a static initialiser changes with its class.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      relock_mutex_t global = RELOCK_MUTEX_INITIALIZER(global);
// CHECK-NEXT: static relock_mutex_t recursive = RELOCK_RECURSIVE_MUTEX_INITIALIZER(recursive);
// CHECK-NEXT: static relock_mutex_t checking = RELOCK_ERRORCHECK_MUTEX_INITIALIZER(checking);
// CHECK-NEXT: static relock_mutex_t zero = RELOCK_MUTEX_INITIALIZER(zero);
// CHECK-NEXT: static relock_mutex_t several[2] = {RELOCK_MUTEX_INITIALIZER(several),
// CHECK-NEXT:                                      RELOCK_MUTEX_INITIALIZER(several)};
// CHECK:        relock_mutex_t lock;
// CHECK:      static struct box first = {1, RELOCK_MUTEX_INITIALIZER(box_lock), 2};
// CHECK-NEXT: static struct box second = {.after = 3, .lock = RELOCK_MUTEX_INITIALIZER(box_lock)};
// CHECK:        static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(count_lock);
// CHECK:      RELOCK_LOCK_CLASS(box_lock, "box.lock", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(checking, "checking", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(count_lock, "count.lock", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(global, "global", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(recursive, "recursive", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(several, "several", "adaptive");
// CHECK-NEXT: RELOCK_LOCK_CLASS(zero, "zero", "adaptive");
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t zero;
static pthread_mutex_t several[2] = {PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
struct box {
  int before;
  pthread_mutex_t lock;
  int after;
};
static struct box first = {1, PTHREAD_MUTEX_INITIALIZER, 2};
static struct box second = {.after = 3, .lock = PTHREAD_MUTEX_INITIALIZER};
static int total;

static void count(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}

static int recurse(int n) {
  int sum = 0;
  pthread_mutex_lock(&recursive);
  if (n > 0)
    sum = n + recurse(n - 1);
  pthread_mutex_unlock(&recursive);
  return sum;
}

int main(void) {
  count();
  pthread_mutex_lock(&global);
  total += 10;
  pthread_mutex_unlock(&global);
  pthread_mutex_lock(&zero);
  total += 100;
  pthread_mutex_unlock(&zero);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&several[i]);
    total += 1000;
    pthread_mutex_unlock(&several[i]);
  }
  pthread_mutex_lock(&first.lock);
  total += first.before + first.after;
  pthread_mutex_unlock(&first.lock);
  pthread_mutex_lock(&second.lock);
  total += second.after;
  pthread_mutex_unlock(&second.lock);
  int outer = pthread_mutex_lock(&checking), inner = pthread_mutex_lock(&checking);
  pthread_mutex_unlock(&checking);
  printf("%d %d %d %d\n", total, outer, inner, recurse(3));
  return 0;
}
