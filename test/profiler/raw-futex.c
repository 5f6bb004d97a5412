// SPDX-License-Identifier: MIT
// Waits that the program asks the system for itself, through syscall(), are the remainder; all
// other system calls pass as they are.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'wait("futex (raw)")["acquisitions"] == 14 and wait("futex (raw)")["timeouts"] == 13' \
// RUN:   'wait("futex (raw)")["wait"]["count"] == 14' \
// RUN:   'wait("futex (raw)")["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'profile["classes"] == [] and profile["section_ns"] == 0'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: {{^futexes \(raw\) +14 +wait}}
// CHECK-NOT: of these
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int word;

static void expect(int condition) {
  if (!condition)
    abort();
}

static void *wake(void *argument) {
  usleep(100 * 1000);
  atomic_store(&word, 1);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
  return argument;
}

int main(void) {
  struct timespec moment = {0, 1000}, invalid = {0, -1};
  pthread_t thread;
  for (int i = 0; i < 13; i++)
    expect(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0) == -1 &&
           errno == ETIMEDOUT);
  expect(syscall(SYS_futex, &word, FUTEX_WAIT, 7, NULL, NULL, 0) == -1 && errno == EAGAIN);
  expect(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &invalid, NULL, 0) == -1 && errno == EINVAL);
  expect(syscall(SYS_getpid) == getpid());
  expect(syscall(SYS_close, -1) == -1 && errno == EBADF);
  pthread_create(&thread, NULL, wake, NULL);
  while (!atomic_load(&word))
    syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
  return pthread_join(thread, NULL);
}
