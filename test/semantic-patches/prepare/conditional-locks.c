// SPDX-License-Identifier: MIT
// A section that is locked under a condition gets two branches, and is delegated then. What cannot
// stand there twice stays, and is listed. A second run changes nothing, and the program behaves as
// before.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/conditional-locks.cocci -D patch %s -o %t.c && diff -u %S/conditional-locks.res %t.c
// RUN: %spatch %patches/prepare/conditional-locks.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/conditional-locks --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// BEFORE: 13 lock sites: 1 delegate, 12 hold
// AFTER:  13 lock sites: 5 delegate, 8 hold
#include <pthread.h>
#include <stdio.h>

#define LOCKING 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int total, calls;

// CHECK: conditional-locks.c:[[#@LINE + 2]]:3: 'pthread_mutex_lock' depends on a condition{{$}}
static void add(int amount, int locking) {
  if (locking)
    pthread_mutex_lock(&lock);
  total += amount; /* of all */
  if (locking)
    pthread_mutex_unlock(&lock);
}

// CHECK: conditional-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' depends on a condition{{$}}
static int get(const int mode) {
  int result;

  if (mode == LOCKING) {
    pthread_mutex_lock(&lock);
  }

  /* Every other call is for nothing. */
  calls++;
  if (calls % 2)
    result = total;
  else
    result = 0;
  if (mode == LOCKING) {
    pthread_mutex_unlock(&lock);
  }
  return result;
}

// The last statement ends in a brace, or in a comment.
// CHECK: conditional-locks.c:[[#@LINE + 2]]:3: 'pthread_mutex_lock' depends on a condition{{$}}
static int count(int unlocked) {
  if (!unlocked)
    pthread_mutex_lock(&lock);
  for (int i = 0; i < 3; i++) {
    total++;
    if (total > 100)
      break; // that is enough
  }
  if (!unlocked)
    pthread_mutex_unlock(&lock);
  return 0;
}

// CHECK: conditional-locks.c:[[#@LINE + 2]]:3: 'pthread_mutex_lock' depends on a condition{{$}}
static void twice(int mode) {
  if (mode != 1)
    pthread_mutex_lock(&lock);
  total *= 2; // all
  if (mode != 1)
    pthread_mutex_unlock(&lock);
}

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: 'locking' may change under the lock
static void changes(int locking) {
  /* the statement may change what is tested */
  if (locking)
    pthread_mutex_lock(&lock);
  locking += total > 1000;
  if (locking)
    pthread_mutex_unlock(&lock);
}

static int shared;

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: it may change under the lock
static void global(void) {
  /* another thread may change what is tested */
  if (shared)
    pthread_mutex_lock(&lock);
  calls++;
  if (shared)
    pthread_mutex_unlock(&lock);
}

static void see(int *known) { *known += total; }

// CHECK: conditional-locks.c:[[#@LINE + 5]]:3: 'pthread_mutex_lock' depends on a condition, and stays: 'known' may change under the lock
static void addressed(void) {
  /* a callee may change it */
  int known = 0;
  see(&known);
  if (known)
    pthread_mutex_lock(&lock);
  total++;
  if (known)
    pthread_mutex_unlock(&lock);
}

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: a label or a static variable stands in the section
static int unique(int safe) {
  /* there would be two numbers to count */
  if (safe)
    pthread_mutex_lock(&lock);
  {
    static int number;
    calls = ++number;
  }
  if (safe)
    pthread_mutex_unlock(&lock);
  return calls;
}

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: a directive stands in the section
static void configured(int safe) {
  /* what the directive drops is not read */
  if (safe)
    pthread_mutex_lock(&lock);
#ifdef AUDIT
  calls +=
#else
  total +=
#endif
      1;
  if (safe)
    pthread_mutex_unlock(&lock);
}

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: the section takes another lock
static void nested(int safe) {
  /* the other one first: its section is to be found in one place */
  if (safe)
    pthread_mutex_lock(&lock);
  if (total) {
    pthread_mutex_lock(&other);
    total++;
    pthread_mutex_unlock(&other);
  }
  if (safe)
    pthread_mutex_unlock(&lock);
}

// CHECK: conditional-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' depends on a condition, and stays: a comment would be lost
static void commented(int safe) {
  /* where the comment belongs is not known */
  if (safe) /* from others */
    pthread_mutex_lock(&lock);
  total++;
  if (safe)
    pthread_mutex_unlock(&lock);
}

/* the statements do not follow the lock on all ways */
static void elsewhere(int safe, int other_one) {
  if (other_one)
    if (safe)
      pthread_mutex_lock(&lock);
  total++;
  if (other_one && safe)
    pthread_mutex_unlock(&lock);
}
// CHECK: status 1

int main(void) {
  for (int i = 0; i < 2; i++) {
    add(3, i);
    printf("%d\n", get(i + 1));
    printf("%d\n", count(i));
    twice(i);
    changes(i);
    global();
    addressed();
    printf("%d\n", unique(i));
    configured(i);
    nested(i);
    commented(i);
    elsewhere(i, 1);
  }
  printf("%d %d\n", total, calls);
  return 0;
}
