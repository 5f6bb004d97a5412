// SPDX-License-Identifier: MIT
// Objects of the section's block that are pointed to live longer than the section.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (address-of-inner-object-holds.c:[[#]])
// CHECK-NEXT: the address of a literal is kept, which lives as long as the block [address-outlives]
// CHECK-NEXT: the address of 'local' may be kept, which lives longer than the section [address-outlives]
#include <pthread.h>
#include <stdio.h>
struct pair { int a, b; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int __attribute__((noinline)) clobber(int n) {
  volatile int junk[64];
  for (int i = 0; i < 64; i++)
    junk[i] = n;
  return junk[n];
}
static int work(int n) {
  struct pair *p;
  int *q;
  pthread_mutex_lock(&lock);
  p = &(struct pair){n, n + 1};
  int local[] = {n};
  q = local;
  total += n;
  pthread_mutex_unlock(&lock);
  clobber(7);
  return p->a + p->b + *q;
}
int main(void) {
  printf("%d\n", work(3));
  printf("%d\n", total);
  return 0;
}
