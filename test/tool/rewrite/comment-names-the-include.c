// SPDX-License-Identifier: MIT
// A comment or a string that names the table's header does not include it.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s
// CHECK: +#include "relock_locks.h"
// CHECK: relock: exit status 0
/* Once this was
 * #include "relock_locks.h"
 */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *text = "#include \"relock_locks.h\"";
int main(void) {
  pthread_mutex_lock(&lock);
  puts(text);
  pthread_mutex_unlock(&lock);
  return 0;
}
