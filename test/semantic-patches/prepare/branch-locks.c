// SPDX-License-Identifier: MIT
// A section that is left and entered again in a branch gets two ends, and both parts are delegated then.
// What cannot stand there twice stays, and is listed. A second run changes nothing, and the program
// behaves as before.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/branch-locks.cocci -D patch %s -o %t.c && diff -u %S/branch-locks.res %t.c
// RUN: %spatch %patches/prepare/branch-locks.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/branch-locks --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// BEFORE: {{[0-9]+}} lock sites: 0 delegate,
// AFTER:  {{[0-9]+}} lock sites: 5 delegate,
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, calls;

static void report(const char *what, int n) { printf("%s %d\n", what, n); }

// CHECK: branch-locks.c:[[#@LINE + 7]]:5: 'pthread_mutex_lock' enters a section again{{$}}
static void add(int amount) {
  pthread_mutex_lock(&lock);
  total += amount;
  if (total > 10) {
    pthread_mutex_unlock(&lock);
    report("many", amount);
    pthread_mutex_lock(&lock);
  }
  calls++; // done
  if (calls > 100)
    total = 0;
  pthread_mutex_unlock(&lock);
}

// CHECK: branch-locks.c:[[#@LINE + 6]]:5: 'pthread_mutex_lock' enters a section again{{$}}
static int wait_for(int limit) {
  pthread_mutex_lock(&lock);
  if (total < limit) {
    pthread_mutex_unlock(&lock);
    report("few", limit);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return limit;
}

// CHECK: branch-locks.c:[[#@LINE + 7]]:5: 'pthread_mutex_lock' enters a section again{{$}}
static int value(int key) {
  int result = 0;
  pthread_mutex_lock(&lock);
  if (key) {
    pthread_mutex_unlock(&lock);
    report("key", key);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < key; i++)
      result += total;
  }
  result++;
  pthread_mutex_unlock(&lock);
  return result;
}

// CHECK: branch-locks.c:[[#@LINE + 8]]:5: 'pthread_mutex_lock' enters a section again, and stays: the branch declares a name that follows
static void declares(int amount) {
  /* the name would mean what the branch declares */
  pthread_mutex_lock(&lock);
  if (amount > 2) {
    int amount = 3;
    pthread_mutex_unlock(&lock);
    report("amount", amount);
    pthread_mutex_lock(&lock);
  }
  total += amount;
  pthread_mutex_unlock(&lock);
}

// CHECK: branch-locks.c:[[#@LINE + 6]]:5: 'pthread_mutex_lock' enters a section again, and stays: a label or a static variable follows
static void unique(int amount) {
  /* there would be two numbers to count */
  pthread_mutex_lock(&lock);
  if (amount) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
  }
  {
    static int number;
    calls += ++number;
  }
  pthread_mutex_unlock(&lock);
}

// CHECK: branch-locks.c:[[#@LINE + 6]]:5: 'pthread_mutex_lock' enters a section again, and stays: a directive follows
static void configured(int amount) {
  /* what the directive drops is not read */
  pthread_mutex_lock(&lock);
  if (amount) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
  }
#ifdef AUDIT
  calls +=
#else
  total +=
#endif
      amount;
  pthread_mutex_unlock(&lock);
}

// CHECK: branch-locks.c:[[#@LINE + 6]]:5: 'pthread_mutex_lock' enters a section again, and stays: a comment would be lost
static void commented(int amount) {
  /* where the comment belongs is not known */
  pthread_mutex_lock(&lock);
  if (amount) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock); /* as before */
  }
  total++;
  pthread_mutex_unlock(&lock);
}

// CHECK-NOT: otherwise
static void otherwise(int amount) {
  /* there is an `else` already */
  pthread_mutex_lock(&lock);
  if (amount) {
    pthread_mutex_unlock(&lock);
    report("amount", amount);
    pthread_mutex_lock(&lock);
  } else
    total++;
  calls++;
  pthread_mutex_unlock(&lock);
}
// CHECK: status 1

int main(void) {
  for (int i = 0; i < 4; i++) {
    add(i * 3);
    wait_for(i * 10);
    report("value", value(i));
    declares(i);
    unique(i);
    configured(i);
    commented(i);
    otherwise(i % 2);
  }
  printf("%d %d\n", total, calls);
  return pthread_mutex_destroy(&lock);
}
