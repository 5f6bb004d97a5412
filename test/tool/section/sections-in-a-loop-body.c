// SPDX-License-Identifier: MIT
// The sections of a loop's body delegate, each time round; a thread's main loop, for one. What
// lies between and after them stays in the loop, `continue` and `break` too.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK-NOT: hold
// CHECK:     2 lock sites: 2 delegate, 0 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next, done;

static void *work(void *unused) {
  for (;;) {
    int job;
    pthread_mutex_lock(&lock);
    job = next++;
    pthread_mutex_unlock(&lock);
    if (job >= 4000)
      break;
    if (job % 4 == 0)
      continue;
    pthread_mutex_lock(&lock);
    done += job;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", next, done);
  return 0;
}
