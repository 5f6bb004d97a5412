/* SPDX-License-Identifier: MIT
 * Forbids itself membarrier(2), and has a thread wait for a mutex: for ever, or with an argument
 * until the first thread lets go of it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <relock/relock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static relock_mutex_t mutex;

static void *wait_for_it(void *unused) {
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
  return unused;
}

int main(int argc, char **argv) {
  (void)argv;
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 9;
  pthread_t waiter;
  relock_mutex_lock(&mutex);
  if (pthread_create(&waiter, NULL, wait_for_it, NULL))
    return 9;
  if (argc > 1) {
    usleep(10000);
    relock_mutex_unlock(&mutex);
  }
  return pthread_join(waiter, NULL);
}
