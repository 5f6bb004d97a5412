// SPDX-License-Identifier: MIT
// A function that skipped text defines operates on what its calls give it, and on no other lock: the
// calls stand in skipped text, or in an argument that a macro drops. One that does nothing to its
// lock keeps none.
// RUN: (%verdicts %s; true) | FileCheck %s
// RUN: (%verdicts %s -DDEBUG; true) | FileCheck %s --check-prefix=DEBUG
// CHECK:      asserted ({{.*}}): keep
// CHECK-NEXT:   skipped-function-of-a-lock.c:[[#]]: may be given to 'is_locked' here, which operates on it in text that no indexed configuration compiles (#ifdef DEBUG); index one that does [uncovered]
// CHECK:      by_macro ({{.*}}): keep
// CHECK-NEXT:   skipped-function-of-a-lock.c:[[#]]: may be given to 'is_locked' here, {{.*}} [uncovered]
// CHECK:      by_parameter ({{.*}}): keep
// CHECK-NEXT:   skipped-function-of-a-lock.c:[[#]]: may be given to 'is_locked' here, {{.*}} [uncovered]
// CHECK:      free_lock ({{.*}}): convert
// CHECK:      pipe.mutex ({{.*}}): keep
// CHECK-NEXT:   skipped-function-of-a-lock.c:[[#]]: may be given to 'is_locked' here, {{.*}} [uncovered]
// CHECK:      pool.mutex ({{.*}}): convert
// CHECK:      queue.lock ({{.*}}): keep
// CHECK-NEXT:   skipped-function-of-a-lock.c:[[#]]: may be given to 'is_free' here, {{.*}} [uncovered]
// CHECK:      shown ({{.*}}): convert
// DEBUG-NOT:  [uncovered]
#include <pthread.h>

#ifdef DEBUG
#include <assert.h>
#define ASSERT(condition) assert(condition)
#else
#define ASSERT(condition)
#endif

struct queue {
  pthread_mutex_t lock;
};
struct pipe {
  pthread_mutex_t mutex;
};
struct pool {
  pthread_mutex_t mutex;
};
static pthread_mutex_t asserted = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t by_macro = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t by_parameter = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t shown = PTHREAD_MUTEX_INITIALIZER;
static struct queue queue = {PTHREAD_MUTEX_INITIALIZER};
int total;

#ifdef DEBUG
static int
is_locked(pthread_mutex_t *m)
{
  if (pthread_mutex_trylock(m))
    return 1;
  pthread_mutex_unlock(m);
  return 0;
}
static int is_free(const char *why, pthread_mutex_t *const lock) { return why && !is_locked(lock); }
static int is_shown(pthread_mutex_t *lock);
static int is_shown(pthread_mutex_t *lock) { return lock != 0; }
#endif
#define HELD(q) ASSERT(is_locked(q))

static void held(pthread_mutex_t *m) { ASSERT(is_locked(m)); }

void add(void) {
  pthread_mutex_lock(&asserted);
  ASSERT(is_locked(&asserted));
  total++;
  pthread_mutex_unlock(&asserted);
  pthread_mutex_lock(&by_macro);
  HELD(&by_macro);
  total++;
  pthread_mutex_unlock(&by_macro);
  pthread_mutex_lock(&by_parameter);
  held(&by_parameter);
  total++;
  pthread_mutex_unlock(&by_parameter);
  pthread_mutex_lock(&free_lock);
  total++;
  pthread_mutex_unlock(&free_lock);
  pthread_mutex_lock(&shown);
  ASSERT(is_shown(&shown));
  total++;
  pthread_mutex_unlock(&shown);
  pthread_mutex_lock(&queue.lock);
#ifdef DEBUG
  if (!is_free("before", &queue.lock))
    total++;
#endif
  total++;
  pthread_mutex_unlock(&queue.lock);
}

void add_to_members(struct pipe *a, struct pool *b) {
  pthread_mutex_lock(&a->mutex);
  ASSERT(is_locked(&a->mutex));
  total++;
  pthread_mutex_unlock(&a->mutex);
  pthread_mutex_lock(&b->mutex);
  total++;
  pthread_mutex_unlock(&b->mutex);
}
