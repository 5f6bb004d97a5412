// Barriers and containers for race detectors to watch. Each thread writes its place before a round
// and reads those of all others after it; what lies beside a node goes from thread to thread by a
// queue. Without an argument there is no race in it; "race": a thread writes its place once more
// between two rounds.
#include <pthread.h>
#include <relock/barriers.h>
#include <relock/containers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 30 };

RELOCK_LOCK_CLASS(jobs, "jobs", "ccsynch");
static relock_queue_t jobs = RELOCK_QUEUE_INITIALIZER(jobs);
static relock_stack_t done = RELOCK_STACK_INITIALIZER(jobs);
static relock_counter_t rounds = RELOCK_COUNTER_INITIALIZER(jobs, 0);

struct job {
  relock_node_t node;
  long value;
};

static relock_barrier_t *barrier, *second;
static long place[THREADS], total[THREADS], serial;
static int with_race;

static void make(relock_barrier_t **made) {
  *made = malloc(sizeof **made);
  relock_barrier_init(*made, NULL, THREADS);
}

static void put_job(long value) {
  struct job *job = malloc(sizeof *job);
  job->value = value;
  relock_queue_enqueue(&jobs, &job->node);
}

static long take_job(void) {
  struct job *job = (struct job *)relock_queue_dequeue(&jobs);
  if (!job)
    return 0;
  job->value++;
  relock_stack_push(&done, &job->node);
  return 1;
}

static void *work(void *arg) {
  const long me = (long)arg;
  for (long i = 0; i < ROUNDS; i++) {
    put_job(i);
    while (take_job() == 0)
      ;
    place[me] = i;
    if (relock_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
      relock_counter_add(&rounds, 1);
    for (int k = 0; k < THREADS; k++)
      total[me] += place[k];
    if (with_race && me == 1)
      place[me] = i;
    if (relock_barrier_wait(second) == PTHREAD_BARRIER_SERIAL_THREAD)
      serial++;
  }
  // One frees it while others may still leave.
  if (relock_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
    relock_barrier_destroy(barrier);
    memset(barrier, 0, sizeof *barrier);
    free(barrier);
  }
  return NULL;
}

int main(int argc, char **argv) {
  with_race = argc > 1 && strcmp(argv[1], "race") == 0;
  pthread_t threads[THREADS];
  make(&barrier);
  make(&second);
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  long sum = 0, values = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    sum += total[i];
  }
  relock_barrier_destroy(second);
  free(second);
  for (struct job *job; (job = (struct job *)relock_stack_pop(&done));) {
    values += job->value;
    free(job);
  }
  printf("sum %ld serial %ld rounds %lu values %ld\n", sum, serial,
         (unsigned long)relock_counter_read(&rounds), values);
  return 0;
}
