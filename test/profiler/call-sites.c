// SPDX-License-Identifier: MIT
// Where a class is acquired: with every acquisition as a sample the counts of each call and its
// callers are exact; otherwise they are estimates that add up to the exact numbers of the class.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --time-all --sample-interval=0 -o %t.all -- %t
// RUN: %python %S/Inputs/expect.py %t.all \
// RUN:   'site("mutex", "visit", "often")["acquisitions"] == 9973' \
// RUN:   'site("mutex", "visit", "often")["samples"] == 9973' \
// RUN:   'site("mutex", "visit", "seldom", "main")["acquisitions"] == 101' \
// RUN:   'site("mutex", "wait_here")["contended"] == 3' \
// RUN:   'site("mutex", "wait_here")["wait_ns"] > 0' \
// RUN:   'site("mutex", "wait_there")["contended"] == 2' \
// RUN:   'site("mutex", "visit")["contended"] == 0 and site("mutex", "visit")["wait_ns"] == 0' \
// RUN:   'site("mutex", "hold")["hold_ns"] >= 50 * MS' \
// RUN:   'site("mutex", "seldom")["hold_ns"] < 50 * MS' \
// RUN:   'site("tried", "try")["acquisitions"] == 7' \
// RUN:   'site("again", "deeper")["acquisitions"] == 5 and len(lock("again")["sites"]) == 2' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock profile -o %t.some -- %t
// RUN: %python %S/Inputs/expect.py %t.some \
// RUN:   'abs(site("mutex")["acquisitions"] - lock("mutex")["acquisitions"]) < 20' \
// RUN:   'site("mutex", "visit", "often")["acquisitions"] > 5000' \
// RUN:   'site("mutex", "visit", "often")["samples"] < 9973' \
// RUN:   'abs(site("mutex")["contended"] - 5) <= 2'
// RUN: %relock report %t.all > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// RUN: %relock report --sites=0 %t.all | FileCheck %s --check-prefix=NONE
// CHECK: about {{[0-9.]+}}% of the threads' time
// CHECK: Where they are acquired, estimated from samples:
// CHECK: {{^mutex$}}
// CHECK: {{^  wait [0-9.]+ms \([0-9.]+%\), hold .* \([0-9.]+%\), acquired 3 \([0-9.]+%\)$}}
// CHECK-NEXT: {{^    wait_here \(call-sites.c:[0-9]+\)}}
// NONE-NOT: Where they are acquired
#define _GNU_SOURCE
#include "Inputs/until-it-waits.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Each keeps its frame: no call here is the last thing that its caller does. */
static __attribute__((noinline)) int visit(void) {
  pthread_mutex_lock(&mutex);
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int often(void) { return visit() + 1; }
static __attribute__((noinline)) int seldom(void) { return visit() + 1; }

static __attribute__((noinline)) int hold(void) {
  pthread_mutex_lock(&mutex);
  usleep(60 * 1000);
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int try(void) {
  pthread_mutex_trylock(&tried);
  return pthread_mutex_unlock(&tried);
}

static __attribute__((noinline)) int deeper(void) {
  pthread_mutex_lock(&again);
  return pthread_mutex_unlock(&again);
}

static __attribute__((noinline)) int wait_here(void) {
  about_to_wait();
  pthread_mutex_lock(&mutex);
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int wait_there(void) {
  about_to_wait();
  pthread_mutex_lock(&mutex);
  return pthread_mutex_unlock(&mutex);
}

static void *wait_for_it(void *here) {
  int result = here ? wait_here() : wait_there();
  return result ? here : NULL;
}

static void make_wait(void *here) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, wait_for_it, here);
  until_it_waits(thread);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
}

int main(void) {
  for (int i = 0; i < 5; i++)
    make_wait(i < 3 ? &mutex : NULL);
  for (int i = 0; i < 9973; i++) {
    often();
    if (i % 99 == 0)
      seldom();
  }
  hold();
  for (int i = 0; i < 7; i++)
    try();
  pthread_mutex_lock(&again);
  for (int i = 0; i < 5; i++)
    deeper();
  pthread_mutex_unlock(&again);
  return 0;
}
