// SPDX-License-Identifier: MIT
// A program that goes to the background is said to run on; one that another program starts has its
// own exit status.
// RUN: rm -f %t.profile* %t.end
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: not %relock profile -o %t.profile -- env UNTIL=%t.end %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RUNS
// RUNS: background.c.tmp: runs on in the background as process {{[0-9]+}}, {{.*}} [profile-running]
// RUN: touch %t.end
//
// RUN: %relock profile -o %t.profile -- sh -c '%t wait; true'
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 7 and profile["program"]["ended"] == "exit"' \
// RUN:   'profile["program"]["status"] == 5'
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int count, char **words) {
  (void)words;
  for (int i = 0; i < 7; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  if (count > 1)
    return 5;
  if (daemon(0, 0) == 0) {
    for (int i = 0; i < 600 && access(getenv("UNTIL"), F_OK) != 0; i++) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
      usleep(100 * 1000);
    }
  }
  return 0;
}
