// SPDX-License-Identifier: MIT
// A program that does not end has a profile of what it has done so far, when relock profile is
// asked for it or every so many seconds, and goes on undisturbed.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: bash %S/Inputs/so-far.sh %relock %t ask > %t.log 2>&1 && FileCheck %s < %t.log
// RUN: %python %S/Inputs/expect.py %t.so-far \
// RUN:   'lock("mutex")["acquisitions"] == 997 and lock("held")["held_at_end"] == 1' \
// RUN:   'profile["program"]["ended"] == "running"' \
// RUN:   '0 < profile["section_ns"] <= profile["thread_ns"]'
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 997 + 991 and lock("held")["held_at_end"] == 0' \
// RUN:   'profile["program"]["ended"] == "exit" and profile["program"]["status"] == 0'
// RUN: %relock report %t.so-far | FileCheck %s --check-prefix=RUNNING
// RUN: bash %S/Inputs/so-far.sh %relock %t wait --every=1 > %t.log 2>&1 && FileCheck %s < %t.log
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 997 + 991'
// CHECK: relock: profile so far written to {{.*}}; the program runs on [profile-so-far]
// CHECK: relock: profile written to
// RUNNING: was still running
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  pthread_mutex_lock(&held);
  visit(997);
  fclose(fopen(argv[1], "w"));
  while (access(argv[1], F_OK) == 0)
    usleep(1000);
  visit(991);
  return pthread_mutex_unlock(&held);
}
