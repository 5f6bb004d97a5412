// SPDX-License-Identifier: MIT
// A label may have the name of a variable, and keeps it.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int fill_section(void *context) {
// CHECK:            *section->err = -1;
// CHECK-NEXT:       goto err;
// CHECK:      {{^}}err:
// CHECK-NEXT:   drop(*section->err);
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cells[4], dropped;

static void drop(int error) { dropped += error; }

static int fill(int n) {
  int err = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < n; i++) {
    if (i == 4) {
      err = -1;
      goto err;
    }
    cells[i] = i;
  }
  pthread_mutex_unlock(&lock);
  return err;

err:
  drop(err);
  pthread_mutex_unlock(&lock);
  return err - 1;
}

int main(void) {
  int full = fill(5);
  printf("%d %d %d\n", fill(3), full, cells[2]);
  printf("%d\n", dropped);
  return 0;
}
