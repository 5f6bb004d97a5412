// SPDX-License-Identifier: MIT
// A lock that stands only in annotations of clang's thread safety analysis is used by nobody: that it
// is defined nowhere leads to no code outside the program.
// RUN: %verdicts %s | FileCheck %s
// CHECK: delegate straight add
// RUN: %verdicts %s -DUSED | FileCheck %s --check-prefix=USED
// USED: can be reached by 'imaginary', which the program uses and does not define [outside]
// USED: keep straight add
#include <pthread.h>
struct mutex {
  pthread_mutex_t lock;
};
extern struct mutex imaginary;
static struct mutex real = {PTHREAD_MUTEX_INITIALIZER};
static int total __attribute__((guarded_by(imaginary)));

void add(void) {
  pthread_mutex_lock(&real.lock);
  total++;
  pthread_mutex_unlock(&real.lock);
}
#ifdef USED
void *which(void) { return &imaginary; }
#endif
