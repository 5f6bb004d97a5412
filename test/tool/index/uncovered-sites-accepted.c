// With --accept-uncovered, text that the build skips keeps no class; what stays there is listed.
// RUN: %program %s %t && cd %t && (%relock check -p build --accept-uncovered; echo "status $?") | FileCheck %s
// RUN: %relock rewrite -p build --all --in-place --accept-uncovered 2> err && FileCheck %s --check-prefix=LEFT < err
// RUN: cd / && %program %s %t && %relock rewrite -p %t/build --lock other=mcs --accept-uncovered 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OTHER
// OTHER-NOT:  stays as it is
// RUN: %program %s %t && cd %t && %relock rewrite -p build --lock lock=mcs --in-place --accept-uncovered
// RUN: FileCheck %s --check-prefix=TEXT < uncovered-sites-accepted.c
// CHECK:      lock ({{.*}}): convert
// CHECK-NEXT:   delegate straight add
// CHECK:      other ({{.*}}): convert
// CHECK-NEXT:   delegate straight add_other
// CHECK:      uncovered-sites-accepted.c:[[#]]: pthread_mutex_lock in text that no indexed configuration compiles (#ifdef WITH_AUDIT) [uncovered]
// CHECK-NEXT: uncovered-sites-accepted.c:[[#]]: pthread_mutex_unlock in text that no indexed configuration compiles (#ifdef WITH_AUDIT) [uncovered]
// CHECK-NEXT: 3 lock sites: 2 delegate, 0 hold, 0 keep, 1 uncovered
// CHECK-NEXT: status 1
// LEFT:       uncovered-sites-accepted.c:[[#]]:{{.*}} pthread_mutex_lock stays as it is: convert it before you compile it [uncovered]
// TEXT:       relock_execute_any_thread(&lock,
// TEXT:       #ifdef WITH_AUDIT
// TEXT:       pthread_mutex_lock(&lock);
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;
void add(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
void add_other(void) {
  pthread_mutex_lock(&other);
  total++;
  pthread_mutex_unlock(&other);
}
#ifdef WITH_AUDIT
void reset(void) {
  pthread_mutex_lock(&lock);
  total = 0;
  pthread_mutex_unlock(&lock);
}
#endif
