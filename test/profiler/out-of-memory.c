// SPDX-License-Identifier: MIT
// When the memory for records is used up, what finds no room in it is counted and said; counts that
// have their records go on.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --memory-limit=1 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("outer")["acquisitions"] == 2 + 13 and lock("inner")["acquisitions"] == 1 + 13' \
// RUN:   'profile["dropped"]["nestings"] == 13 and "inside" not in lock("inner")' \
// RUN:   'profile["dropped"]["samples"] >= 1 and profile["dropped"]["mutex_operations"] > 0' \
// RUN:   'lock("outer")["timeouts"] == 1 and profile["timeline"] == []' \
// RUN:   'profile["timeline_omitted"] == 1' \
// RUN:   'profile["program"]["ended"] == "exit"'
// RUN: %relock report %t.profile | tr -s ' \n' ' ' | FileCheck %s
// CHECK: not recorded:
// CHECK: nested acquisitions (only their order) 13, samples of call sites
#include <pthread.h>
#include <time.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t many[20000];

static void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

int main(void) {
  struct timespec past = {0, 0};
  visit(&outer);
  visit(&inner);
  for (int i = 0; i < 20000; i++)
    pthread_mutex_init(&many[i], NULL);
  for (int i = 0; i < 13; i++) {
    pthread_mutex_lock(&outer);
    visit(&inner);
    pthread_mutex_unlock(&outer);
  }
  pthread_mutex_lock(&outer);
  pthread_mutex_timedlock(&outer, &past);
  pthread_mutex_unlock(&outer);
  return 0;
}
