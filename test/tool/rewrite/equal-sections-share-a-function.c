// SPDX-License-Identifier: MIT
// Two sections of one function with the same text need one extracted function, not two.
// RUN: %check_rewrite %s | FileCheck %s
// CHECK-COUNT-1: +static int add_section(void *context)
// CHECK-NOT: add_section2
// CHECK-COUNT-2: + {{ *}}relock_execute_any_thread(&lock, add_section, NULL);
// CHECK-NOT: add_section2
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(int twice) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
  if (twice) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  add(1);
  add(0);
  printf("%d\n", count);
  return 0;
}
