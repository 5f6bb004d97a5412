// SPDX-License-Identifier: MIT
// The type and every operation of barriers, in all branches of #if and in macros; attributes and
// mutexes stay. A second run changes nothing, and the result behaves as before.
// REQUIRES: spatch
// RUN: %spatch %patches/replace/barriers.cocci -D patch %s -o %t.c
// RUN: diff -u %S/barriers.res %t.c
// RUN: %spatch %patches/replace/barriers.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror -I%include %t.c %librelock -o %t.after && %t.after | diff %t.expected -
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 3 };

struct phase {
  pthread_barrier_t begin, *end; /* two */
  pthread_mutex_t lock;
  int sum;
};

#define barrier_type pthread_barrier_t
#define meet(barrier) pthread_barrier_wait(barrier)

static barrier_type end;
static struct phase phase = {.end = &end, .lock = PTHREAD_MUTEX_INITIALIZER};
static int serials;

static void *work(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    meet(&phase.begin);
    pthread_mutex_lock(&phase.lock);
    phase.sum += i;
    pthread_mutex_unlock(&phase.lock);
    if (pthread_barrier_wait(phase.end) == PTHREAD_BARRIER_SERIAL_THREAD)
      serials++;
  }
  return unused;
}

int main(void) {
  pthread_t thread[THREADS];
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  if (pthread_barrier_init(&phase.begin, &attributes, THREADS) != 0 ||
      pthread_barrier_init(phase.end, NULL, THREADS) != 0)
    return 1;
  for (int i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
#ifdef NEVER
  pthread_barrier_wait(&end);
#endif
  int (*destroy)(pthread_barrier_t *) = pthread_barrier_destroy;
  printf("%d %d %d\n", phase.sum, serials, destroy(&phase.begin) + pthread_barrier_destroy(&end));
  return 0;
}
