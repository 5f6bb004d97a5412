// SPDX-License-Identifier: MIT
// Readers-writer locks and spinlocks stay what they are, and count in the order of locks: a section
// may take one if none of its holders waits for anything else. One that is taken in a section and
// kept beyond its end, by a callee or in the text, belongs to the wrong thread.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  delegate straight read_in_callee
// CHECK-DAG:  hold straight read_pages
// CHECK-DAG:  takes 'page_lock', whose holder may wait here for other threads [lock-order]
// CHECK-DAG:  hold straight spin
// CHECK-DAG:  takes 'spinlock', whose holder may wait for 'spinning' here [lock-order]
// CHECK-DAG:  hold nested keep_it
// CHECK-DAG:  takes or releases another lock here, but not both on each path [nested]
// CHECK-DAG:  hold straight keep_in_callee
// CHECK-DAG:  calls 'open_table', which may return holding a readers-writer lock, spinlock or the like, whose owner is a thread [kernel-thread]
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t calm = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t spinning = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t catalogue_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t page_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static sem_t pages;
static int table = 1, page = 2, total;

static int get(void) {
  pthread_rwlock_rdlock(&table_lock);
  int value = table;
  pthread_rwlock_unlock(&table_lock);
  return value;
}

static void read_in_callee(void) {
  pthread_mutex_lock(&calm);
  total += get();
  pthread_mutex_unlock(&calm);
}

static void write_page(void) {
  pthread_rwlock_wrlock(&page_lock);
  sem_wait(&pages);
  page++;
  pthread_rwlock_unlock(&page_lock);
}

static void read_pages(void) {
  pthread_mutex_lock(&busy);
  pthread_rwlock_rdlock(&page_lock);
  total += page;
  pthread_rwlock_unlock(&page_lock);
  pthread_mutex_unlock(&busy);
}

static void spin(void) {
  pthread_mutex_lock(&spinning);
  pthread_spin_lock(&spinlock);
  total++;
  pthread_spin_unlock(&spinlock);
  pthread_mutex_unlock(&spinning);
}

static void other_in_spin(void) {
  pthread_spin_lock(&spinlock);
  pthread_mutex_lock(&other);
  pthread_mutex_lock(&spinning);
  total++;
  pthread_mutex_unlock(&spinning);
  pthread_mutex_unlock(&other);
  pthread_spin_unlock(&spinlock);
}

static void keep_it(void) {
  pthread_mutex_lock(&kept);
  total++;
  pthread_rwlock_wrlock(&table_lock);
  pthread_mutex_unlock(&kept);
  table++;
  pthread_rwlock_unlock(&table_lock);
}

static void open_table(void) {
  if (table)
    pthread_rwlock_wrlock(&catalogue_lock);
}

static void keep_in_callee(void) {
  pthread_mutex_lock(&kept);
  open_table();
  pthread_mutex_unlock(&kept);
  table++;
  pthread_rwlock_unlock(&catalogue_lock);
}

int main(void) {
  sem_init(&pages, 0, 1);
  pthread_spin_init(&spinlock, 0);
  read_in_callee();
  write_page();
  read_pages();
  spin();
  other_in_spin();
  keep_it();
  keep_in_callee();
  printf("%d %d %d\n", total, page, table);
  return 0;
}
