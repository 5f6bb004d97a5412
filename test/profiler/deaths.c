// SPDX-License-Identifier: MIT
// However the program ends, what it did until then is in the profile, and how it ended is said.
// RUN: %cc -g -O1 %s -o %t -pthread
//
// RUN: not %relock profile -o %t.profile -- %t segv 2>&1 | FileCheck %s --check-prefix=SEGV
// SEGV: died of signal 11 (Segmentation fault); what it did until then is recorded [profile-died]
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009' \
// RUN:   'lock("mutex")["held_at_end"] == 1 and lock("mutex")["hold"]["count"] == 1008' \
// RUN:   'profile["program"]["ended"] == "signal" and profile["program"]["status"] == 11'
//
// RUN: not %relock profile -o %t.profile -- %t kill 2>&1 | FileCheck %s --check-prefix=KILL
// KILL: died of signal 9 (Killed)
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009'
//
// RUN: not %relock profile -o %t.profile -- %t abort
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009'
//
// RUN: not %relock profile -o %t.profile -- %t _exit 2>&1 | FileCheck %s --check-prefix=STATUS
// STATUS: ended with exit status 3 [profile-exit-status]
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009' \
// RUN:   'profile["program"]["ended"] == "exit" and profile["program"]["status"] == 3'
//
// RUN: %relock profile -o %t.profile -- %t thread
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009' \
// RUN:   'profile["threads"] == 2 and profile["program"]["ended"] == "exit"'
//
// RUN: not %relock profile -o %t.profile -- %t exec 2>&1 | FileCheck %s --check-prefix=EXEC
// EXEC: ended with exit status 3
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 1009' \
// RUN:   'profile["program"]["status"] == 3'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *end_it(void *argument) {
  exit(0);
  return argument;
}

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

int main(int count, char **words) {
  pthread_t thread;
  if (count < 2)
    return 9;
  if (strcmp(words[1], "exec") == 0) {
    visit(7);
    execl(words[0], words[0], "_exit", NULL);
  }
  visit(1008);
  pthread_mutex_lock(&mutex);
  if (strcmp(words[1], "segv") == 0)
    *(volatile int *)8 = 1;
  if (strcmp(words[1], "kill") == 0)
    kill(getpid(), SIGKILL);
  if (strcmp(words[1], "abort") == 0)
    abort();
  if (strcmp(words[1], "thread") == 0)
    pthread_create(&thread, NULL, end_it, NULL), pause();
  _exit(3);
}
