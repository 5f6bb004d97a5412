// SPDX-License-Identifier: MIT
// A lock that is held from one round of a loop to the next is taken in each round: then the section
// of a loop that never ends is delegated. A second run changes nothing, and the program behaves as
// before. Loops with exits that the text does not allow stay.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/loop-locks.cocci -D patch %s -o %t.c && diff -u %S/loop-locks.res %t.c
// RUN: %spatch %patches/prepare/loop-locks.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/loop-locks --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// BEFORE: hold {{.*}} rounds (
// BEFORE: hold {{.*}} rounds (
// AFTER:  delegate {{.*}} rounds (
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int work(int n) { return n < 3; }

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next{{$}}
static void rounds(void) {
  int n = 0;
  pthread_mutex_lock(&lock);
  while (1) {
    total++; // of all rounds
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) {
      if (i == 1)
        continue; // with the inner loop
      n++;
    }
    if (!work(n))
      return;
    pthread_mutex_lock(&lock);
  }
}

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next{{$}}
static void until(void) {
  int n = 0;
  pthread_mutex_lock(&lock);
  for (;;) {
    if (total > 100) {
      pthread_mutex_unlock(&lock);
      break;
    }
    total += 7;
    pthread_mutex_unlock(&lock);
    n += work(n);
    pthread_mutex_lock(&lock);
  }
  printf("%d\n", n);
}

/* The first round waits for the lock, and does not need it. */
// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next{{$}}
static void last(void) {
  int n = 0;
  pthread_mutex_lock(&lock);
  while (true) {
    pthread_mutex_unlock(&lock);
    if (!work(n++))
      break;
    pthread_mutex_lock(&lock);
    total += 2;
  }
}

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next{{$}}
static int busy(int limit) {
  int result;
  pthread_mutex_lock(&lock);
  while (total < limit && limit > 0) {
    total += 10;
    pthread_mutex_unlock(&lock);
    work(total);
    pthread_mutex_lock(&lock);
  }
  result = total; /* enough */
  if (result > 1000)
    total = 0;
  pthread_mutex_unlock(&lock);
  return result;
}

// CHECK: loop-locks.c:[[#@LINE + 3]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next{{$}}
static void nothing_else(void) {
  pthread_mutex_lock(&lock);
  while (total < 300) {
    pthread_mutex_unlock(&lock);
    total += work(1);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
}

// CHECK: loop-locks.c:[[#@LINE + 5]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next, and stays: the loop has a `continue`
static void skips(void) {
  int n = 0;
  /* the next round does not lock */
  pthread_mutex_lock(&lock);
  while (1) {
    if (++n < 5)
      continue;
    pthread_mutex_unlock(&lock);
    if (n > 6)
      return;
    pthread_mutex_lock(&lock);
  }
}

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next, and stays: a `break` leaves the loop
static void leaves(void) {
  /* behind the loop, the lock would be free or not */
  pthread_mutex_lock(&lock);
  while (total < 400) {
    total += 100;
    if (total > 350)
      break;
    pthread_mutex_unlock(&lock);
    work(total);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
}

// CHECK: loop-locks.c:[[#@LINE + 5]]:5: 'pthread_mutex_lock' is held from one round of a loop to the next, and stays: what follows the loop cannot stand in it
static void outer(void) {
  /* the other loop's `break` would leave this one */
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&lock);
    while (total < 500) {
      pthread_mutex_unlock(&lock);
      total += 50;
      pthread_mutex_lock(&lock);
    }
    if (total > 520) {
      pthread_mutex_unlock(&lock);
      break;
    }
    pthread_mutex_unlock(&lock);
  }
}

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next, and stays: there is a label
static void jumps(int n) {
  /* the jump does not lock */
  pthread_mutex_lock(&lock);
  while (1) {
  again:
    total++;
    if (n++ < 3)
      goto again;
    pthread_mutex_unlock(&lock);
    if (n > 5)
      return;
    pthread_mutex_lock(&lock);
  }
}

static struct node {
  pthread_mutex_t lock;
  struct node *next;
} nodes[2] = {{PTHREAD_MUTEX_INITIALIZER, nodes + 1}, {PTHREAD_MUTEX_INITIALIZER, nodes}};

static void declares(struct node *node) {
  /* at the end of the loop, it is another lock */
  struct node *start = node;
  pthread_mutex_lock(&node->lock);
  while (1) {
    struct node *node = start->next;
    pthread_mutex_unlock(&start->lock);
    if (total++ > 600)
      return;
    start = node;
    pthread_mutex_lock(&node->lock);
  }
}

// CHECK: loop-locks.c:[[#@LINE + 4]]:3: 'pthread_mutex_lock' is held from one round of a loop to the next, and stays: a comment would be lost
static void commented(int n) {
  /* the comment belongs to the lock */
  pthread_mutex_lock(&lock);
  while (1) {
    pthread_mutex_unlock(&lock);
    if (n++ > 3)
      return;
    pthread_mutex_lock(&lock); /* as the caller wants it */
  }
}

/* the lock before the loop, or the one at its end, depends on a condition */
static void depends(int n) {
  if (n)
    pthread_mutex_lock(&lock);
  while (1) {
    if (n++ > 3)
      return;
    pthread_mutex_unlock(&lock);
    total++;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    if (n < 4)
      pthread_mutex_lock(&lock);
  }
}
// CHECK: status 1

int main(void) {
  rounds();
  until();
  last();
  printf("%d\n", busy(200));
  nothing_else();
  skips();
  leaves();
  outer();
  jumps(0);
  declares(nodes);
  commented(0);
  depends(1);
  printf("%d\n", total);
  return pthread_mutex_destroy(&lock);
}
