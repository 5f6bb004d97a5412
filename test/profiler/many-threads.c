// SPDX-License-Identifier: MIT
// Threads that come and go leave their counts behind and their memory to the next.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'profile["threads"] == 10001 and profile["threads_at_once"] <= 40' \
// RUN:   'lock("mutex")["acquisitions"] == 30000' \
// RUN:   'lock("mutex")["hold"]["count"] == 30000' \
// RUN:   'profile["thread_ns"] < 40 * profile["duration_ns"]' \
// RUN:   'not any(profile["dropped"].values())'
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  if (argument)
    pthread_exit(argument);
  return argument;
}

int main(void) {
  pthread_t threads[20];
  for (int round = 0; round < 500; round++) {
    for (int i = 0; i < 20; i++)
      pthread_create(&threads[i], NULL, work, i % 2 ? &mutex : NULL);
    for (int i = 0; i < 20; i++)
      pthread_join(threads[i], NULL);
  }
  return 0;
}
