// A static function that nothing mentions is in no object file: what it calls need not be defined
// by the program, and reaches no lock.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: %verdicts %s -DUSED > %t || test $? = 1; FileCheck %s --check-prefix=USED < %t
// RUN: %verdicts %s -DALIASED > %t || test $? = 1; FileCheck %s --check-prefix=USED < %t
// RUN: %verdicts %s -DCLEANS > %t || test $? = 1; FileCheck %s --check-prefix=USED < %t
// CHECK: pool.lock (inline-function-that-nothing-uses.c:{{[0-9]+}}): convert
// USED:  pool.lock (inline-function-that-nothing-uses.c:{{[0-9]+}}): keep
// USED:  can be reached by 'pool_grow_elsewhere', which the program uses and does not define [outside]
#include <pthread.h>
struct pool { pthread_mutex_t lock; int n; };
extern void pool_grow_elsewhere(struct pool *);
static inline void pool_grow(struct pool *p) { pool_grow_elsewhere(p); }
#ifdef ALIASED
void grow(struct pool *p) __attribute__((alias("pool_grow")));
#endif
#ifdef CLEANS
static inline void clean(int *n) {
  (void)n;
  pool_grow_elsewhere(0);
}
#endif
void count(struct pool *p);
void count(struct pool *p) {
#ifdef CLEANS
  int n __attribute__((cleanup(clean))) = 0;
#endif
  pthread_mutex_lock(&p->lock);
  p->n++;
  pthread_mutex_unlock(&p->lock);
#ifdef USED
  pool_grow(p);
#endif
}
int main(void) {
  static struct pool p = {PTHREAD_MUTEX_INITIALIZER, 0};
  count(&p);
  return 0;
}
