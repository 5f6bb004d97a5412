// SPDX-License-Identifier: MIT
// Lock wrappers that leave their operation out under a condition: where there is no lock, or no
// second thread. A companion asks for the condition once, and runs the section without the lock.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICTS
// CHECK:      static int early_execute(struct early *e, relock_section_t section, void *context) {
// CHECK-NEXT:   if (!e)
// CHECK-NEXT:     return section(context);
// CHECK-NEXT:   return relock_execute_any_thread(&e->mutex, section, context);
// CHECK-NEXT: }
// CHECK:      static int around_execute(struct around *a, relock_section_t section, void *context) {
// CHECK-NEXT:   int result;
// CHECK-EMPTY:
// CHECK-NEXT:   assert(threaded <= 1);
// CHECK-NEXT:   if (threaded == 0) {
// CHECK-NEXT:     single++;
// CHECK-NEXT:     result = section(context);
// CHECK-NEXT:     single--;
// CHECK-NEXT:     return result;
// CHECK-NEXT:   }
// CHECK-NEXT:   waited++;
// CHECK-NEXT:   return relock_execute_any_thread(&a->mutex, section, context);
// CHECK-NEXT: }
// CHECK:      static int status_execute(struct status *s, relock_section_t section, void *context) {
// CHECK-NEXT:   if (s == NULL) {
// CHECK-NEXT:     report("lock");
// CHECK-NEXT:     return section(context);
// CHECK-NEXT:   }
// CHECK-NEXT:   if (s->closed)
// CHECK-NEXT:     return section(context);
// CHECK-NEXT:   return relock_execute_any_thread(&s->mutex, section, context);
// CHECK-NEXT: }
// CHECK:      static int noted_execute_section(void *context) {
// CHECK:        n->owner = 1;
// CHECK-NEXT:   result = call->section(call->context);
// CHECK-NEXT:   n->owner = 0;
// CHECK:      static int noted_execute(struct noted *n, relock_section_t section, void *context) {
// CHECK-NEXT:   struct noted_execute_call call = {n, section, context};
// CHECK-EMPTY:
// CHECK-NEXT:   if (__builtin_expect(!n, 0))
// CHECK-NEXT:     return section(context);
// CHECK-NEXT:   return relock_execute_any_thread(&n->mutex, noted_execute_section, &call);
// VERDICTS:   9 lock sites: 5 delegate, 4 hold, 0 keep
// STATS-DAG:  stats: early.mutex held=0 executed=1
// STATS-DAG:  stats: around.mutex held=0 executed=1
// STATS-DAG:  stats: status.mutex held=0 executed=1
// STATS-DAG:  stats: noted.mutex held=0 executed=1
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static int threaded = 1, single, waited, reports;

struct early {
  pthread_mutex_t mutex;
};
static void early_lock(struct early *e) {
  if (!e)
    return;
  pthread_mutex_lock(&e->mutex);
}
static void early_unlock(struct early *e) {
  if (!e)
    return;
  pthread_mutex_unlock(&e->mutex);
}

struct around {
  pthread_mutex_t mutex;
};
static void around_lock(struct around *a) {
  assert(threaded <= 1);
  if (threaded != 0) {
    waited++;
    pthread_mutex_lock(&a->mutex);
  } else {
    single++;
  }
}
static void around_unlock(struct around *a) {
  if (threaded) {
    pthread_mutex_unlock(&a->mutex);
  } else {
    single--;
  }
}

static int report(const char *what) {
  fprintf(stderr, "cannot %s\n", what);
  reports++;
  return EINVAL;
}

struct status {
  pthread_mutex_t mutex;
  int closed;
};
static int status_lock(struct status *s) {
  int error;
  if (s == NULL)
    return report("lock");
  if (s->closed) {
    return 0;
  }
  error = pthread_mutex_lock(&s->mutex);
  if (error != 0)
    return error;
  return 0;
}
static int status_unlock(struct status *s) {
  int error = EPERM;
  if (!s)
    return EINVAL;
  if (!s->closed)
    error = pthread_mutex_unlock(&s->mutex);
  return error;
}

struct noted {
  pthread_mutex_t mutex;
  int owner;
};
static int noted_lock(struct noted *n) {
  if (__builtin_expect(!n, 0))
    return EINVAL;
  pthread_mutex_lock(&n->mutex);
  n->owner = 1;
  return 0;
}
static int noted_unlock(struct noted *n) {
  if (n == NULL)
    return EINVAL;
  n->owner = 0;
  return pthread_mutex_unlock(&n->mutex);
}

static struct early early = {PTHREAD_MUTEX_INITIALIZER};
static struct around around = {PTHREAD_MUTEX_INITIALIZER};
static struct status status = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct noted noted = {PTHREAD_MUTEX_INITIALIZER, 0};
static int sums[5];

static void add_early(struct early *e) {
  early_lock(e);
  sums[0] += 1 + !e;
  early_unlock(e);
}
static void add_around(struct around *a) {
  around_lock(a);
  sums[1] += 1 + 2 * single;
  around_unlock(a);
}
static void add_status(struct status *s) {
  status_lock(s);
  sums[2] += 1 + !s;
  status_unlock(s);
}
static void add_noted(struct noted *n) {
  noted_lock(n);
  sums[3] += n ? n->owner : 2;
  noted_unlock(n);
}
static int add_both(struct noted *n, struct early *e) {
  noted_lock(n);
  if (!e) {
    noted_unlock(n);
    return 0;
  }
  sums[4]++;
  noted_unlock(n);
  return 1;
}

int main(void) {
  add_early(&early);
  add_early(NULL);
  add_around(&around);
  threaded = 0;
  add_around(&around);
  add_status(&status);
  status.closed = 1;
  add_status(&status);
  add_status(NULL);
  add_noted(&noted);
  add_noted(NULL);
  printf("%d %d\n", add_both(NULL, &early), add_both(NULL, NULL));
  printf("%d %d %d %d %d, %d %d\n", sums[0], sums[1], sums[2], sums[3], sums[4], waited, reports);
  return 0;
}
