// SPDX-License-Identifier: MIT
// Under the profiler sections are passed on as without. What it leaves in a thread that takes
// pthread locks, to see whether that loses its processor, is no reason to run one's own.
// REQUIRES: plain
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: %t > %t.alone
// RUN: %relock profile -o %t.profile -- %t > %t.profiled
// RUN: cat %t.alone %t.profiled; cmp %t.alone %t.profiled
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(busy_class, "busy", "ccsynch");
static relock_mutex_t busy = RELOCK_MUTEX_INITIALIZER(busy_class);
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;

enum { CLIENTS = 3, LOCKS = 100000, ROUNDS = 20 };
static int asking;

static int nothing(void *context) { return context != NULL; }

static void *work(void *unused) {
  for (int i = 0; i < LOCKS; i++) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
  }
  __atomic_fetch_add(&asking, 1, __ATOMIC_RELAXED);
  relock_execute(&busy, nothing, NULL);
  return unused;
}

static unsigned long delegated(void) {
  relock_statistics_t statistics;
  relock_class_statistics(RELOCK_CLASS(busy_class), &statistics);
  return statistics.delegated;
}

/* Clients queue behind a holder, if the machine lets them. */
static void play_round(void) {
  pthread_t threads[CLIENTS];
  asking = 0;
  relock_mutex_lock(&busy);
  for (int i = 0; i < CLIENTS; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  while (__atomic_load_n(&asking, __ATOMIC_RELAXED) < CLIENTS)
    usleep(1000);
  usleep(100000);
  relock_mutex_unlock(&busy);
  for (int i = 0; i < CLIENTS; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
  for (int i = 0; i < ROUNDS && !delegated(); i++)
    play_round();
  printf("%s\n", delegated() ? "passed on" : "not passed on");
  return 0;
}
