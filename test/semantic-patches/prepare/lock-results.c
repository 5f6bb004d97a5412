// SPDX-License-Identifier: MIT
// Tests of a lock call that cannot fail go, with what they guard; variables get the result that they
// would have. Those of trylock stay, and those with an else. A second run changes nothing, and the
// program behaves as before. A file with mutexes of other types stays.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/lock-results.cocci -D patch %s -o %t.c && diff -u %S/lock-results.res %t.c
// RUN: %spatch %patches/prepare/lock-results.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/lock-results --report %s; echo "status $?") | FileCheck %s
// CHECK:      lock-results.c:[[#@LINE + 14]]:7: the result of locking is tested
// CHECK-NEXT: lock-results.c:[[#@LINE + 22]]:16: the result of locking is tested
// CHECK-NEXT: lock-results.c:[[#@LINE + 32]]:11: the result of locking is tested
// CHECK-NEXT: status 1
// RUN: sed 's/^static int total;/static int total, other = PTHREAD_MUTEX_RECURSIVE;/' %s > %t.other.c
// RUN: %spatch %patches/prepare/lock-results.cocci -D patch %t.other.c > %t.none && not grep . %t.none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int add(int amount) {
  if (pthread_mutex_lock(&lock) != 0)
    return -1;
  total += amount; /* of all */
  pthread_mutex_unlock(&lock);
  return 0;
}

static int get(void) {
  int result, error;
  if ((error = pthread_mutex_lock(&lock)) != 0) {
    fprintf(stderr, "lock: %d\n", error);
    abort();
  }
  result = total;
  pthread_mutex_unlock(&lock);
  return error ? error : result;
}

static int twice(void) {
  int error;
  error = pthread_mutex_lock(&lock); /* waits */
  if (error)
    return error;
  total *= 2;
  pthread_mutex_unlock(&lock);
  return error;
}

static int unless_locked(void) {
  if (pthread_mutex_trylock(&lock) != 0)
    return -1;
  pthread_mutex_unlock(&lock);
  return 0;
}

static int nested(void) {
  if (pthread_mutex_lock(&lock) == 0) {
    total++;
    pthread_mutex_unlock(&lock);
  }
  for (int i = 0; i < 2; i++)
    if (pthread_mutex_lock(&lock))
      continue;
    else
      pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  if (add(3) || twice() || unless_locked() || nested())
    return 1;
  printf("%d\n", get());
  return 0;
}
