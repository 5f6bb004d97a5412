/* SPDX-License-Identifier: MIT
 *
 * Threads that share a list of jobs: each takes one, halves it, gives one half back, and goes on
 * with the other, until it is small enough to be done. One lock guards the list and the number of
 * jobs that are not done.
 *
 *   before [THREADS [NUMBERS]]
 *
 * A job is a range of numbers; what is summed up are the steps of each to 1 (Collatz).
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 8, MAX_THREADS = 256 };

struct job {
  struct job *next;
  long from, to;
};

static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *first, *last;
static long undone;

static void put(struct job *job) {
  job->next = NULL;
  pthread_mutex_lock(&jobs_lock);
  if (first)
    last->next = job;
  else
    first = job;
  last = job;
  undone++;
  pthread_mutex_unlock(&jobs_lock);
}

static struct job *take(void) {
  pthread_mutex_lock(&jobs_lock);
  struct job *job = first;
  if (job)
    first = job->next;
  pthread_mutex_unlock(&jobs_lock);
  return job;
}

static void done(void) {
  pthread_mutex_lock(&jobs_lock);
  undone--;
  pthread_mutex_unlock(&jobs_lock);
}

static int all_are_done(void) {
  pthread_mutex_lock(&jobs_lock);
  int all = undone == 0;
  pthread_mutex_unlock(&jobs_lock);
  return all;
}

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
