// SPDX-License-Identifier: MIT
// Where processors are to spare, the share of sections in what the threads worked lies between the
// bounds that the report states, whether sections sleep or compute: the program measures it itself.
// (Where others have the processors no such share is stated.)
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: for how in sleep compute both; do \
// RUN:   %relock profile -o %t.profile -- %t $how > %t.truth || exit 1; \
// RUN:   %python %S/Inputs/share-of-work.py %t.profile %t.truth || exit 1; \
// RUN: done
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, ROUNDS = 20, IDLE = 25000 }; /* microseconds */

static pthread_mutex_t mutexes[THREADS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static useconds_t asleep, computing;
static struct truth {
  uint64_t in_sections, computed; /* of it */
} truths[THREADS];

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void compute(useconds_t microseconds) {
  uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + microseconds * 1000u;
  while (now(CLOCK_THREAD_CPUTIME_ID) < until)
    ;
}

static void *work(void *argument) {
  struct truth *truth = argument;
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t start, computed;
    usleep(IDLE);
    compute(1500);
    pthread_mutex_lock(&mutexes[truth - truths]);
    start = now(CLOCK_MONOTONIC);
    computed = now(CLOCK_THREAD_CPUTIME_ID);
    if (asleep)
      usleep(asleep);
    compute(computing);
    truth->computed += now(CLOCK_THREAD_CPUTIME_ID) - computed;
    truth->in_sections += now(CLOCK_MONOTONIC) - start;
    pthread_mutex_unlock(&mutexes[truth - truths]);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  uint64_t in_sections = 0, computed = 0;
  char how = argc > 1 ? argv[1][0] : 'b';
  asleep = how == 's' ? 2500 : how == 'b' ? 1000 : 0;
  computing = how == 'c' ? 2500 : how == 'b' ? 1500 : 0;
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, &truths[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    in_sections += truths[i].in_sections;
    computed += truths[i].computed;
  }
  /* Processor time outside of sections, and all that was done in them. */
  printf("%f\n",
         (double)in_sections / (double)(now(CLOCK_PROCESS_CPUTIME_ID) - computed + in_sections));
  return 0;
}
