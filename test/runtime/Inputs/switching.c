/* SPDX-License-Identifier: MIT
 *
 * Contention comes and goes; prints what adaptive_rcl made of it. All threads use the mutex in
 * every way meanwhile, and no section may be lost.
 */
#include <relock/relock.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
RELOCK_LOCK_CLASS(busy, "busy", "adaptive_rcl");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);
static long counter;
static int work;

static int section(void *context) {
  if (++work % 16 == 0)
    sched_yield(); /* so that others come meanwhile, on any number of processors */
  counter += *(long *)context;
  return 0;
}

enum { THREADS = 4, ROUNDS = 3, CONTENDED = 5000, ALONE = 5000 };

static void *contend(void *unused) {
  long one = 1;
  for (int i = 0; i < CONTENDED; i++) {
    if (i % 8 == 0) {
      relock_mutex_lock(&mutex);
      counter++;
      relock_mutex_unlock(&mutex);
    } else {
      relock_execute_copy_any_thread(&mutex, section, &one, sizeof one);
    }
  }
  return unused;
}

static unsigned long switches(void) {
  relock_statistics_t statistics;
  relock_class_statistics(RELOCK_CLASS(busy), &statistics);
  return statistics.switches;
}

int main(void) {
  unsigned long before = 0, to_server = 0, back = 0;
  long one = 1;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
      pthread_create(&thread[i], NULL, contend, NULL);
    for (int i = 0; i < THREADS; i++)
      pthread_join(thread[i], NULL);
    to_server += switches() > before;
    before = switches();
    for (int i = 0; i < ALONE; i++)
      relock_execute_any_thread(&mutex, section, &one);
    back += switches() % 2 == 0; /* it began without the server */
    before = switches();
  }
  printf("handed over under contention: %s\n", to_server ? "yes" : "no");
  printf("without the server after each contention: %s\n", back == ROUNDS ? "yes" : "no");
  printf("sections lost: %ld\n", (long)ROUNDS * (THREADS * CONTENDED + ALONE) - counter);
  return 0;
}
