// A macro's definition that no configuration compiles, of a macro that is used with another one: what
// its parameter is given is seen at the uses, so that no other lock stays for it. Where the compiled
// definition does nothing with that parameter, it may be any.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: mkdir -p %t.d && sed 's,//ANY,,' %s > %t.d/any.c
// RUN: %verdicts %t.d/any.c > %t || test $? = 1; FileCheck %s --check-prefix=ANY < %t
// CHECK:      given (skipped-definition-of-a-used-macro.c:{{[0-9]+}}): keep
// CHECK-NEXT: converted together with nested
// CHECK-NEXT: may be operated on here, in text that no indexed configuration compiles
// CHECK:      nested (skipped-definition-of-a-used-macro.c:{{[0-9]+}}): keep
// CHECK-NEXT: converted together with given
// CHECK-NEXT: may be operated on here, in text that no indexed configuration compiles
// CHECK:      other (skipped-definition-of-a-used-macro.c:{{[0-9]+}}): convert
// ANY:        other (any.c:{{[0-9]+}}): keep
// ANY-NEXT:   may be operated on here through a pointer, in text
#include <pthread.h>
static pthread_mutex_t given = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t nested = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
int n;
#define RAW_LOCK(mutex) pthread_mutex_lock(mutex)
#ifdef ROBUST
#define LOCK(result, mutex) ((result = pthread_mutex_lock(mutex)) && (result = recover(mutex)))
#else
#define LOCK(result, mutex) (result = RAW_LOCK(mutex))
#endif
#define LOCK_TWICE(result, mutex) (LOCK(result, mutex), LOCK(result, &nested))
//ANY #undef LOCK
//ANY #define LOCK(result, mutex) (result = RAW_LOCK(&given))
void count(void);
void count(void) {
  int error;
  LOCK(error, &given);
  n += error;
  pthread_mutex_unlock(&given);
  LOCK_TWICE(error, &given);
  n += error;
  pthread_mutex_unlock(&nested);
  pthread_mutex_unlock(&given);
  pthread_mutex_lock(&other);
  n++;
  pthread_mutex_unlock(&other);
}
