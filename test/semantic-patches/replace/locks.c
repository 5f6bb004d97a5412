// SPDX-License-Identifier: MIT
// Every type, initialiser and operation, in all branches of #if and in macros; attributes stay. A
// second run changes nothing, and the result behaves as before.
// REQUIRES: spatch
// RUN: %spatch %patches/replace/locks.cocci -D patch %s -o %t.c
// RUN: diff -u %S/locks.res %t.c
// RUN: %spatch %patches/replace/locks.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror -I%include %t.c %librelock -o %t.after && %t.after | diff %t.expected -
// RUN: %cc -Wall -Wextra -Werror -I%include -DCOUNT %t.c %librelock -o %t.after && %t.after | diff %t.expected -
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct queue {
  pthread_mutex_t lock, *other; /* two */
  pthread_cond_t more;
  int items;
};

static pthread_mutex_t simple = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

#define lock_type pthread_mutex_t
#define cond_pointer_t pthread_cond_t *
#define lock_init pthread_mutex_init
#define lock_destroy pthread_mutex_destroy
#define TAKE(q) pthread_mutex_lock(&(q)->lock)
#define GIVE(q)                     \
  do {                              \
    pthread_mutex_unlock(&(q)->lock); \
  } while (0)

static int (*const release)(pthread_mutex_t *) = pthread_mutex_unlock;

static int count(pthread_mutex_t *lock) {
  static int n;
#ifdef COUNT
  pthread_mutex_lock(lock);
#else
  if (pthread_mutex_lock(lock) != 0)
    return -1;
#endif
  n++;
  release(lock);
  return n;
}

static void *produce(void *unused) {
  TAKE(&queue);
  queue.items++;
  pthread_cond_signal(&queue.more);
  pthread_cond_broadcast(&queue.more);
  GIVE(&queue);
  return unused;
}

static int tried(void) {
  struct timespec soon = {0, 0};
  int result = pthread_mutex_trylock(&simple);
  int late = pthread_mutex_timedlock(&simple, &soon) == ETIMEDOUT;
  pthread_mutex_unlock(&simple);
  return result + late;
}

int main(void) {
  pthread_t thread;
  pthread_mutexattr_t attributes;
  lock_type *made = malloc(sizeof(pthread_mutex_t));
  struct timespec soon = {0, 0};
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  printf("%d\n", lock_init(made, &attributes));
  printf("%d %d\n", pthread_mutex_lock(made), pthread_mutex_lock(made));
  printf("%d %d\n", pthread_mutex_unlock(made), pthread_mutex_unlock(made));
  lock_destroy(made);
  pthread_mutexattr_destroy(&attributes);
  free((pthread_mutex_t *)made);
  printf("%d\n", count(&simple) + count(&table[1]));
  pthread_create(&thread, NULL, produce, NULL);
  TAKE(&queue);
  while (queue.items == 0)
    pthread_cond_wait(&queue.more, &queue.lock);
  printf("%d\n", pthread_cond_timedwait(&queue.more, &queue.lock, &soon) == ETIMEDOUT);
  GIVE(&queue);
  pthread_join(thread, NULL);
  printf("%d %d\n", queue.items, tried());
  pthread_cond_destroy(&queue.more);
  return pthread_mutex_destroy(&queue.lock);
}
