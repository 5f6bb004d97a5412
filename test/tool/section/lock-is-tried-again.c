// SPDX-License-Identifier: MIT
// A loop that takes the lock again where it has failed makes it no binary semaphore: it does not hold it then.
// One that takes it again without asking does.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      {{^}}lock (lock-is-tried-again.c:{{.*}}): convert
// CHECK:      delegate straight add
// CHECK:      {{^}}other (lock-is-tried-again.c:{{.*}}): convert
// CHECK-NEXT: hold conditional again
// CHECK:      {{^}}signal (lock-is-tried-again.c:{{.*}}): keep
// CHECK:      [semaphore]
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t signal = PTHREAD_MUTEX_INITIALIZER;
static int total, waits;

static int acquire(pthread_mutex_t *m, int limit) {
  int tries = 0, r;
  do {
    r = pthread_mutex_lock(m);
    if (r != 0) {
      if (r == EAGAIN) {
        tries++;
        usleep(10);
      } else {
        break;
      }
    }
  } while (r != 0 && tries < limit);
  return r == 0;
}
int add(int n) {
  if (acquire(&lock, 3)) {
    total += n;
    pthread_mutex_unlock(&lock);
  }
  return total;
}
int again(int n) {
  int r;
  while ((r = pthread_mutex_lock(&other)) == EAGAIN || r == EINTR)
    n++;
  total += n;
  pthread_mutex_unlock(&other);
  return n;
}
void wait_for_signal(void) {
  for (;;) {
    pthread_mutex_lock(&signal);
    waits++;
  }
}
void send(void) {
  pthread_mutex_unlock(&signal);
}
