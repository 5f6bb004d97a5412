// SPDX-License-Identifier: MIT
// Calls of librelock have their callers, as those of pthread locks have: what librelock counts of a
// call in all is divided among these, holds and waits by what each was found to take. A section stands
// where its code was before. In a section nothing is said of callers, since the stack is that of
// whoever runs it.
// REQUIRES: plain
// RUN: %cc -g -O1 -fno-optimize-sibling-calls -I%include %s %librelock -o %t -lpthread
// RUN: %cc -g -O1 -fno-optimize-sibling-calls -I%include %s -o %t.shared -L%librelock_dir -lrelock \
// RUN:   -Wl,-rpath,%librelock_dir -lpthread
// RUN: for linked in %t %t.shared; do for algorithm in adaptive ccsynch rcl mcs; do \
// RUN:   RELOCK_LOCKS="*=$algorithm" %relock profile --sample-interval=0 -o %t.profile -- $linked || exit 9; \
// RUN:   %python %S/Inputs/expect.py %t.profile \
// RUN:     'site("wrapped", "take", "often", "work", "main")["acquisitions"] == 997' \
// RUN:     'site("wrapped", "take", "long_time", "work", "main")["acquisitions"] == 3' \
// RUN:     'site("wrapped", "take")["acquisitions"] == 1001 == lock("wrapped")["acquisitions"] - 1' \
// RUN:     'site("wrapped", "take", "long_time")["hold_ns"] > 10e6' \
// RUN:     'site("wrapped", "take", "waits", "wait_deep", "begin")["contended"] == 1' \
// RUN:     'site("wrapped", "take", "waits")["wait_ns"] == site("wrapped", "take")["wait_ns"] > 10e6' \
// RUN:     'site("executed", "add", "enter", "first", "work", "main")["acquisitions"] == 40' \
// RUN:     'site("executed", "add", "enter", "second", "work", "main")["acquisitions"] == 60' \
// RUN:     'site("executed", "add")["acquisitions"] == 100' \
// RUN:     'site("submitted", "add", "submit", "work", "main")["acquisitions"] == 10' \
// RUN:     'site("tried", "try_it", "work", "main")["acquisitions"] == 5' \
// RUN:     'site("tried", "time_it", "work", "main")["acquisitions"] == 6' \
// RUN:     'site("inner", "nest")["acquisitions"] == 7' \
// RUN:     'all(len(s["stack"]) == 1 for s in lock("inner")["sites"])' \
// RUN:     'not any(profile["dropped"].values())' \
// RUN:     || { echo with $algorithm, $linked; exit 9; }; \
// RUN: done; done
//
// By seldom samples the sums stay exact, and the parts are near.
// RUN: %relock profile --sample-interval=20 -o %t.profile -- %t many
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'site("wrapped", "take")["acquisitions"] == 4001001 == lock("wrapped")["acquisitions"] - 1' \
// RUN:   '2e6 < site("wrapped", "take", "often", "work", "main")["acquisitions"] < 3.9e6' \
// RUN:   '1e5 < site("wrapped", "take", "seldom", "work", "main")["acquisitions"] < 2e6'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: Where they are acquired
// CHECK: take (runtime-callers.c:{{[0-9]+}}) < often (runtime-callers.c:{{[0-9]+}}) < work
//
// Without the profiler there is nobody to look at the stack.
// RUN: env RELOCK_STATS=%t.stats %t
// RUN: %relock report %t.stats > %t.report
#include "Inputs/until-it-waits.h"
#include <relock/relock.h>
#include <time.h>
#include <unistd.h>

#define CLASS(name)                                                                                \
  RELOCK_LOCK_CLASS(name##_class, #name, "adaptive");                                              \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
#define FUNCTION static __attribute__((noinline)) void

CLASS(wrapped);
CLASS(executed);
CLASS(submitted);
CLASS(tried);
CLASS(outer);
CLASS(inner);
static int sum;

FUNCTION take(void) {
  relock_mutex_lock(&wrapped);
  sum++;
}
FUNCTION give(void) {
  sum++;
  relock_mutex_unlock(&wrapped);
}

FUNCTION often(int times) {
  for (int i = 0; i < times; i++) {
    take();
    give();
  }
}
FUNCTION seldom(int times) {
  for (int i = 0; i < times; i++) {
    take();
    give();
  }
}
FUNCTION long_time(void) {
  for (int i = 0; i < 3; i++) {
    take();
    usleep(5000);
    give();
  }
}

FUNCTION waits(void) {
  about_to_wait();
  take();
  give();
}
FUNCTION wait_deep(void) {
  waits();
  sum++;
}
static void *begin(void *unused) {
  wait_deep();
  return unused;
}

static int add(void *context) {
  sum += *(int *)context;
  return 0;
}
FUNCTION enter(void) {
  int one = 1;
  relock_execute(&executed, add, &one);
  sum++;
}
FUNCTION first(void) {
  enter();
  sum++;
}
FUNCTION second(void) {
  enter();
  sum++;
}

FUNCTION submit(void) {
  int one = 1;
  relock_submit(&submitted, add, &one, sizeof one);
  relock_submitted_wait();
}

FUNCTION try_it(void) {
  relock_mutex_trylock(&tried);
  relock_mutex_unlock(&tried);
}
FUNCTION time_it(void) {
  const struct timespec past = {0, 0};
  relock_mutex_timedlock(&tried, &past);
  relock_mutex_unlock(&tried);
}

static int nest(void *unused) {
  relock_mutex_lock(&inner);
  sum++;
  relock_mutex_unlock(&inner);
  return unused != NULL;
}

FUNCTION work(int many) {
  often(997);
  long_time();
  for (int i = 0; i < 40; i++)
    first();
  for (int i = 0; i < 60; i++)
    second();
  for (int i = 0; i < 10; i++)
    submit();
  for (int i = 0; i < 5; i++)
    try_it();
  for (int i = 0; i < 6; i++)
    time_it();
  for (int i = 0; i < 7; i++)
    relock_execute(&outer, nest, NULL);
  for (int i = 0; i < many; i++) {
    often(30);
    seldom(10);
  }
  sum++;
}

int main(int count, char **words) {
  pthread_t thread;
  (void)words;
  work(count > 1 ? 100000 : 0);
  relock_mutex_lock(&wrapped);
  pthread_create(&thread, NULL, begin, NULL);
  until_it_waits(thread);
  relock_mutex_unlock(&wrapped);
  pthread_join(thread, NULL);
  return 0;
}
