// SPDX-License-Identifier: MIT
// C11's mutexes stay what they are, and count in the order of locks: a section may take one if none
// of its holders waits for anything else. A wait on a C11 condition variable is one.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  delegate straight read_in_callee
// CHECK-DAG:  delegate straight try_in_callee
// CHECK-DAG:  hold straight takes_busy
// CHECK-DAG:  takes 'page_lock', whose holder may wait here for other threads [lock-order]
// CHECK-DAG:  hold straight takes_circular
// CHECK-DAG:  takes 'other_lock', whose holder may wait for 'circular' here [lock-order]
// CHECK-DAG:  hold straight keeps_in_callee
// CHECK-DAG:  calls 'open_table', which may return holding {{.*}}, whose owner is a thread [kernel-thread]
// CHECK-DAG:  hold straight waits_in_callee
// CHECK-DAG:  'await' calls 'cnd_wait', which may block [may-block]
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

static pthread_mutex_t calm = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t circular = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static mtx_t table_lock, page_lock, other_lock, catalogue_lock, event_lock;
static cnd_t event;
static sem_t pages;
static int table = 1, page = 2, events = 1, total;

static int get(void) {
  mtx_lock(&table_lock);
  int value = table;
  mtx_unlock(&table_lock);
  return value;
}

static void read_in_callee(void) {
  pthread_mutex_lock(&calm);
  total += get();
  pthread_mutex_unlock(&calm);
}

static int get_if_free(void) {
  int value = 0;
  if (mtx_trylock(&table_lock) == thrd_success) {
    value = table;
    mtx_unlock(&table_lock);
  }
  return value;
}

static void try_in_callee(void) {
  pthread_mutex_lock(&calm);
  total += get_if_free();
  pthread_mutex_unlock(&calm);
}

static void write_page(void) {
  mtx_lock(&page_lock);
  sem_wait(&pages);
  page++;
  mtx_unlock(&page_lock);
}

static void takes_busy(void) {
  pthread_mutex_lock(&busy);
  mtx_lock(&page_lock);
  total += page;
  mtx_unlock(&page_lock);
  pthread_mutex_unlock(&busy);
}

static void takes_circular(void) {
  pthread_mutex_lock(&circular);
  mtx_lock(&other_lock);
  total++;
  mtx_unlock(&other_lock);
  pthread_mutex_unlock(&circular);
}

static void other_way_round(void) {
  mtx_lock(&other_lock);
  pthread_mutex_lock(&circular);
  total++;
  pthread_mutex_unlock(&circular);
  mtx_unlock(&other_lock);
}

static void open_table(void) {
  if (table)
    mtx_lock(&catalogue_lock);
}

static void keeps_in_callee(void) {
  pthread_mutex_lock(&kept);
  open_table();
  pthread_mutex_unlock(&kept);
  mtx_unlock(&catalogue_lock);
}

static void await(void) {
  mtx_lock(&event_lock);
  while (!events)
    cnd_wait(&event, &event_lock);
  mtx_unlock(&event_lock);
}

static void waits_in_callee(void) {
  pthread_mutex_lock(&waiting);
  await();
  total++;
  pthread_mutex_unlock(&waiting);
}

int main(void) {
  sem_init(&pages, 0, 1);
  for (mtx_t *const *m = (mtx_t *[]){&table_lock, &page_lock, &other_lock, &catalogue_lock, &event_lock,
                                     NULL};
       *m; ++m)
    mtx_init(*m, mtx_plain);
  cnd_init(&event);
  read_in_callee();
  try_in_callee();
  write_page();
  takes_busy();
  takes_circular();
  other_way_round();
  keeps_in_callee();
  waits_in_callee();
  printf("%d %d\n", total, page);
}
