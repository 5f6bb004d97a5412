// What a macro means in skipped text is what that text defines, also where compiled text defines it
// otherwise: another kind of lock is none of ours there. Where it is not surely so defined, the
// compiled definition counts.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: mkdir -p %t.d && sed 's,//MAYBE ,,' %s > %t.d/maybe.c
// RUN: %verdicts %t.d/maybe.c > %t || test $? = 1; FileCheck %s --check-prefix=MAYBE < %t
// CHECK:      jobs (skipped-text-redefines-its-macros.c:{{[0-9]+}}): convert
// CHECK-NOT:  uncovered]
// CHECK:      0 uncovered
// MAYBE:      jobs (maybe.c:{{[0-9]+}}): convert
// MAYBE:      maybe.c:[[#]]: job_lock_debug in text that no indexed configuration compiles
#include <pthread.h>
#include <stdio.h>
int lock_debug, total;
#ifndef OTHER_LOCKS
typedef pthread_mutex_t job_mutex;
#define job_lock_nodebug(m) pthread_mutex_lock(m)
#define job_lock_debug(m) (printf("%p\n", m), job_lock_nodebug(m))
#define job_lock(m) job_lock_debug(m)
#define job_unlock(m) pthread_mutex_unlock(m)
#else
typedef other_mutex job_mutex;
#define job_lock_nodebug(m) other_mutex_lock(m)
#define job_lock_debug(m) (printf("%p\n", m), job_lock_nodebug(m))
#define job_lock(m) job_lock_debug(m)
#define job_unlock(m) other_mutex_unlock(m)
#endif
//MAYBE #ifdef NO_CONFIGURATION
//MAYBE #ifdef SPIN
//MAYBE #define job_lock_debug(m) other_mutex_lock(m)
//MAYBE #endif
//MAYBE #define job_lock_twice(m) (job_lock_debug(m), job_lock_debug(m))
//MAYBE #endif
static job_mutex jobs = PTHREAD_MUTEX_INITIALIZER;
void count(void);
void count(void) {
  job_lock(&jobs);
  total++;
  job_unlock(&jobs);
}
