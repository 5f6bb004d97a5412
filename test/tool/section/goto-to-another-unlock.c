// SPDX-License-Identifier: MIT
// Labels behind the first unlock that unlock, too, for those who come with the lock held, and one
// that also serves paths without the lock.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int insert_section(void *context) {
// CHECK:          goto present;
// CHECK:          goto full;
// CHECK:        return 1;
// CHECK-NEXT: full:
// CHECK-NEXT:   refused++;
// CHECK-NEXT:   return 2;
// CHECK-NEXT: present:
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK:        int taken = relock_execute_any_thread(&lock, insert_section, &section);
// CHECK-NEXT:   if (taken == 1) {
// CHECK-NEXT:     printf("in %d\n", n);
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   }
// CHECK-NEXT:   if (taken == 2) {
// CHECK-NEXT:     goto failed;
// CHECK-NEXT:   }
// CHECK-NEXT:   puts("present");
// CHECK-NEXT: failed:
// CHECK-NEXT:   return -1;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[2], used, refused;

static int insert(int n) {
  if (n < 0)
    goto failed;
  pthread_mutex_lock(&lock);
  if (used && slots[0] == n)
    goto present;
  if (used == 2)
    goto full;
  slots[used++] = n;
  pthread_mutex_unlock(&lock);
  printf("in %d\n", n);
  return 0;
full:
  refused++;
  pthread_mutex_unlock(&lock);
  goto failed;
present:
  pthread_mutex_unlock(&lock);
  puts("present");
failed:
  return -1;
}

int main(void) {
  int a = insert(3), b = insert(3), c = insert(4), d = insert(5), e = insert(-1);
  printf("%d %d %d %d %d %d\n", a, b, c, d, e, refused);
  return 0;
}
