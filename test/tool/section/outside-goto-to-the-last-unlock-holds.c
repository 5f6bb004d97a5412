// SPDX-License-Identifier: MIT
// The label of the last unlock belongs to the section: a goto from before the lock enters there. A
// goto to behind the unlock does not.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight enters (outside-goto-to-the-last-unlock-holds.c:[[#]])
// CHECK-NEXT: a goto enters the section [side-entry]
// CHECK-NEXT: hold straight enters_a_second_label
// CHECK-NEXT: a goto enters the section [side-entry]
// CHECK-NEXT: delegate straight passes
// CHECK:      6 lock sites: 1 delegate, 5 hold
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

// Ends the section of its caller if that has taken the lock.
static void enters(int taken) {
  if (taken)
    goto out;
  pthread_mutex_lock(&lock);
  total++;
out:
  pthread_mutex_unlock(&lock);
}

static void enters_a_second_label(int taken) {
  if (taken)
    goto out;
  pthread_mutex_lock(&lock);
  if (total > 100)
    goto full;
  total++;
full:
out:
  pthread_mutex_unlock(&lock);
}

static void passes(int none) {
  if (none)
    goto out;
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
out:
  return;
}

static void take(void) { pthread_mutex_lock(&lock); }

int main(void) {
  enters(0);
  take();
  enters(1);
  enters_a_second_label(0);
  take();
  enters_a_second_label(1);
  passes(0);
  passes(1);
  printf("%d\n", total);
  return 0;
}
