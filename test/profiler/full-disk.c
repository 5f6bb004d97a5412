// SPDX-License-Identifier: MIT
// Where the records fill their disk, the program goes on and what found no room is counted; where
// the profile does, that is said and none of it is left.
// REQUIRES: own-mounts
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: rm -rf %t.small && mkdir %t.small
// RUN: echo 'set -e; mount -t tmpfs -o size=2m none /dev/shm; mount -t tmpfs -o size=2m none $1; \
// RUN:   export TMPDIR=$1; shift; "$@"' > %t.sh
// RUN: unshare -rm sh %t.sh %t.small %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("first")["acquisitions"] == 1009' \
// RUN:   'profile["dropped"]["mutex_operations"] > 0 and profile["program"]["ended"] == "exit"'
// RUN: unshare -rm sh %t.sh %t.small sh -c '%relock profile -o %t.small/p -- %t; echo $?; \
// RUN:   ls -A %t.small' > %t.log 2>&1
// RUN: FileCheck %s < %t.log
// CHECK: small/p: cannot be written: No space left on device; {{.*}} [profile-output]
// CHECK-NEXT: {{^}}2{{$}}
// CHECK-NOT: {{.}}
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, many[20000];

static void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

int main(void) {
  visit(&first);
  for (int i = 0; i < 20000; i++)
    visit(&many[i]);
  for (int i = 0; i < 1008; i++)
    visit(&first);
  return 0;
}
