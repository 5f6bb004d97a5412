// SPDX-License-Identifier: MIT
// A macro that locks under a condition, and does no more, is such a lock wherever it is used.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// CHECK:        relock_execute_if_any_thread(f->lock != NULL, f->lock, add_section, f);
// VERDICT-DAG:  delegate straight add
// VERDICT-DAG:  hold split add_otherwise
#include <pthread.h>
#include <stdio.h>

struct file {
  pthread_mutex_t *lock;
  int size;
};

#define FILE_LOCK(f)                                                                               \
  do {                                                                                             \
    if ((f)->lock != NULL)                                                                         \
      pthread_mutex_lock((f)->lock);                                                               \
  } while (0)
#define FILE_UNLOCK(f)                                                                             \
  do {                                                                                             \
    do {                                                                                           \
      if ((f)->lock != NULL) {                                                                     \
        pthread_mutex_unlock((f)->lock);                                                           \
      }                                                                                            \
    } while (0);                                                                                   \
  } while (0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;

static void add(struct file *f) {
  FILE_LOCK(f);
  f->size++;
  FILE_UNLOCK(f);
}

// The macro counts, too.
#define COUNTING_LOCK(f)                                                                           \
  do {                                                                                             \
    if ((f)->lock != NULL)                                                                         \
      pthread_mutex_lock((f)->lock);                                                               \
    counted++;                                                                                     \
  } while (0)

static void add_otherwise(struct file *f) {
  COUNTING_LOCK(f);
  f->size++;
  FILE_UNLOCK(f);
}

static struct file shared = {&lock, 0};

static void *work(void *unused) {
  struct file own = {NULL, 0};
  for (int i = 0; i < 2000; i++) {
    add(&shared);
    add(&own);
  }
  return own.size == 2000 ? unused : &shared;
}

int main(void) {
  pthread_t threads[4];
  int wrong = 0;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) {
    void *result;
    pthread_join(threads[i], &result);
    wrong += result != NULL;
  }
  struct file own = {NULL, 0};
  add_otherwise(&own);
  add_otherwise(&shared);
  printf("%d %d %d %d\n", shared.size, wrong, counted, own.size);
  return 0;
}
