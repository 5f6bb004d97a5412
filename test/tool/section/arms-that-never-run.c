// SPDX-License-Identifier: MIT
// An arm that a constant condition leaves out does not run: it takes no lock, calls nothing, and
// mixes no locks. Its text changes with theirs. A label makes it run, and what a compiler knows of a
// value is no constant of the program.
// RUN: %check_rewrite %s --accept-uncovered --algorithms=ccsynch,rcl --stats | FileCheck %s --check-prefix=TEXT
// RUN: %program %s %t && cd %t
// RUN: (%relock check -p build; echo "status $?") | FileCheck %s --check-prefix=KEPT
// RUN: (%relock check -p build --accept-uncovered; echo "status $?") | FileCheck %s
// What never takes a lock fails no build; the pointer does.
// RUN: cd %t && not %relock check -p build --accept-uncovered --fail-on=uncovered 2>&1 | FileCheck %s --check-prefix=GATE
// GATE: 1 finding fails the check: 1 uncovered;
// KEPT:       inner ({{.*}}): keep
// KEPT:       push.own ({{.*}}): keep
// KEPT:         arms-that-never-run.c:[[#MACRO:]]: mixes with a pointer that is not followed, in an arm of a constant condition that never runs here [uncovered]
// KEPT:       10 lock sites: 0 delegate, 0 hold, 7 keep, 3 uncovered
// CHECK:      inner ({{.*}}): convert
// CHECK:        delegate straight main
// CHECK:      queue.lock ({{.*}}): convert
// CHECK:        delegate straight push
// CHECK-NEXT:   delegate straight push
// CHECK-NEXT:   delegate straight never
// CHECK-NEXT:   delegate straight entered
// CHECK-NEXT:   delegate straight entered
// CHECK-NEXT:   hold straight may
// CHECK-NEXT:     calls 'usleep', which may block [may-block]
// CHECK:      a pointer that is not followed, in an arm of a constant condition that never runs here [uncovered]
// CHECK:      10 lock sites: 6 delegate, 1 hold, 0 keep, 3 uncovered
// TEXT:       a pointer that is not followed, in an arm that never runs here, becomes one to a converted lock [uncovered]
// TEXT:       +    relock_mutex_t *own = (relock_mutex_t *)&(x).lock; \
// TEXT:       stats: queue.lock held=1 executed=5
// TEXT:       check-rewrite: ok
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef pthread_mutex_t my_lock;
#define LOCK(l) pthread_mutex_lock(l)
#define UNLOCK(l) pthread_mutex_unlock(l)
enum { LOCK_RELOCK, UNLOCK_RELOCK }; /* taken: the macros change for all */

struct small { char lock[0]; long value; };
struct large { my_lock lock; long value; };

#define ADD(x, n) (sizeof(x) > sizeof(long) ? ({ \
    my_lock *own = (my_lock *)&(x).lock; \
    LOCK(own); \
    (x).value += (n); \
    UNLOCK(own); \
    (x).value; \
  }) : __atomic_add_fetch(&(x).value, (n), __ATOMIC_SEQ_CST))

struct queue { my_lock lock; long length; };
#define PUSH(q) do { LOCK(&(q)->lock); (q)->length++; UNLOCK(&(q)->lock); } while (0)

static struct small events;
static my_lock inner = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void push(struct queue *q) {
  PUSH(q);
  LOCK(&q->lock);
  ADD(events, 1);
  UNLOCK(&q->lock);
}

static void never(struct queue *q) {
  LOCK(&q->lock);
  sum++;
  if (sizeof(long) < 4 && sum)
    usleep(1);
  if (0) {
    sum += 0 && sum;
    LOCK(&inner);
  }
  q->length += __builtin_choose_expr(sizeof(int) == 4, 1, ({ LOCK(&inner); 2; }));
  UNLOCK(&q->lock);
}

static void entered(struct queue *q, int n) {
  if (n > 1)
    goto out;
  LOCK(&q->lock);
  sum++;
  UNLOCK(&q->lock);
  if (0) {
  out:
    LOCK(&q->lock);
    sum += 10;
    UNLOCK(&q->lock);
  }
}

static void may(struct queue *q) {
  LOCK(&q->lock);
  sum++;
  if (__builtin_constant_p(&sum))
    usleep(1);
  UNLOCK(&q->lock);
}

int main(void) {
  struct queue q = {PTHREAD_MUTEX_INITIALIZER, 0};
  push(&q);
  never(&q);
  entered(&q, 1);
  entered(&q, 2);
  may(&q);
  LOCK(&inner);
  sum++;
  UNLOCK(&inner);
  printf("%ld %ld %ld\n", q.length, events.value, sum);
  return 0;
}
