/* SPDX-License-Identifier: MIT
 *
 * As many critical sections per second as a program has that does little else, for overhead.py:
 * each thread locks a mutex of its own, counts, unlocks, and works outside for so many steps of
 * less than 1 ns. Seconds are those of processor time, which nobody else can take.
 *
 *   profiler-sections [THREADS [STEPS [SECONDS]]]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

static struct place {
  pthread_mutex_t mutex;
  uint64_t count;
} __attribute__((aligned(128))) places[THREADS_MAX];
static atomic_bool stop;
static long steps;

static void *visit(void *argument) {
  struct place *place = argument;
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    pthread_mutex_lock(&place->mutex);
    place->count++;
    pthread_mutex_unlock(&place->mutex);
    for (long i = 0; i < steps; i++)
      __asm__ volatile("" : : : "memory");
  }
  return NULL;
}

int main(int count, char **words) {
  int threads = count > 1 ? atoi(words[1]) : 1;
  double seconds = count > 3 ? atof(words[3]) : 1;
  pthread_t ids[THREADS_MAX];
  struct timespec used;
  uint64_t sum = 0;
  steps = count > 2 ? atol(words[2]) : 0;
  if (threads < 1 || threads > THREADS_MAX)
    return 2;
  for (int i = 0; i < threads; i++)
    pthread_mutex_init(&places[i].mutex, NULL);
  for (int i = 0; i < threads; i++)
    pthread_create(&ids[i], NULL, visit, &places[i]);
  usleep((useconds_t)(seconds * 1e6));
  atomic_store(&stop, 1); /* with visit(), where nothing depends on when it is seen */
  for (int i = 0; i < threads; i++)
    pthread_join(ids[i], NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  for (int i = 0; i < threads; i++)
    sum += places[i].count;
  printf("sections per second: %.0f\n",
         (double)sum * threads / ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec));
  return 0;
}
