// SPDX-License-Identifier: MIT
// A program that tells the kernel which system calls it makes is not killed for those of a counter,
// and where a filter forbids counters from the start, the report says so.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --event=page-faults --sample-interval=0 -o %t.profile -- %t kill 2> %t.err
// RUN: not grep profile-died %t.err
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["events"]["samples"] == 7 and lock("mutex")["acquisitions"] == 20' \
// RUN:   'profile["event"]["threads_not_counted"] == 1' 'profile["program"]["status"] == 0'
//
// RUN: %t forbid %relock profile --event=page-faults -o %t.profile -- %t 2> %t.err
// RUN: FileCheck %s --check-prefix=SAID < %t.err
// SAID: PAGE_FAULTS: was not counted: not permitted: kernel.perf_event_paranoid is {{.*}}; or a seccomp filter, {{.*}} [profile-no-event]
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: event: PAGE_FAULTS: not available: not permitted
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 20 and "events" not in lock("mutex")'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void *work(void *argument) {
  visit(10);
  return argument;
}

// Ends the process for what counters take, or refuses it.
static int confine(unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **arguments) {
  pthread_t thread;
  if (count > 1 && !strcmp(arguments[1], "forbid")) {
    if (confine(SECCOMP_RET_ERRNO | EPERM))
      return 1;
    return execvp(arguments[2], arguments + 2);
  }
  if (count > 1) {
    visit(7);
    if (confine(SECCOMP_RET_KILL_PROCESS))
      return 1;
    visit(3);
  } else {
    visit(10);
  }
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  return 0;
}
