// SPDX-License-Identifier: MIT
// A function that takes a readers-writer lock for reading or for writing, as its callers ask for, takes
// it in any case; not so where the two arms do not do the same with the same lock.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  delegate straight either
// CHECK-DAG:  delegate straight result_tested
// CHECK-DAG:  hold nested two_locks
// CHECK-DAG:  hold nested one_tries
// CHECK-DAG:  hold straight released_in_an_arm
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t other_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t third_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int config = 2, total;

static void config_take(int write) {
  if (write) {
    pthread_rwlock_wrlock(&config_lock);
  } else {
    pthread_rwlock_rdlock(&config_lock);
  }
}
static int config_get(int write) {
  if (write)
    return pthread_rwlock_wrlock(&config_lock);
  return pthread_rwlock_rdlock(&config_lock);
}
static void config_release(void) {
  pthread_rwlock_unlock(&config_lock);
}
static void of_two(int write) {
  if (write)
    pthread_rwlock_wrlock(&other_lock);
  else
    pthread_rwlock_rdlock(&third_lock);
}
static int tries(int write) {
  if (write)
    return pthread_rwlock_trywrlock(&other_lock);
  return pthread_rwlock_rdlock(&other_lock);
}
static void takes_or_releases(int write) {
  if (write)
    pthread_rwlock_wrlock(&third_lock);
  else
    pthread_rwlock_unlock(&third_lock);
}
static int get(int write) {
  config_take(write);
  int value = config;
  config_release();
  return value;
}
static int either(void) {
  pthread_mutex_lock(&mutex);
  total += get(0) + get(1);
  pthread_mutex_unlock(&mutex);
  return total;
}
static int tested(int write) {
  if (config_get(write) != 0)
    return -1;
  int value = config;
  config_release();
  return value;
}
static int result_tested(void) {
  pthread_mutex_lock(&mutex);
  total += tested(0) + tested(1);
  pthread_mutex_unlock(&mutex);
  return total;
}
static int get_two(int write) {
  of_two(write);
  int value = config;
  pthread_rwlock_unlock(&other_lock); // that of its only caller
  return value;
}
static int two_locks(void) {
  pthread_mutex_lock(&mutex);
  total += get_two(1);
  pthread_mutex_unlock(&mutex);
  return total;
}
static int get_tried(int write) {
  tries(write);
  int value = config;
  pthread_rwlock_unlock(&other_lock);
  return value;
}
static int one_tries(void) {
  pthread_mutex_lock(&mutex);
  total += get_tried(1);
  pthread_mutex_unlock(&mutex);
  return total;
}
static int released_in_an_arm(void) {
  pthread_mutex_lock(&mutex);
  takes_or_releases(1);
  total += config;
  takes_or_releases(0);
  pthread_mutex_unlock(&mutex);
  return total;
}
int main(void) {
  printf("%d\n", either());
  printf("%d\n", result_tested());
  printf("%d\n", two_locks());
  printf("%d\n", one_tries());
  printf("%d\n", released_in_an_arm());
  return 0;
}
