// A lock that only operations of the program's own lock layer speak of is a class, too: its sections
// are listed.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      given.m (lock-layer-of-no-object.c:{{[0-9]+}}): convert
// CHECK-NEXT: delegate straight given
// CHECK-NEXT: raw (lock-layer-of-no-object.c:{{[0-9]+}}): convert
// CHECK-NEXT: delegate straight raw
// CHECK-NEXT: lock wrappers
// CHECK-NEXT: my_lock
// CHECK-NEXT: 2 lock sites: 2 delegate, 0 hold, 0 keep, 0 uncovered, 1 in lock wrappers
#include <pthread.h>
typedef pthread_mutex_t my_mutex;
int my_lock(my_mutex *m) { return pthread_mutex_lock(m); }
int my_unlock(my_mutex *m) { return pthread_mutex_unlock(m); }
int n;
void given(my_mutex *m) {
  my_lock(m);
  n++;
  my_unlock(m);
}
void raw(void *p) {
  my_lock((my_mutex *)p);
  n++;
  my_unlock((my_mutex *)p);
}
