// SPDX-License-Identifier: MIT
// What a failed lock would do goes with the test of its result, also where it calls a static function or counts
// in a static variable, if something else names that: a function without lock operations, or an initialiser.
// A wrapper may say that its parameter is used.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate straight returned
// CHECK-NEXT: delegate early-exit exits
// CHECK-NEXT: delegate straight counted
// CHECK-NEXT: delegate straight in_a_table
// CHECK-NEXT: hold conditional only_there
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold conditional with_locks_only
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold conditional with_locks_only
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold conditional calls_itself
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK:      delegate straight through_wrappers
// TEXT:       int returned(struct box *box) {
// TEXT-NEXT:    relock_execute
// TEXT-NEXT:    return 0;
#include <pthread.h>
#include <stdio.h>
struct box {
  pthread_mutex_t lock;
  int n;
};
static struct box one = {PTHREAD_MUTEX_INITIALIZER, 0};
static int failures;
#define UNUSED(x) do { __typeof__(x) unused_ __attribute__((unused)); unused_ = (x); } while (0)

static int fail(const char *message) {
  printf("%s\n", message);
  return -1;
}
static int fail_in_a_table(const char *message) { return message ? -2 : -3; }
static int (*const handlers[])(const char *) = {fail_in_a_table};
static int fail_there(void) { return -4; }
static int fail_under_locks(void) { return -5; }
static int fail_again(int times) { return times ? fail_again(times - 1) : -6; }

int returned(struct box *box) {
  if (pthread_mutex_lock(&box->lock) < 0)
    return fail("returned");
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return 0;
}

int exits(struct box *box) {
  int error = 0;
  if (pthread_mutex_lock(&box->lock) < 0)
    return fail("exits");
  if ((error = box->n) < 0) {
    pthread_mutex_unlock(&box->lock);
    return error;
  }
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return error;
}

int counted(struct box *box) {
  if (pthread_mutex_lock(&box->lock) != 0) {
    failures++;
    return -1;
  }
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return 0;
}

int in_a_table(struct box *box) {
  if (pthread_mutex_lock(&box->lock) != 0)
    return fail_in_a_table("table");
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return 0;
}

int only_there(struct box *box) {
  if (pthread_mutex_lock(&box->lock) != 0)
    return fail_there();
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return 0;
}

int with_locks_only(struct box *box) {
  if (pthread_mutex_lock(&box->lock) != 0)
    return fail_under_locks();
  box->n++;
  pthread_mutex_unlock(&box->lock);
  if (pthread_mutex_lock(&box->lock) != 0)
    return fail_under_locks();
  pthread_mutex_unlock(&box->lock);
  return 0;
}

int calls_itself(struct box *box) {
  if (pthread_mutex_lock(&box->lock) != 0)
    return fail_again(3);
  box->n++;
  pthread_mutex_unlock(&box->lock);
  return 0;
}

static inline int box_lock(struct box *box) {
  UNUSED(box);
  if (pthread_mutex_lock(&box->lock) < 0) {
    printf("unable\n");
    return -1;
  }
  return 0;
}

static inline void box_unlock(struct box *box) {
  UNUSED(box);
  pthread_mutex_unlock(&box->lock);
}

int through_wrappers(struct box *box) {
  int error;
  if ((error = box_lock(box)) < 0)
    return error;
  box->n++;
  box_unlock(box);
  return error;
}

int main(void) {
  int sum = returned(&one) + exits(&one) + counted(&one) + in_a_table(&one) + only_there(&one) +
            with_locks_only(&one) + calls_itself(&one) + through_wrappers(&one);
  printf("%d %d %d %d\n", sum, one.n, failures, handlers[0]("main") + fail("main"));
  return 0;
}
