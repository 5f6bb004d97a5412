// Skipped text that operates by a macro which compiled text uses for locks of the same class is
// converted with the macro, though it is listed. A class that the macro is not used with stays.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: %rewritten %s > %t.c && FileCheck %s --check-prefix=AFTER < %t.c
// CHECK:      lane.mtx (skipped-operation-by-a-used-macro.c:{{[0-9]+}}): convert
// CHECK:      other.mtx (skipped-operation-by-a-used-macro.c:{{[0-9]+}}): keep
// CHECK-NEXT: may be operated on here, in text that no indexed configuration compiles (#ifdef DEBUG_LANES)
// CHECK:      LOCK in text that no indexed configuration compiles (#ifdef DEBUG_LANES)
// AFTER:      #define LOCK(m) relock_mutex_lock(m)
// AFTER:      #define QLOCK(q) (trace(q), LOCK(&(q)->mtx))
// AFTER:      #ifdef DEBUG_LANES
// AFTER-NEXT: LOCK(&q->mtx);
// AFTER:      relock_execute
#include <pthread.h>
#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) pthread_mutex_unlock(m)
struct lane { pthread_mutex_t mtx; int n; };
struct other { pthread_mutex_t mtx; int n; };
struct lane lanes[7] = {[0 ... 6] = {PTHREAD_MUTEX_INITIALIZER, 0}};
struct other others = {PTHREAD_MUTEX_INITIALIZER, 0};
#ifdef TRACE
#define QLOCK(q) (trace(q), LOCK(&(q)->mtx))
#else
#define QLOCK(q) LOCK(&(q)->mtx)
#endif
void count(struct lane *q, struct other *o);
void count(struct lane *q, struct other *o) {
#ifdef DEBUG_LANES
  LOCK(&q->mtx);
  print_lane(q);
  UNLOCK(&q->mtx);
#endif
  QLOCK(q);
  q->n++;
  UNLOCK(&q->mtx);
  pthread_mutex_lock(&o->mtx);
  o->n++;
  pthread_mutex_unlock(&o->mtx);
}
int main(void) {
  count(&lanes[0], &others);
  return 0;
}
