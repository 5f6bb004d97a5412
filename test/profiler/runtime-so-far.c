// SPDX-License-Identifier: MIT
// What librelock has timed and counted so far is in the profile that is asked for, and of a program
// that is killed in the last one. The thread that answers is none of the program's.
// REQUIRES: plain
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: bash %S/Inputs/so-far.sh %relock %t ask > %t.log 2>&1
// RUN: %python %S/Inputs/expect.py %t.so-far \
// RUN:   'lock("mutex")["acquisitions"] == 997 and lock("mutex")["hold"]["count"] == 997' \
// RUN:   'lock("mutex")["librelock"]["held"] == 997 and not any(profile["dropped"].values())' \
// RUN:   'profile["program"]["ended"] == "running" and profile["threads"] == 1' \
// RUN:   'not profile["waits"]'
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 997 + 991' \
// RUN:   'profile["program"]["ended"] == "exit" and profile["program"]["status"] == 0'
//
// RUN: bash %S/Inputs/so-far.sh %relock %t wait --every=1 > %t.log 2>&1
// RUN: %python %S/Inputs/expect.py %t.so-far 'lock("mutex")["acquisitions"] == 997'
//
// RUN: env DIE=1 bash %S/Inputs/so-far.sh %relock %t ask > %t.log 2>&1; \
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("mutex")["acquisitions"] == 997' \
// RUN:   'profile["program"]["ended"] == "signal"'
#include <relock/relock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(mutex_class, "mutex", "adaptive");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(mutex_class);

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(&mutex);
    relock_mutex_unlock(&mutex);
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  visit(997);
  fclose(fopen(argv[1], "w"));
  while (access(argv[1], F_OK) == 0)
    usleep(1000);
  visit(991);
  if (getenv("DIE"))
    raise(SIGKILL);
  return 0;
}
