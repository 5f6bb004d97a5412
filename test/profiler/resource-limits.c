// SPDX-License-Identifier: MIT
// Where files or address space are limited, the program has almost all that it would have had, and
// its locks are recorded as far as there is room; errno is its own.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: sh -c 'ulimit -f 3000 && exec %relock profile -o %t.profile -- %t file' 2>&1 | tee %t.err
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("first")["acquisitions"] == 1009' \
// RUN:   'profile["program"]["status"] == 0 and profile["dropped"]["mutex_operations"] > 0'
// RUN: %relock profile -o %t.profile -- sh -c 'ulimit -v 262144 && exec %t memory 180'
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("first")["acquisitions"] == 1009'
// Too little for both: the program has it all.
// RUN: %relock profile -o %t.profile -- sh -c 'ulimit -v 50000 && exec %t memory 40' 2>&1 \
// RUN:   | FileCheck %s --allow-empty --check-prefix=LITTLE || true
// LITTLE-NOT: exit status
//
// What cannot be recorded at all is said before the program runs.
// RUN: rm -f %t.ran
// RUN: (ulimit -f 100; %relock profile -o %t.profile -- touch %t.ran; test $? = 2) 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FILES
// FILES: relock: files are limited to 100 KiB (ulimit -f), {{.*}} [profile-file-size]
// RUN: test ! -e %t.ran
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, many[20000];

static int visit(pthread_mutex_t *mutex) {
  errno = 77;
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return errno == 77;
}

int main(int count, char **words) {
  char *memory;
  for (int i = 0; i < 1009; i++)
    if (!visit(&first))
      return 2;
  for (int i = 0; i < 20000; i++)
    if (!visit(&many[i]))
      return 3;
  if (count > 2) {
    memory = malloc((size_t)atoi(words[2]) << 20);
    if (!memory)
      return 4;
    memset(memory, 1, 4096);
    free(memory);
  }
  return 0;
}
