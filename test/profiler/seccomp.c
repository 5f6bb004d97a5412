// SPDX-License-Identifier: MIT
// A program that forbids itself all system calls but a few is not killed for what the profiler
// does, its locks are recorded on, and what it starts from then on is left alone.
// REQUIRES: x86_64
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: for way in prctl syscall; do %relock profile -o %t.profile -- %t $way 2> %t.err \
// RUN:   || { cat %t.err; exit 9; }; \
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("before")["acquisitions"] == 997' \
// RUN:   'lock("after")["acquisitions"] == 1009 and lock("after")["objects"] == 1009' \
// RUN:   'profile["program"]["ended"] == "exit" and not any(profile["dropped"].values())' \
// RUN:   || exit 9; done
// The strict mode forbids reading the clock as well.
// RUN: for way in strict tsc; do %relock profile -o %t.profile -- %t $way || exit 9; \
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("before")["acquisitions"] == 997' \
// RUN:   'profile["dropped"]["threads"] == 1 and len(profile["classes"]) == 1' || exit 9; done
// A filter that answers with errors, in a program that forks and starts others.
// RUN: %relock profile -o %t.profile -- %t fork
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("before")["acquisitions"] == 997' \
// RUN:   'profile["dropped"]["processes"] == 1'
// A filter that was refused changes nothing.
// RUN: %relock profile -o %t.profile -- %t refused
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("after")["acquisitions"] == 9001' \
// RUN:   'not any(profile["dropped"].values())'
//
// RUN: %relock profile -o %t.profile -- %t twice
// RUN: %python %S/Inputs/expect.py %t.profile 'any(profile["dropped"].values())' \
// RUN:   'profile["program"]["ended"] == "exit" and profile["program"]["status"] == 0'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(number)                                                                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER, after[9001];

static void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

static int install(int by_syscall, unsigned otherwise) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_exit),
      ALLOW(SYS_write),
      BPF_STMT(BPF_RET | BPF_K, otherwise),
  };
  struct sock_filter lenient[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  if (otherwise == SECCOMP_RET_ALLOW)
    program = (struct sock_fprog){sizeof lenient / sizeof *lenient, lenient};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return -1;
  if (by_syscall)
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* What is started under the filter inherits it. */
static int start_others(char **words) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    visit(&before);
    execl(words[0], words[0], "plain", NULL);
    _exit(127);
  }
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int count, char **words) {
  const char *way = words[count - 1];
  struct sock_fprog wrong = {0, NULL};
  for (int i = 0; i < 997; i++)
    visit(&before);
  if (strcmp(way, "plain") == 0)
    return 0;
  if (strcmp(way, "refused") == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &wrong, 0, 0) == 0 || errno != EINVAL)
      return 1;
    for (int i = 0; i < 9001; i++)
      visit(&after[i]);
    return 0;
  }
  if (strcmp(way, "twice") == 0) { /* the first filter is in force when the second is refused */
    if (install(0, SECCOMP_RET_ALLOW) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &wrong, 0, 0) == 0)
      return 4;
    for (int i = 0; i < 9001; i++) /* more than there is room for without a call */
      visit(&after[i]);
    return 0;
  }
  if (strcmp(way, "fork") == 0)
    return install(0, SECCOMP_RET_ALLOW) ? 2 : start_others(words);
  if (strcmp(way, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
      : strcmp(way, "tsc") == 0  ? prctl(PR_SET_TSC, PR_TSC_SIGSEGV)
                                 : install(way[0] == 's', SECCOMP_RET_KILL_PROCESS))
    return 3;
  for (int i = 0; i < 1009; i++)
    visit(&after[i]);
  /* The strict mode forbids exit_group. */
  syscall(SYS_exit, 0);
}
