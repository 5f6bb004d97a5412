// SPDX-License-Identifier: MIT
// Macros that lock to the end of the scope are written out, and the sections are delegated then. A
// second run changes nothing, and the program behaves as before. Scopes with exits that the text does
// not show stay.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/scoped-locks.cocci -D patch %s -o %t.c && diff -u %S/scoped-locks.res %t.c
// RUN: %spatch %patches/prepare/scoped-locks.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/scoped-locks --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// BEFORE: {{[0-9]+}} lock sites: 0 delegate,
// AFTER:  {{[0-9]+}} lock sites: 4 delegate,
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static inline void release(pthread_mutex_t **held) {
  if (*held)
    pthread_mutex_unlock(*held);
}

static inline pthread_mutex_t *take(pthread_mutex_t *wanted) {
  pthread_mutex_lock(wanted);
  return wanted;
}

#define GUARD(m) pthread_mutex_t *guard __attribute__((cleanup(release))) = take(m)
#define SCOPED(m) \
  __attribute__((__cleanup__(release))) pthread_mutex_t *scope_ = (pthread_mutex_lock(m), (m))

struct account {
  pthread_mutex_t mutex;
  int amount;
};

// CHECK: scoped-locks.c:[[#@LINE + 2]]:3: 'GUARD' locks to the end of the scope{{$}}
static void add(int amount) {
  GUARD(&lock);
  total += amount;
}

// CHECK: scoped-locks.c:[[#@LINE + 2]]:3: 'SCOPED' locks to the end of the scope{{$}}
static int get(struct account *account, int limit) {
  SCOPED(&account->mutex);
  if (account->amount > limit)
    return 1;
  if (account->amount < 0)
    return account->amount;
  account->amount++;
  return account->amount + total; // of both
}

// CHECK: scoped-locks.c:[[#@LINE + 5]]:5: 'GUARD' locks to the end of the scope{{$}}
// CHECK: scoped-locks.c:[[#@LINE + 15]]:5: 'GUARD' locks to the end of the scope{{$}}
static void rounds(int n) {
  int odd = 0;
  while (n > 0) {
    GUARD(&lock);
    for (int i = 0; i < n; i++) {
      if (i == 3)
        break;
      odd += i % 2;
    }
    if (odd > 10)
      return;
    n--;
  }
  if (odd) {
    GUARD(&lock);
    if (total > odd)
      total = 0;
  } else {
    total++;
  }
}

// CHECK: scoped-locks.c:[[#@LINE + 4]]:5: 'GUARD' locks to the end of the scope, and stays: a `break` or `continue` leaves the block
static void leaves(int n) {
  /* it would need an unlock as well */
  while (n-- > 0) {
    GUARD(&lock);
    if (total++ > 100)
      break;
  }
}

// CHECK: scoped-locks.c:[[#@LINE + 4]]:5: 'GUARD' locks to the end of the scope, and stays: there is a label or a `goto`
static void jumps(int n) {
  /* where it goes is not followed */
  {
    GUARD(&lock);
    if (n)
      goto out;
    total++;
  }
out:
  add(n);
}

// CHECK: scoped-locks.c:[[#@LINE + 3]]:3: 'SCOPED' locks to the end of the scope, and stays: what names its lock changes
static int moves(struct account *account) {
  /* the macro has kept the first one */
  SCOPED(&account->mutex);
  account = NULL;
  return account != NULL;
}

// CHECK: scoped-locks.c:[[#@LINE + 4]]:3: 'GUARD' locks to the end of the scope, and stays: there is another one
// CHECK: scoped-locks.c:[[#@LINE + 5]]:5: 'SCOPED' locks to the end of the scope, and stays: there is another one
static void both(struct account *account) {
  /* the order of the unlocks is that of the scopes */
  GUARD(&lock);
  {
    SCOPED(&account->mutex);
    account->amount += total;
  }
}
// CHECK: status 1

int main(void) {
  struct account account = {PTHREAD_MUTEX_INITIALIZER, 3};
  add(7);
  for (int limit = 2; limit < 6; limit++)
    printf("%d\n", get(&account, limit));
  rounds(12);
  leaves(3);
  jumps(0);
  both(&account);
  printf("%d %d %d\n", moves(&account), account.amount, total);
  return pthread_mutex_destroy(&lock) || pthread_mutex_destroy(&account.mutex);
}
