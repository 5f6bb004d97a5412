// SPDX-License-Identifier: MIT
// The end of a child of vfork, which runs in the memory of its parent, is not taken for the
// parent's own.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: (%relock profile -o %t.profile -- %t; test $? = 1)
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 7' \
// RUN:   'profile["program"]["ended"] == "signal"' 'profile["duration_ns"] >= 100 * MS'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  pid_t child = vfork();
  if (child == 0)
    _exit(3);
  waitpid(child, NULL, 0);
  for (int i = 0; i < 7; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  usleep(100 * 1000);
  raise(SIGKILL);
  return 0;
}
