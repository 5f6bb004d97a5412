// SPDX-License-Identifier: MIT
// A program's own struct makes one class of all its locks; the variables and members that they lie in
// tell them apart. A callee that releases another of them, and takes it again, does nothing to the
// lock of a delegated section; one that does so with the same one, or with what a pointer leads to,
// may. In the order of locks, another one is another lock: its holders may wait. What a function
// releases first, and takes again, its callers hold, and nobody else who is not seen.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate {{.*}} counts (
// CHECK-NEXT: hold {{.*}} flushes (
// CHECK-NEXT: calls 'flush_cache', which may take, release or wait with 'mutex_t.lock'
// CHECK-NEXT: hold {{.*}} flushes_any (
// CHECK-NEXT: calls 'flush_any', which may take, release or wait with 'mutex_t.lock'
// CHECK-NEXT: hold {{.*}} sends (
// CHECK-NEXT: calls 'put', which takes 'mutex_t.lock in queue.mutex', whose holder may wait here for other threads [lock-order]
// CHECK:      delegate {{.*}} notes_down (
// CHECK:      hold {{.*}} reports (
// CHECK-NEXT: calls 'log_after', which takes 'mutex_t.lock in log_mutex', whose holder may wait for 'mutex_t.lock in report.mutex' here [lock-order]
// CHECK:      hold {{.*}} kept (
// CHECK-NEXT: calls 'drop_sometimes', which takes 'mutex_t.lock in other_mutex', whose holder may wait here for other threads [lock-order]
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
  pthread_mutex_t lock;
} mutex_t;

static inline int mutex_lock(mutex_t *m) { return pthread_mutex_lock(&m->lock); }
static inline int mutex_unlock(mutex_t *m) { return pthread_mutex_unlock(&m->lock); }

static mutex_t counts_mutex = {PTHREAD_MUTEX_INITIALIZER};
static mutex_t log_mutex = {PTHREAD_MUTEX_INITIALIZER};
static mutex_t other_mutex = {PTHREAD_MUTEX_INITIALIZER};
struct report {
  mutex_t mutex;
  int lines;
};
static struct report report = {{PTHREAD_MUTEX_INITIALIZER}, 0};
struct cache {
  mutex_t mutex;
  int hits;
};
static struct cache cache = {{PTHREAD_MUTEX_INITIALIZER}, 0};
struct queue {
  mutex_t mutex;
  int length;
};
static struct queue queue = {{PTHREAD_MUTEX_INITIALIZER}, 0};
static int count, notes;

// With the cache's lock held.
static void flush_cache(void) {
  mutex_unlock(&cache.mutex);
  count += 0;
  mutex_lock(&cache.mutex);
}

static void flush_any(mutex_t *m) {
  mutex_unlock(m);
  count += 0;
  mutex_lock(m);
}

static void note(void) {
  mutex_lock(&log_mutex);
  notes++;
  mutex_unlock(&log_mutex);
}

static void put(int n) {
  mutex_lock(&queue.mutex);
  queue.length += n;
  if (queue.length < 0)
    usleep(1);
  mutex_unlock(&queue.mutex);
}

static void counts(int n) {
  mutex_lock(&counts_mutex);
  count += n;
  if (n < 0)
    flush_cache();
  mutex_unlock(&counts_mutex);
}

static void flushes(int n) {
  mutex_lock(&cache.mutex);
  cache.hits += n;
  flush_cache();
  mutex_unlock(&cache.mutex);
}

static void flushes_any(int n) {
  mutex_lock(&counts_mutex);
  count += n;
  flush_any(&counts_mutex);
  mutex_unlock(&counts_mutex);
}

static void sends(int n) {
  mutex_lock(&counts_mutex);
  put(n);
  mutex_unlock(&counts_mutex);
}

static void notes_down(int n) {
  mutex_lock(&counts_mutex);
  count += n;
  note();
  mutex_unlock(&counts_mutex);
}

// Takes it where it was not released before.
static void drop_sometimes(int n) {
  if (n > 1)
    mutex_unlock(&other_mutex);
  count += 0;
  mutex_lock(&other_mutex);
}

static void log_after(int n) {
  mutex_lock(&log_mutex);
  notes += n;
  if (n < 0) {
    mutex_lock(&report.mutex);
    report.lines++;
    mutex_unlock(&report.mutex);
  }
  mutex_unlock(&log_mutex);
}

static void reports(int n) {
  mutex_lock(&report.mutex);
  report.lines += n;
  log_after(0);
  mutex_unlock(&report.mutex);
}

static void kept(int n) {
  mutex_lock(&counts_mutex);
  count += n;
  if (n > 1)
    drop_sometimes(n);
  mutex_unlock(&counts_mutex);
}

static void *work(void *unused) {
  for (int i = 0; i < 500; i++) {
    counts(1);
    flushes(1);
    flushes_any(0);
    sends(1);
    notes_down(1);
    reports(1);
    kept(1);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d %d %d %d\n", count, cache.hits, queue.length, notes, report.lines);
  return 0;
}
