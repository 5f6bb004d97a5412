// SPDX-License-Identifier: MIT
// A normal mutex that another thread releases: counted, its hold ended, and said in the report.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 17 and lock("mutex")["hold"]["count"] == 17' \
// RUN:   'lock("mutex")["reentries"] == 0 and lock("mutex")["held_at_end"] == 0' \
// RUN:   'profile["foreign_releases"] == 17'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: note: 17 releases by a thread that had not acquired the lock
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *release(void *argument) {
  pthread_mutex_unlock(&mutex);
  return argument;
}

int main(void) {
  for (int i = 0; i < 17; i++) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, release, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
