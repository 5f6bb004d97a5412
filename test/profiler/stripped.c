// SPDX-License-Identifier: MIT
// Without any symbol the counts are the same, and classes are named by place in the module.
// RUN: %cc -O1 %s -o %t -pthread
// RUN: strip %t
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'sorted(c["acquisitions"] for c in profile["classes"]) == [991, 997]' \
// RUN:   'all(c["name"].startswith("stripped.c.tmp+0x") for c in profile["classes"])' \
// RUN:   '[c["objects"] for c in profile["classes"] if c["acquisitions"] == 991] == [7]' \
// RUN:   '{c["kind"] for c in profile["classes"]} == {"static", "initialised"}'
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

static void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

int main(void) {
  pthread_mutex_t *mutexes[7];
  for (int i = 0; i < 7; i++)
    pthread_mutex_init(mutexes[i] = malloc(sizeof *mutexes[i]), NULL);
  for (int i = 0; i < 997; i++)
    visit(&alone);
  for (int i = 0; i < 991; i++)
    visit(mutexes[i % 7]);
  return 0;
}
