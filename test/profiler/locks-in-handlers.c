// SPDX-License-Identifier: MIT
// A signal handler that locks at any moment of the program's own locking changes none of its counts.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("outer")["acquisitions"] == lock("inner")["acquisitions"] == 1000000' \
// RUN:   'lock("outer")["hold"]["count"] == lock("inner")["hold"]["count"] == 1000000' \
// RUN:   '0 < lock("handlers")["acquisitions"] <= 20000' \
// RUN:   'lock("handlers")["hold"]["count"] == lock("handlers")["acquisitions"]'
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t handlers = PTHREAD_MUTEX_INITIALIZER;
static int handled;

static void handle(int signal) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  pthread_mutex_lock(&handlers);
  pthread_mutex_unlock(&handlers);
  if (++handled == 20000)
    setitimer(ITIMER_REAL, &never, NULL);
  (void)signal;
}

int main(void) {
  const struct itimerval often = {{0, 50}, {0, 50}};
  signal(SIGALRM, handle);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 1000000; i++) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
  }
  return 0;
}
