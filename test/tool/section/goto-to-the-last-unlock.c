// SPDX-License-Identifier: MIT
// `goto out` to the label of the last unlock stays a goto, to the end of the extracted function.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int store_section(void *context) {
// CHECK:          goto out;
// CHECK:      out:
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK:        relock_execute_any_thread(&lock, store_section, &section);
// CHECK-NEXT:   return stored;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[2], used;

static int store(int value) {
  int stored = 0;
  pthread_mutex_lock(&lock);
  if (used == 2)
    goto out;
  slots[used++] = value;
  stored = 1;
out:
  pthread_mutex_unlock(&lock);
  return stored;
}

int main(void) {
  int one = store(4), two = store(5), three = store(6);
  printf("%d%d%d %d %d\n", one, two, three, slots[0], slots[1]);
  return 0;
}
