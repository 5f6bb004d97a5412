// SPDX-License-Identifier: MIT
// Whatever a program calls its threads, the profile stays readable and the report in its lines.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'profile["by_thread"][0]["name"] == "?[31m\ufffd\"\\?"'
// RUN: %relock report --threads=1 %t.profile | FileCheck %s
// CHECK: {{^\?\[31m.+"\\\? +1 }}
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_setname_np(pthread_self(), "\x1b[31m\xff\"\\\n");
  pthread_mutex_lock(&mutex);
  usleep(1000);
  return pthread_mutex_unlock(&mutex);
}
