// SPDX-License-Identifier: MIT
// A cast of a lock operand goes where it changes nothing, and with the mutex's type where it does.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      hold cross-function lock_counter
// CHECK:      delegate straight wrapped
// CHECK-NEXT: delegate straight idle
// CHECK-NEXT: delegate straight unlocked_without
// CHECK-NEXT: delegate straight of_constant
// CHECK-NEXT: hold straight held
// CHECK:      delegate straight of_volatile
// TEXT:       relock_execute{{[a-z_]*}}(&c->mutex, wrapped_section, &section);
// TEXT:       relock_execute{{[a-z_]*}}(&c->mutex, idle_section, &section);
// TEXT:       relock_execute{{[a-z_]*}}(&c->mutex, unlocked_without_section, &section);
// TEXT:       relock_execute{{[a-z_]*}}((relock_mutex_t *)&c->other, of_volatile_section,
// TEXT:       relock_execute{{[a-z_]*}}((relock_mutex_t *)&c->mutex, of_constant_section,
// TEXT:       relock_mutex_lock((relock_mutex_t *)&c->mutex);
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct counter {
  pthread_mutex_t mutex;
  volatile pthread_mutex_t other;
  long total;
};

static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0};

static void lock_counter(struct counter *c) {
  pthread_mutex_lock((pthread_mutex_t *)&c->mutex);
}
static void unlock_counter(struct counter *c) {
  pthread_mutex_unlock((pthread_mutex_t *)&c->mutex);
}

static void wrapped(struct counter *c, int n) {
  lock_counter(c);
  c->total += n;
  unlock_counter(c);
}

static void idle(struct counter *c, int n) {
  pthread_mutex_lock((pthread_mutex_t *)&c->mutex);
  c->total += n;
  pthread_mutex_unlock((pthread_mutex_t *)&c->mutex);
}

static void unlocked_without(struct counter *c, int n) {
  pthread_mutex_lock((pthread_mutex_t *)(&c->mutex));
  c->total += n;
  pthread_mutex_unlock(&c->mutex);
}

static void of_volatile(struct counter *c, int n) {
  pthread_mutex_lock((pthread_mutex_t *)&c->other);
  c->total += n;
  pthread_mutex_unlock((pthread_mutex_t *)&c->other);
}

static void of_constant(const struct counter *c, long *sum) {
  pthread_mutex_lock((pthread_mutex_t *)&c->mutex);
  *sum += c->total;
  pthread_mutex_unlock((pthread_mutex_t *)&c->mutex);
}

static void held(struct counter *c, int n) {
  pthread_mutex_lock((pthread_mutex_t *)&c->mutex);
  usleep(n);
  c->total += n;
  pthread_mutex_unlock((pthread_mutex_t *)&c->mutex);
}

int main(void) {
  long sum = 0;
  wrapped(&counter, 1);
  idle(&counter, 2);
  unlocked_without(&counter, 3);
  of_volatile(&counter, 4);
  held(&counter, 5);
  of_constant(&counter, &sum);
  printf("%ld\n", sum);
  return 0;
}
