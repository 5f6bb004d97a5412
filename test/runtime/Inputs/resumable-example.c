/* SPDX-License-Identifier: MIT
 * Uses the examples of relock.h, which EXAMPLE and WORKER name: every item arrives once, an empty
 * queue makes a consumer wait until its time is over, and a worker empties a full one. */
#include <relock/relock.h>

#include EXAMPLE

#include <stdio.h>

enum { SIDE = 3, ITEMS = 5000 };

static struct queue queue;
static int worked;

static void run(int item) {
  if (relock_mutex_trylock(&queue.lock) == 0) { /* the worker has released it */
    worked += item;
    relock_mutex_unlock(&queue.lock);
  }
}

#include WORKER

static void *put_all(void *unused) {
  for (int i = 1; i <= ITEMS; i++)
    push(&queue, i);
  return unused;
}

static struct timespec seconds_from_now(int seconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += seconds;
  return time;
}

static void *take_all(void *sum) {
  struct timespec deadline = seconds_from_now(100);
  for (int i = 0; i < ITEMS; i++)
    *(long *)sum += pop(&queue, &deadline);
  return NULL;
}

int main(void) {
  pthread_t producer[SIDE], consumer[SIDE];
  long sum[SIDE] = {0}, total = 0;
  struct timespec past = seconds_from_now(-1);
  printf("empty: %d\n", pop(&queue, &past));
  for (int i = 0; i < SIDE; i++) {
    pthread_create(&producer[i], NULL, put_all, NULL);
    pthread_create(&consumer[i], NULL, take_all, &sum[i]);
  }
  for (int i = 0; i < SIDE; i++) {
    pthread_join(producer[i], NULL);
    pthread_join(consumer[i], NULL);
    total += sum[i];
  }
  printf("sum: %ld\n", total - SIDE * (ITEMS * (ITEMS + 1L) / 2));
  for (int i = 1; i <= 4; i++)
    push(&queue, i);
  work(&queue);
  printf("worked: %d\n", worked);
  return 0;
}
