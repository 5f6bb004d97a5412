/* SPDX-License-Identifier: MIT
 *
 * Threads that share a list of jobs: each takes one, halves it, gives one half back, and goes on
 * with the other, until it is small enough to be done. The list is a queue of relock/containers.h,
 * the number of jobs that are not done a counter.
 *
 *   after [THREADS [NUMBERS]]
 *
 * A job is a range of numbers; what is summed up are the steps of each to 1 (Collatz).
 */
#include <pthread.h>
#include <relock/containers.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 8, MAX_THREADS = 256 };

struct job {
  relock_node_t node; /* first: its address is the job's */
  long from, to;
};

RELOCK_LOCK_CLASS(jobs, "jobs", "adaptive");
RELOCK_LOCK_CLASS(undone, "undone", "adaptive");
static relock_queue_t jobs = RELOCK_QUEUE_INITIALIZER(jobs);
static relock_counter_t undone = RELOCK_COUNTER_INITIALIZER(undone, 0);

/* Counted first, so that the number is not 0 while there is one. */
static void put(struct job *job) {
  relock_counter_add(&undone, 1);
  relock_queue_enqueue(&jobs, &job->node);
}

static struct job *take(void) { return (struct job *)relock_queue_dequeue(&jobs); }

static void done(void) { relock_counter_add(&undone, (uint64_t)-1); }

static int all_are_done(void) { return relock_counter_read(&undone) == 0; }

static struct job *new_job(long from, long to) {
  struct job *job = malloc(sizeof *job);
  if (!job)
    abort();
  job->from = from;
  job->to = to;
  return job;
}

static long steps(long number) {
  long count = 0;
  for (; number != 1; count++)
    number = number % 2 ? 3 * number + 1 : number / 2;
  return count;
}

static void *work(void *sum) {
  while (!all_are_done()) {
    struct job *job = take();
    if (!job) {
      sched_yield();
      continue;
    }
    while (job->to - job->from > SMALL) {
      long middle = job->from + (job->to - job->from) / 2;
      put(new_job(middle, job->to));
      job->to = middle;
    }
    for (long number = job->from; number < job->to; number++)
      *(long *)sum += steps(number);
    free(job);
    done();
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  long numbers = argc > 2 ? atol(argv[2]) : 200000;
  pthread_t thread[MAX_THREADS];
  static long sums[MAX_THREADS][16]; /* a thread's is alone in its lines */
  long sum = 0;
  if (threads < 1 || threads > MAX_THREADS || numbers < 1) {
    fprintf(stderr, "usage: %s [THREADS (1 to %d) [NUMBERS]]\n", argv[0], MAX_THREADS);
    return 2;
  }
  put(new_job(1, 1 + numbers));
  for (int i = 0; i < threads; i++)
    pthread_create(&thread[i], NULL, work, sums[i]);
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    sum += sums[i][0];
  }
  printf("steps of 1 to %ld: %ld\n", numbers, sum);
  return 0;
}
