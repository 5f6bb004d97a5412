// SPDX-License-Identifier: MIT
// A lock may be taken in a branch that also notes so in a variable, which is what the unlocks ask for.
// The section runs with or without the lock then. The variable must be false before, on each way to
// the branch, and must not change but there.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-std=gnu89
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK-DAG: delegate straight noted
// TEXT:static int noted(int shared, int n) {
// TEXT-NEXT:  int locked = 0, before;
// TEXT:  if (shared > 1) {
// TEXT-NEXT:    locked = 1;
// TEXT-NEXT:  }
// TEXT:  relock_execute_if_any_thread(locked, &lock, noted_section, &section);
// TEXT:    if (shared > 1) {
// TEXT-NEXT:      locked = 1;
// TEXT-NEXT:    }
// TEXT:    if (relock_execute_if_any_thread(locked, &lock, leaves_section, &section)) {
#include <pthread.h>
#include <stdio.h>

#define LOCK(m)                                                                                    \
  do {                                                                                             \
    int error = pthread_mutex_lock(m);                                                             \
    if (error)                                                                                     \
      printf("error %d\n", error);                                                                 \
  } while (0)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, other;

static int noted(int shared, int n) {
  int locked = 0, before;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  before = total;
  total += n + locked;
  if (locked)
    pthread_mutex_unlock(&lock);
  return before;
}

// CHECK-DAG: delegate early-exit leaves
static int leaves(int shared, int n) {
  int locked = 0;
  if (n > 0) {
    if (shared > 1) {
      locked = 1;
      LOCK(&lock);
    }
    if (total > 100) {
      total = 0;
      if (locked) {
        pthread_mutex_unlock(&lock);
      }
      return 1;
    }
    total += n;
    if (locked)
      pthread_mutex_unlock(&lock);
  }
  return 2;
}

// CHECK-DAG: delegate straight each
static void each(int shared) {
  int i;
  for (i = 0; i < 3; i++) {
    int locked = 0;
    if (shared > i) { pthread_mutex_lock(&lock); locked = 1; }
    total += i;
    other++;
    if (locked) pthread_mutex_unlock(&lock);
  }
}

// CHECK-DAG: hold split carried
static void carried(int shared) {
  int i, locked = 0;
  for (i = 0; i < 3; i++) {
    if (shared == i) {
      pthread_mutex_lock(&lock);
      locked = 1;
    }
    total++;
    if (locked)
      pthread_mutex_unlock(&lock);
    if (shared == i)
      break;
  }
}

// CHECK-DAG: hold split again
static void again(int shared) {
  int locked = 0, n = 0;
more:
  total++;
  if (shared == n) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
  if (!locked && n++ < 3)
    goto more;
}

// CHECK-DAG: hold split set_before
static void set_before(int shared) {
  int locked = 1;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
}

// CHECK-DAG: hold split changed
static void changed(int shared) {
  int locked = 0;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  total++;
  if (total < 0)
    locked = 1;
  if (locked)
    pthread_mutex_unlock(&lock);
}

static void ask(int *locked) { *locked |= total < 0; }
// CHECK-DAG: hold split given
static void given(int shared) {
  int locked = 0;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  ask(&locked);
  if (locked)
    pthread_mutex_unlock(&lock);
}

// CHECK-DAG: hold split unset
static void unset(int shared) {
  int locked = 0;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 0;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
}

static int locked_by_all;
// CHECK-DAG: hold split global
static void global(int shared) {
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked_by_all = 1;
  }
  total++;
  if (locked_by_all)
    pthread_mutex_unlock(&lock);
  locked_by_all = 0;
}

// CHECK-DAG: hold split more
static void more(int shared) {
  int locked = 0;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    other++;
    locked = 1;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
}

// CHECK-DAG: hold split otherwise
static void otherwise(int shared) {
  int locked = 0;
  if (shared > 1) {
    pthread_mutex_lock(&lock);
    locked = 1;
  } else {
    other++;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
}

// CHECK-DAG: hold split calls
static int several(int n) { return n > 1; }
static void calls(int shared) {
  int locked = 0;
  if (several(shared)) {
    pthread_mutex_lock(&lock);
    locked = 1;
  }
  total++;
  if (locked)
    pthread_mutex_unlock(&lock);
}

// CHECK-DAG: hold split goes_on
// CHECK-DAG: is unlocked under a condition, and what follows runs with or without the lock [split]
static void goes_on(int keep) {
  pthread_mutex_lock(&lock);
  total++;
  if (!keep)
    pthread_mutex_unlock(&lock);
  other++;
  if (keep)
    pthread_mutex_unlock(&lock);
}

// CHECK: 14 lock sites: 3 delegate, 11 hold, 0 keep, 0 uncovered

int main(int count, char **arguments) {
  int shared;
  for (shared = 0; shared < 3; shared++) {
    printf("%d ", noted(shared, 3));
    printf("%d\n", leaves(shared, shared));
    each(shared), carried(shared), again(shared), changed(shared);
    if (shared > 1)
      set_before(shared);
    if (count > 100)
      unset(shared), puts(arguments[0]);
    given(shared), global(shared), more(shared), otherwise(shared), calls(shared);
    goes_on(shared);
    printf("%d %d\n", total, other);
  }
  return 0;
}
