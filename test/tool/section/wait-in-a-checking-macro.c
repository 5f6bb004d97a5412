// SPDX-License-Identifier: MIT
// A macro that waits, and ends the process where that fails, is the wait: it returns 0. A timed
// wait may return otherwise, and a macro that does more is more.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// CHECK:        while (items == 0)
// CHECK-NEXT:     RELOCK_COND_WAIT(
// CHECK-NEXT:   if (items < 0) {
// CHECK-NEXT:     RELOCK_COND_WAIT(
// CHECK-NEXT:   }
// CHECK:        while (items == 0) {
// CHECK-NEXT:     RELOCK_COND_WAIT(
// CHECK-NEXT:   }
// VERDICT-DAG:  delegate straight put
// VERDICT-DAG:  delegate waiting take
// VERDICT-DAG:  delegate waiting take_noted
// VERDICT-DAG:  hold waiting take_in_time
// VERDICT-DAG:  hold waiting take_counted
// VERDICT:      tests of a lock's or unlock's result that delegated sections drop
// VERDICT:        wait-in-a-checking-macro.c:{{[0-9]+}}: in take
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define AZ(e)                                                                                      \
  do {                                                                                             \
    if ((e) != 0)                                                                                  \
      abort();                                                                                     \
  } while (0)
#define NOTED(e)                                                                                   \
  {                                                                                                \
    int error_ = (e);                                                                              \
    if (error_ != 0) {                                                                             \
      fprintf(stderr, "%s: %d\n", #e, error_);                                                     \
      abort();                                                                                     \
    }                                                                                              \
  }
#define COUNTED(e)                                                                                 \
  do {                                                                                             \
    AZ(e);                                                                                         \
    waits++;                                                                                       \
  } while (0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int items, taken, waits;

static void put(void) {
  AZ(pthread_mutex_lock(&lock));
  items++;
  AZ(pthread_cond_signal(&more));
  AZ(pthread_mutex_unlock(&lock));
}

static void take(void) {
  AZ(pthread_mutex_lock(&lock));
  while (items == 0)
    AZ(pthread_cond_wait(&more, &lock));
  if (items < 0) {
    AZ(pthread_cond_wait(&more, &lock));
  }
  items--;
  taken++;
  AZ(pthread_mutex_unlock(&lock));
}

static void take_noted(void) {
  NOTED(pthread_mutex_lock(&lock));
  while (items == 0) {
    NOTED(pthread_cond_wait(&more, &lock));
  }
  items--;
  taken++;
  NOTED(pthread_mutex_unlock(&lock));
}

static void take_in_time(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  AZ(pthread_mutex_lock(&lock));
  while (items == 0)
    AZ(pthread_cond_timedwait(&more, &lock, &end));
  items--;
  taken++;
  AZ(pthread_mutex_unlock(&lock));
}

static void take_counted(void) {
  AZ(pthread_mutex_lock(&lock));
  while (items == 0)
    COUNTED(pthread_cond_wait(&more, &lock));
  items--;
  taken++;
  AZ(pthread_mutex_unlock(&lock));
}

static void *work(void *unused) {
  for (int i = 0; i < 500; i++) {
    take();
    take_noted();
    take_in_time();
    take_counted();
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 6000; i++)
    put();
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d %d\n", items, taken, waits >= 0);
  return 0;
}
