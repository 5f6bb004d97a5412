/* SPDX-License-Identifier: MIT
 *
 * returns THREADS MICROSECONDS SECONDS
 *
 * How long after the end of its section a call of relock_execute returns: threads call it in a
 * loop, with sections that keep the processor for so long. Prints the median, the 99th percentile
 * and the maximum in microseconds, and sections per second. RELOCK_LOCKS chooses the algorithm.
 */
#include <pthread.h>
#include <relock/relock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

RELOCK_LOCK_CLASS(lock_class, "returns", "adaptive");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(lock_class);

enum { MOST = 1 << 20 };
static uint64_t length_ns, until_ns;
static uint64_t delay_ns[MOST];
static uint32_t delays;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int section(void *context) {
  uint64_t *end = context;
  const uint64_t begin = now_ns();
  do
    *end = now_ns();
  while (*end - begin < length_ns);
  return 0;
}

static void *run(void *unused) {
  uint64_t end = 0;
  while (now_ns() < until_ns) {
    relock_execute(&mutex, section, &end);
    const uint64_t delay = now_ns() - end;
    const uint32_t place = __atomic_fetch_add(&delays, 1, __ATOMIC_RELAXED);
    if (place >= MOST)
      break;
    delay_ns[place] = delay;
  }
  return unused;
}

static int compare(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: returns THREADS MICROSECONDS SECONDS\n");
    return 2;
  }
  const unsigned long threads = strtoul(argv[1], NULL, 10);
  const double seconds = strtod(argv[3], NULL);
  length_ns = 1000 * strtoul(argv[2], NULL, 10);
  until_ns = now_ns() + (uint64_t)(1e9 * seconds);
  pthread_t *thread = calloc(threads + 1, sizeof *thread);
  for (unsigned long i = 0; i < threads; i++)
    if (!thread || pthread_create(&thread[i], NULL, run, NULL))
      abort();
  for (unsigned long i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  free(thread);
  const uint32_t count = delays < MOST ? delays : MOST;
  if (count == 0)
    return 1;
  qsort(delay_ns, count, sizeof *delay_ns, compare);
  printf("median %.1f us, P99 %.1f us, longest %.1f us, %.0f sections/s\n",
         (double)delay_ns[count / 2] / 1e3, (double)delay_ns[(uint64_t)count * 99 / 100] / 1e3,
         (double)delay_ns[count - 1] / 1e3, count / seconds);
  return 0;
}
