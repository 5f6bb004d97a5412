// SPDX-License-Identifier: MIT
// The report fits 80 columns, whatever the names, puts the longest wait first and explains itself.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %relock report %t.profile | FileCheck %s
// RUN: %relock report %t.profile --limit=1 | FileCheck %s --check-prefix=LIMIT
// RUN: %relock report %t.profile --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: %relock report %t.profile --explain > %t.out
// RUN: not grep -E '.{81}' %t.out
// CHECK: program: {{.*}}report.c.tmp
// CHECK: process {{[0-9]+}}: {{[0-9.]+m?s}}, 2 threads (2 at once), exit status 0
// CHECK: in critical sections, acquisition included: {{[0-9.]+}}%
// CHECK: profiler: {{[0-9.]+}}ns per uncontended acquisition
// CHECK: nothing was dropped
// CHECK: the longest total wait first
// CHECK: {{^LOCK CLASS +ACQUIRED +CONT +TOTAL +MEAN +P50 +P99 +MAX$}}
// CHECK: {{^waited +2 +50\.0% wait +[0-9.]+ms}}
// CHECK-NEXT: {{^ +hold +[0-9.]+ms}}
// CHECK: {{^a_name_that_needs_a_line_of_its_own$}}
// CHECK-NEXT: {{^ +100 +0\.0% wait +0ns}}
// CHECK-NEXT: {{^ +hold}}
// CHECK: 1 more lock class was never locked
// LIMIT: {{^waited}}
// LIMIT-NOT: a_name_that_needs
// LIMIT: 1 more lock class;
// EXPLAIN: LOCK CLASS:
// EXPLAIN: ACQUIRED:
// EXPLAIN: CONT:
// EXPLAIN: wait:
// EXPLAIN: hold:
// EXPLAIN: TOTAL, MEAN and MAX
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a_name_that_needs_a_line_of_its_own = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t unused;

static void *wait_for_it(void *argument) {
  pthread_mutex_lock(&waited);
  pthread_mutex_unlock(&waited);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_init(&unused, NULL);
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&a_name_that_needs_a_line_of_its_own);
    pthread_mutex_unlock(&a_name_that_needs_a_line_of_its_own);
  }
  pthread_mutex_lock(&waited);
  pthread_create(&thread, NULL, wait_for_it, NULL);
  usleep(50 * 1000);
  pthread_mutex_unlock(&waited);
  return pthread_join(thread, NULL);
}
