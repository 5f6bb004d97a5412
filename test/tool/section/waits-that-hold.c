// SPDX-License-Identifier: MIT
// Waits behind which a section cannot go on: in a switch, in a statement expression, in the argument or
// the body of a macro, in the middle of an expression, with another lock. What is just not refused: a
// switch beside the wait.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold waiting in_switch
// CHECK-NEXT: waits in a switch, behind which it cannot be continued [waiting]
// CHECK:      delegate waiting beside_switch
// CHECK:      hold waiting in_expression
// CHECK-NEXT: waits in a statement expression, which cannot be entered again [waiting]
// CHECK:      hold waiting in_argument
// CHECK-NEXT: waits in the body of a macro [waiting]
// CHECK:      hold waiting in_body
// CHECK-NEXT: waits in the body of a macro [waiting]
// CHECK:      hold waiting in_condition
// CHECK-NEXT: waits in an expression or a condition that would have to be divided [waiting]
// CHECK:      hold waiting second_operand
// CHECK-NEXT: waits in an expression or a condition that would have to be divided [waiting]
// CHECK:      hold nested other_lock
// CHECK:      hold waiting other_lock
// CHECK-NEXT: waits with another lock [waiting]
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
#define SEEN(e) ((e) ? 1 : 0)
#define WAIT_AND_COUNT() (pthread_cond_timedwait(&changed, &lock, &past), late++)
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static const struct timespec past = {1, 0};
static int late, mode = 1;

static void in_switch(void) {
  pthread_mutex_lock(&lock);
  switch (mode) {
  case 1:
    pthread_cond_timedwait(&changed, &lock, &past);
  }
  pthread_mutex_unlock(&lock);
}

static void beside_switch(void) {
  pthread_mutex_lock(&lock);
  pthread_cond_timedwait(&changed, &lock, &past);
  switch (mode) {
  case 1:
    late++;
  }
  pthread_mutex_unlock(&lock);
}

static void in_expression(void) {
  pthread_mutex_lock(&lock);
  late += ({
    pthread_cond_timedwait(&changed, &lock, &past);
    1;
  });
  pthread_mutex_unlock(&lock);
}

static void in_argument(void) {
  pthread_mutex_lock(&lock);
  late += SEEN(pthread_cond_timedwait(&changed, &lock, &past) != 0);
  pthread_mutex_unlock(&lock);
}

static void in_body(void) {
  pthread_mutex_lock(&lock);
  WAIT_AND_COUNT();
  pthread_mutex_unlock(&lock);
}

static void in_condition(void) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 2 && pthread_cond_timedwait(&changed, &lock, &past); i++)
    late++;
  pthread_mutex_unlock(&lock);
}

static void second_operand(void) {
  pthread_mutex_lock(&lock);
  if (mode && pthread_cond_timedwait(&changed, &lock, &past))
    late++;
  pthread_mutex_unlock(&lock);
}

static void other_lock(void) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&second);
  pthread_cond_timedwait(&changed, &lock, &past);
  pthread_mutex_lock(&second);
  pthread_cond_timedwait(&changed, &lock, &past);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  in_switch();
  beside_switch();
  in_expression();
  in_argument();
  in_body();
  in_condition();
  second_operand();
  other_lock();
  printf("%d\n", late);
  return 0;
}
