// SPDX-License-Identifier: MIT
// Who waits for a lock of librelock, as a holder or with a section, knows how many others did.
// REQUIRES: plain
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: for algorithm in adaptive posix ccsynch rcl mcs; do \
// RUN:   RELOCK_LOCKS="*=$algorithm" %relock profile -o %t.profile -- %t || exit 9; \
// RUN:   %python %S/Inputs/expect.py %t.profile \
// RUN:     'lock("busy")["wait"]["count"] == 6 and lock("busy")["timeouts"] == 1' \
// RUN:     'lock("busy")["waiters"] == {"mean": 2.5, "max": 5}' \
// RUN:     'lock("recursive")["waiters"] == {"mean": 2.5, "max": 5}' \
// RUN:     'lock("free")["waiters"] == {"mean": 0, "max": 0}' \
// RUN:     || { echo with $algorithm; exit 9; }; \
// RUN: done
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: busy
// CHECK: waiters at most 5
#define _GNU_SOURCE
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(busy_class, "busy", "adaptive");
static relock_mutex_t busy = RELOCK_MUTEX_INITIALIZER(busy_class);
RELOCK_LOCK_CLASS(free_class, "free", "adaptive");
static relock_mutex_t unwanted = RELOCK_MUTEX_INITIALIZER(free_class);
RELOCK_LOCK_CLASS(recursive_class, "recursive", "adaptive");
static relock_mutex_t recursive;

enum { THREADS = 5 };
static int asking; /* the thread that is about to wait, as the system knows it */

static int nothing(void *context) { return context != NULL; }

static void *hold(void *mutex) {
  __atomic_store_n(&asking, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  relock_mutex_lock(mutex);
  relock_mutex_unlock(mutex);
  return NULL;
}

static void *execute(void *mutex) {
  __atomic_store_n(&asking, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  relock_execute(mutex, nothing, NULL);
  return NULL;
}

static int is_asleep(int thread) {
  char path[64], text[400] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file)
    return 0;
  size_t length = fread(text, 1, sizeof text - 1, file);
  text[length] = '\0';
  fclose(file);
  const char *state = strrchr(text, ')');
  return state && state[1] && state[2] == 'S';
}

static void *give_up(void *mutex) {
  const struct timespec past = {0};
  relock_mutex_timedlock(mutex, &past);
  return NULL;
}

/* Each waits before the next one comes. */
static void queue_up(relock_mutex_t *mutex) {
  pthread_t threads[THREADS], last;
  relock_mutex_lock(mutex);
  for (int i = 0; i < THREADS; i++) {
    asking = 0;
    pthread_create(&threads[i], NULL, i % 2 ? hold : execute, mutex);
    int thread;
    while (!(thread = __atomic_load_n(&asking, __ATOMIC_ACQUIRE)) || !is_asleep(thread))
      usleep(1000);
  }
  pthread_create(&last, NULL, give_up, mutex);
  pthread_join(last, NULL);
  relock_mutex_unlock(mutex);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(&recursive, &attributes, RELOCK_CLASS(recursive_class));
  queue_up(&busy);
  queue_up(&recursive);
  for (int i = 0; i < 3; i++) {
    relock_mutex_lock(&unwanted);
    relock_mutex_unlock(&unwanted);
    relock_execute(&unwanted, nothing, NULL);
  }
  return 0;
}
