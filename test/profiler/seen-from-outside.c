// SPDX-License-Identifier: MIT
// `relock profile --pid` of a process that was not started under the profiler shows for which
// mutexes its threads wait, where, who has them and what those do meanwhile, and says so where they
// wait for each other. It asks nothing of the process, and writes no profile.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %cc -s -O1 %s -o %t.stripped -pthread
// RUN: %python %S/Inputs/seen_from_outside.py %relock %t %t.stripped
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct queue {
  pthread_mutex_t lock;
  long items;
};

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, idle = PTHREAD_MUTEX_INITIALIZER,
                       first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static struct queue *queue;

static void *hold_and_sleep(void *name) {
  prctl(PR_SET_NAME, name);
  for (;;) {
    pthread_mutex_lock(&busy);
    usleep(20000);
    pthread_mutex_unlock(&busy);
    usleep(100);
  }
  return NULL;
}

static void *wait_for_busy(void *name) {
  prctl(PR_SET_NAME, name);
  for (;;) {
    pthread_mutex_lock(&busy);
    pthread_mutex_unlock(&busy);
    usleep(100);
  }
  return NULL;
}

static void *work_in_queue(void *name) {
  prctl(PR_SET_NAME, name);
  for (;;) {
    pthread_mutex_lock(&queue->lock);
    for (int i = 0; i < 20; i++)
      queue->items += usleep(1000) == 0;
    pthread_mutex_unlock(&queue->lock);
  }
  return NULL;
}

static void *wait_for_ever(void *unused) {
  pthread_mutex_lock(&idle);
  for (;;)
    pthread_cond_wait(&never, &idle);
  return unused;
}

static int limited;
static const struct timespec never_reached = {.tv_sec = 1L << 40};

static void *first_then_second(void *unused) {
  pthread_mutex_lock(&first);
  pthread_barrier_wait(&both);
  limited ? pthread_mutex_timedlock(&second, &never_reached) : pthread_mutex_lock(&second);
  return unused;
}

static void *second_then_first(void *unused) {
  pthread_mutex_lock(&second);
  pthread_barrier_wait(&both);
  limited ? pthread_mutex_timedlock(&first, &never_reached) : pthread_mutex_lock(&first);
  return unused;
}

static void start(void *(*function)(void *), const char *name) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, (void *)name))
    abort();
}

int main(int argc, char **argv) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where only parents may look */
  queue = malloc(sizeof *queue);
  pthread_mutex_init(&queue->lock, NULL);
  pthread_barrier_init(&both, NULL, 2);
  start(wait_for_ever, "");
  if (argc > 1) {
    limited = strcmp(argv[1], "limited") == 0;
    start(first_then_second, "");
    start(second_then_first, "");
  } else {
    start(hold_and_sleep, "holder");
    start(wait_for_busy, "waiter");
    start(wait_for_busy, "waiter");
    start(work_in_queue, "worker");
    start(work_in_queue, "worker");
  }
  puts(argv[0]);
  fflush(stdout);
  for (;;)
    pause();
}
