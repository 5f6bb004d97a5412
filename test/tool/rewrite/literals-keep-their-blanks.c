// SPDX-License-Identifier: MIT
// Lines that begin inside a string literal move as they are: their blanks are the program's.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s --match-full-lines --strict-whitespace
// CHECK:+  more = "count  \
// CHECK-NEXT:+      went  up";
// CHECK:+  usage = "usage: program   \
// CHECK-NEXT:+      [-v]\
// CHECK-NEXT:+    [-x]\
// CHECK-NEXT:+\
// CHECK-NEXT:+ [file]\n";
// CHECK-NEXT:+  count += section->n;
// CHECK-NOT:{{.*}}not-rewritten{{.*}}
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static const char *usage, *more;
#define ADD(N)                                                                                     \
  do {                                                                                             \
    pthread_mutex_lock(&lock);                                                                     \
    count += (N);                                                                                  \
    more = "count  \
      went  up";                                                                                   \
    pthread_mutex_unlock(&lock);                                                                   \
  } while (0)
static int work(int n) {
  if (n) {
    pthread_mutex_lock(&lock);
    usage = "usage: program   \
      [-v]\
    [-x]\
\
 [file]\n";
    count += n;
    if (count > 5) {
      pthread_mutex_unlock(&lock);
      puts("many \
        things");
      return count;
    }
    pthread_mutex_unlock(&lock);
  }
  return n;
}
int main(void) {
  work(3);
  printf("%s%d\n", usage, count);
  work(3);
  printf("%s%d\n", usage, count);
  ADD(1);
  printf("%s%d\n", more, count);
  return 0;
}
