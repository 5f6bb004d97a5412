// SPDX-License-Identifier: MIT
// A section that stands wholly under a condition of the preprocessor has its function under the same
// one, so that the other configuration compiles as before.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch --flags=-DSTATS
// RUN: %rewritten %s -- -DSTATS | sed -n '/^==> section-under/,/^==> relock_locks/p' > %t.all
// RUN: FileCheck %s < %t.all
// RUN: %program %s %t.program -DSTATS && cd %t.program && %relock rewrite -p build --all --in-place
// RUN: cd %t.program && %cc -Wall -Wextra -Werror -I%include -DMORE -c section-under-a-condition.c -o %t.more
// RUN: cd %t.program && %cc -Wall -Wextra -Werror -I%include -c section-under-a-condition.c -o %t.without
// CHECK:      static int less;
// CHECK:      #ifdef STATS
// CHECK-NEXT: struct count_section {
// CHECK:      return 0;
// CHECK-NEXT: }
// CHECK-NEXT: #endif
// CHECK:      #ifndef MORE
// CHECK-NEXT: static int more_section(void *context) {
// CHECK:      #endif
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef STATS
static int root;
#endif
#ifndef MORE
static int less;
#endif

void count(int n);
void count(int n) {
#ifdef STATS
  pthread_mutex_lock(&lock);
  root += n;
  pthread_mutex_unlock(&lock);
#else
  (void)n;
#endif
}

void more(void);
void more(void) {
#ifdef MORE
  puts("more");
#else
  pthread_mutex_lock(&lock);
  less++;
  pthread_mutex_unlock(&lock);
#endif
}

int main(void) {
  for (int i = 0; i < 5; i++) {
    count(i);
    more();
  }
#ifdef STATS
  printf("%d %d\n", root, less);
#endif
  return pthread_mutex_destroy(&lock);
}
