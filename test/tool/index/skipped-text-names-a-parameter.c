// Text that no configuration compiles, of a function that is compiled, on that function's parameter:
// the lock that it may be is the one that the parameter points to, and no other stays for it. Where the
// text gives the parameter another value, or the operand is more than that, it may be any.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: mkdir -p %t.d && sed 's,//ANY,,' %s > %t.d/any.c
// RUN: %verdicts %t.d/any.c > %t || test $? = 1; FileCheck %s --check-prefix=ANY < %t
// CHECK:      given (skipped-text-names-a-parameter.c:{{[0-9]+}}): keep
// CHECK-NEXT: may be operated on here, in text that no indexed configuration compiles
// CHECK:      other (skipped-text-names-a-parameter.c:{{[0-9]+}}): convert
// ANY:        other (any.c:{{[0-9]+}}): keep
// ANY-NEXT:   may be operated on here through a pointer, in text
#include <pthread.h>
static pthread_mutex_t given;
static pthread_mutex_t other;
int n;
void start(pthread_mutex_t *m, int normal);
void start(pthread_mutex_t *m, int normal) {
#ifdef OTHER
  //ANY m = find(normal);
#endif
#ifdef NEVER
  pthread_mutex_init(m, NULL);
#else
  if (normal)
    pthread_mutex_init(m, NULL);
#endif
}
void count(void);
void count(void) {
  start(&given, 1);
  pthread_mutex_lock(&given);
  n++;
  pthread_mutex_unlock(&given);
  pthread_mutex_lock(&other);
  n++;
  pthread_mutex_unlock(&other);
}
