// Options that only gcc knows do not keep a file from being parsed.
// RUN: %verdicts %s -mpreferred-stack-boundary=6 -fno-such-pass -DLOCK=lock --no-such-option | FileCheck %s
// CHECK-NOT: [parse]
// CHECK: lock ({{.*}}): convert
// CHECK: relock: exit status 0
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;
void add(void) {
  pthread_mutex_lock(&LOCK);
  total++;
  pthread_mutex_unlock(&LOCK);
}
