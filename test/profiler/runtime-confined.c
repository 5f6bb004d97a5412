// SPDX-License-Identifier: MIT
// A program with librelock that forbids itself all system calls but a few leaves librelock's times
// and counts all the same, in the profile and in the file of RELOCK_STATS, and is not killed for it.
// REQUIRES: plain, x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: %t
// RUN: %relock profile -o %t.dir/profile -- %t
// RUN: %python %S/Inputs/expect.py %t.dir/profile \
// RUN:   'lock("mutex")["acquisitions"] == 997 + 991 and lock("mutex")["hold"]["count"] == 1988' \
// RUN:   'lock("late")["acquisitions"] == 7 and lock("late")["hold"]["count"] == 7' \
// RUN:   'profile["program"]["ended"] == "exit" and not any(profile["dropped"].values())'
// RUN: env RELOCK_STATS=%t.dir/own %t fstat
// RUN: %python %S/Inputs/expect.py %t.dir/own \
// RUN:   'lock("mutex")["acquisitions"] == 997 + 991 and lock("mutex")["hold"]["count"] == 1988' \
// RUN:   'lock("late")["acquisitions"] == 7'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <relock/relock.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define ALLOW(number)                                                                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

RELOCK_LOCK_CLASS(mutex_class, "mutex", "adaptive");
RELOCK_LOCK_CLASS(late_class, "late", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(mutex_class);
static relock_mutex_t late = RELOCK_MUTEX_INITIALIZER(late_class);

static int count(void *sum) {
  ++*(int *)sum;
  return 0;
}

static void visit(relock_mutex_t *lock, int times) {
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(lock);
    relock_mutex_unlock(lock);
  }
}

/* Writing needs a file's state: whether it still is that file. Futexes wake the threads that answer
 * `relock profile`. */
static int confine(int may_look) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_write),
      ALLOW(SYS_futex),
      ALLOW(may_look ? SYS_newfstatat : SYS_write),
      ALLOW(may_look ? SYS_fstat : SYS_write),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv) {
  int sum = 0;
  (void)argv;
  visit(&mutex, 997);
  if (confine(argc > 1))
    return 2;
  visit(&mutex, 991);
  for (int i = 0; i < 7; i++)
    relock_execute(&late, count, &sum);
  exit(sum != 7);
}
