// SPDX-License-Identifier: MIT
// Time in critical sections counts nested sections of one thread once, and is a share of what all
// threads lived.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'profile["sections"] == 1' \
// RUN:   '100 * MS <= profile["section_ns"] < lock("outer")["hold"]["total_ns"] + 25 * MS' \
// RUN:   'lock("outer")["hold"]["total_ns"] >= 100 * MS' \
// RUN:   'lock("inner")["hold"]["total_ns"] >= 50 * MS' \
// RUN:   'profile["section_ns"] + 100 * MS <= profile["thread_ns"] <= 2 * profile["duration_ns"]' \
// RUN:   'abs(profile["section_share"] - profile["section_ns"] / profile["thread_ns"]) < 0.001'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: in critical sections, acquisition included: {{[1-9][0-9]?\.[0-9]+}}% of the threads' time
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  pthread_mutex_lock(&outer);
  usleep(25 * 1000);
  pthread_mutex_lock(&inner);
  usleep(50 * 1000);
  pthread_mutex_unlock(&inner);
  usleep(25 * 1000);
  pthread_mutex_unlock(&outer);
  usleep(100 * 1000);
  return 0;
}
