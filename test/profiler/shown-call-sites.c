// SPDX-License-Identifier: MIT
// Call sites as the report shows them: with the callers that a lock function is inlined into, once
// for callers that differ only beyond what is shown, and with the call that holds longest, for
// which the others wait.
// RUN: %cc -g -O1 -fno-omit-frame-pointer %s -o %t -pthread
// RUN: %relock profile --sample-interval=0 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'len([s for s in lock("mutex")["sites"] if "wait_here" in s["stack"][1]]) == 2' \
// RUN:   'site("mutex", "take", "wait_here", "deeper", "deeper")["contended"] == 2' \
// RUN:   'site("mutex", "take", "hold")["contended"] == 0'
// RUN: %relock report --sites=1 %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: held {{[0-9.]+}}% of the run
// CHECK: Where they are acquired, estimated from samples:
// CHECK: {{^mutex$}}
// CHECK-NEXT: {{^  wait [0-9.]+ms \(100.0%\), hold .*, acquired 2 \(50.0%\)$}}
// CHECK-NEXT: {{^    take \(shown-call-sites.c:[0-9]+\) < wait_here}}
// CHECK: {{^  wait 0ns \(0.0%\), hold [0-9.]+ms \([0-9.]+%\), acquired 2 \(50.0%\)$}}
// CHECK-NEXT: {{^    take \(shown-call-sites.c:[0-9]+\) < hold}}
// CHECK-NOT: take
#include "Inputs/until-it-waits.h"
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held;
static pthread_t waiter;

static inline __attribute__((always_inline)) void take(void) { pthread_mutex_lock(&mutex); }

static __attribute__((noinline)) int hold(void) {
  take();
  atomic_fetch_add(&held, 1);
  until_it_waits(waiter);
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int wait_here(void) {
  about_to_wait();
  take();
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int deeper(int depth) {
  return depth ? deeper(depth - 1) + 1 : wait_here() + 1;
}

static void *hold_twice(void *argument) {
  for (int i = 0; i < 2; i++) {
    hold();
    while (atomic_load(&held) == 1)
      usleep(1000); /* until the other one has waited */
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  waiter = pthread_self();
  pthread_create(&thread, NULL, hold_twice, NULL);
  while (atomic_load(&held) != 1)
    usleep(1000);
  deeper(3);
  atomic_fetch_add(&held, 1);
  while (atomic_load(&held) != 3)
    usleep(1000);
  deeper(5);
  pthread_join(thread, NULL);
  return 0;
}
