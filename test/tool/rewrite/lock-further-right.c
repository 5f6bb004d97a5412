// SPDX-License-Identifier: MIT
// A lock that stands further right than the statements behind it does not take them along.
// RUN: %check_rewrite %s --no-run
// RUN: %rewritten %s | FileCheck %s --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *name;
static int given;
// CHECK:     {{^}}static int set_section(void *context) {
// CHECK:     {{^}}  if (name)
// CHECK-NEXT:{{^}}    free(name);
// CHECK-NEXT:{{^}}  name = new_name;
// CHECK-NEXT:{{^}}  return 0;
void set(char *new_name) {
  if (!new_name)
    return;
   pthread_mutex_lock(&lock);
  if (name)
    free(name);
  name = new_name;
   pthread_mutex_unlock(&lock);
}
// CHECK:     {{^}}static int again_section(void *context) {
// CHECK:     {{^}}again:
// CHECK-NEXT:{{^}}  given++;
// CHECK-NEXT:{{^}}  if (given < section->limit)
// CHECK-NEXT:{{^}}    goto again;
void again(int limit) {
  limit++;
    pthread_mutex_lock(&lock);
again:
  given++;
  if (given < limit)
    goto again;
    pthread_mutex_unlock(&lock);
}
