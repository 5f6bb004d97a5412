// SPDX-License-Identifier: MIT
// Lock classes that nobody acquired are no rows of the table at exit: their number stands below it. In
// the file they are still there.
// RUN: %cc -Wall -Wextra -Werror -I%include -O2 %s %librelock -lpthread -o %t
// RUN: env RELOCK_STATS=1 %run %t 2>&1 | FileCheck %s
// CHECK: relock-stats
// CHECK-NEXT: {{^class +algorithm +locks}}
// CHECK-NEXT: {{^used +mcs +1 +1 }}
// CHECK-EMPTY:
// CHECK-NEXT: {{^3 lock classes were never acquired$}}
// CHECK-NOT: unused
// RUN: rm -f %t.profile && env RELOCK_STATS=%t.profile %run %t
// RUN: grep -q unused_one %t.profile
#include <relock/relock.h>
#include <stddef.h>

RELOCK_LOCK_CLASS(used, "used", "mcs");
RELOCK_LOCK_CLASS(unused_one, "unused_one", "mcs");
RELOCK_LOCK_CLASS(unused_two, "unused_two", "ticket");
RELOCK_LOCK_CLASS(unused_with_a_mutex, "unused_with_a_mutex", "ticket");

static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(used);

int main(void) {
  relock_mutex_t other;
  if (relock_mutex_init(&other, NULL, RELOCK_CLASS(unused_with_a_mutex)))
    return 1;
  relock_mutex_lock(&lock);
  relock_mutex_unlock(&lock);
  return relock_mutex_destroy(&other);
}
