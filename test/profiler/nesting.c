// SPDX-License-Identifier: MIT
// Which class is acquired while which other is held is counted exactly, and two classes that are
// taken in both orders are a finding; a trylock against the order is none.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'inside("inner", "outer") == 3 * 997' \
// RUN:   'inside("innermost", "outer") == 3 * 101 and inside("innermost", "inner") == 3 * 101' \
// RUN:   '"inside" not in lock("outer") and "inside" not in lock("alone")' \
// RUN:   'inside("first", "second") == 17 and inside("second", "first") == 13' \
// RUN:   'inside("tried", "kept") == 19 and inside("kept", "tried") == 23' \
// RUN:   'inside("tried", "kept", "tried_inside") == 19 and "tried_inside" not in lock("kept")' \
// RUN:   'inside("row", "row") == 2 * 29 + 29' \
// RUN:   'inside("waited", "around") == 2 and inside("around", "waited") == 1' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: Taken in both orders:
// CHECK-DAG: first inside second 17 times, second inside first 13 times
// CHECK-DAG: waited inside around 2 times, around inside waited 1 time
// CHECK-NOT: tried inside
// CHECK-NOT: row inside
// CHECK: --explain
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER,
                       inner = PTHREAD_MUTEX_INITIALIZER, innermost = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER, around = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t row[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void both(pthread_mutex_t *out, pthread_mutex_t *in, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(out);
    pthread_mutex_lock(in);
    pthread_mutex_unlock(in);
    pthread_mutex_unlock(out);
  }
}

static void *work(void *argument) {
  both(&outer, &inner, 997 - 101);
  for (int i = 0; i < 101; i++) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_lock(&innermost);
    pthread_mutex_unlock(&outer); /* not in the order of the locks */
    pthread_mutex_unlock(&innermost);
    pthread_mutex_unlock(&inner);
    pthread_mutex_lock(&alone);
    pthread_mutex_unlock(&alone);
  }
  return argument;
}

/* Coming back from a condition wait takes `waited` inside `around`, as it did at first. */
static void wait_inside(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&around);
  pthread_mutex_lock(&waited);
  pthread_cond_timedwait(&never, &waited, &until);
  pthread_mutex_unlock(&waited);
  pthread_mutex_unlock(&around);
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  both(&first, &second, 13);
  both(&second, &first, 17);
  both(&tried, &kept, 23);
  for (int i = 0; i < 19; i++) {
    pthread_mutex_lock(&kept);
    pthread_mutex_trylock(&tried);
    pthread_mutex_unlock(&tried);
    pthread_mutex_unlock(&kept);
  }
  for (int i = 0; i < 29; i++) { /* the third is taken while two of its class are held */
    pthread_mutex_lock(&row[0]);
    pthread_mutex_lock(&row[1]);
    pthread_mutex_lock(&row[2]);
    for (int j = 0; j < 3; j++)
      pthread_mutex_unlock(&row[j]);
  }
  wait_inside();
  both(&waited, &around, 1);
  return 0;
}
