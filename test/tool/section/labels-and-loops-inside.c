// SPDX-License-Identifier: MIT
// Labels whose gotos are all inside, a switch, nested loops with break and continue stay as they
// are.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int scan_section(void *context) {
// CHECK:      again:
// CHECK:          switch (
// CHECK:            continue;
// CHECK:            goto again;
// CHECK:            goto done;
// CHECK:      done:
// CHECK:        return 0;
// CHECK-NEXT: }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cells[6] = {1, 2, 0, 3, 1, 9};

static int scan(int limit) {
  int sum = 0;
  pthread_mutex_lock(&lock);
again:
  for (int i = 0; i < 6; i++) {
    switch (cells[i]) {
    case 0:
      continue;
    case 3:
      cells[i] = 0;
      goto again;
    case 9:
      if (sum > limit)
        goto done;
      break;
    default:
      while (cells[i] > 1) {
        cells[i]--;
        if (sum++ > 2)
          break;
      }
    }
    sum += cells[i];
  }
done:
  cells[0] = sum;
  pthread_mutex_unlock(&lock);
  return sum;
}

int main(void) {
  int a = scan(100), b = scan(1);
  printf("%d %d %d\n", a, b, cells[0]);
  return 0;
}
