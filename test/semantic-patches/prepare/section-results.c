// SPDX-License-Identifier: MIT
// What both branches behind a section test goes through a variable, so that the section ends before
// them, and is delegated. A second run changes nothing, and the program behaves as before.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/section-results.cocci -D patch %s -o %t.c && diff -u %S/section-results.res %t.c
// RUN: %spatch %patches/prepare/section-results.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/section-results --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// RUN: sed 's/static int total,/static int taken, total,/' %s > %t.other.c
// RUN: %spatch %patches/prepare/section-results.cocci -D patch %t.other.c > %t.none && not grep . %t.none
// BEFORE: hold {{ *}}split {{ *}}start
// AFTER:  delegate straight {{ *}}start
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, calls;

static int work(int n) { return n % 3; }

// CHECK: section-results.c:[[#@LINE + 3]]:3: the section of 'pthread_mutex_lock' ends in both branches{{$}}
static int start(int mode) {
  int result = 0;
  pthread_mutex_lock(&lock);
  if (total & mode) {
    pthread_mutex_unlock(&lock);
    if (!work(mode))
      return 1;
    result = work(mode + 1); /* again */
  } else {
    pthread_mutex_unlock(&lock);
    switch (work(mode)) {
    case 0:
      result = 4;
      break;
    default:
      return 3;
    }
  }
  return result + work(result);
}

// CHECK: section-results.c:[[#@LINE + 4]]:3: the section of 'pthread_mutex_lock' ends in both branches{{$}}
// CHECK: section-results.c:[[#@LINE + 11]]:3: the section of 'pthread_mutex_lock' ends in both branches, and stays: 'taken' is a name already
static int twice(int mode) {
  /* the second one waits for another name */
  pthread_mutex_lock(&lock);
  if (!calls) {
    pthread_mutex_unlock(&lock);
    mode++;
  } else {
    pthread_mutex_unlock(&lock);
    mode--;
  }
  pthread_mutex_lock(&lock);
  if (total == mode) {
    pthread_mutex_unlock(&lock);
    mode *= 2;
  } else {
    pthread_mutex_unlock(&lock);
    mode *= 3;
  }
  return mode;
}

// CHECK: section-results.c:[[#@LINE + 5]]:3: the section of 'pthread_mutex_lock' ends in both branches, and stays: a comment would be lost
static int commented(int mode) {
  /* the comments belong to the unlocks */
  if (mode > 100)
    return 0;
  pthread_mutex_lock(&lock);
  if (total) {
    pthread_mutex_unlock(&lock); /* early */
    mode++;
  } else {
    pthread_mutex_unlock(&lock); /* late */
    mode--;
  }
  return mode;
}
// CHECK: status 1

int main(void) {
  for (int i = 0; i < 8; i++)
    printf("%d %d\n", start(i), twice(i) + commented(i));
  return pthread_mutex_destroy(&lock);
}
