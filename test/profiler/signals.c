// SPDX-License-Identifier: MIT
// Ending the profiled program by ending `relock profile` gives the profile of a run that went as
// asked; a program that handles the signal ends in its own way.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: rm -f %t.ready
// RUN: sh -c '%relock profile -o %t.profile -- %t %t.ready & until test -e %t.ready; \
// RUN:   do sleep 0.05; done; kill -TERM $!; wait $!' 2>&1 | FileCheck %s --check-prefix=ASKED
// ASKED: was ended by signal 15 (Terminated), as asked for [profile-ended]
// ASKED: profile written to
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1013'
//
// RUN: rm -f %t.ready
// RUN: sh -c '%relock profile -o %t.profile -- %t %t.ready handle & until test -e %t.ready; \
// RUN:   do sleep 0.05; done; kill -INT $!; wait $!'
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1013' \
// RUN:   'profile["program"]["ended"] == "exit"'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t stop;

static void handle(int signal) { stop = signal; }

int main(int count, char **words) {
  for (int i = 0; i < 1013; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  if (count > 2)
    signal(SIGINT, handle);
  close(open(words[1], O_CREAT | O_WRONLY, 0600));
  alarm(30);
  while (!stop)
    usleep(1000);
  return 0;
}
