// SPDX-License-Identifier: MIT
// Structs, arrays and literals that the section's block declares and a callee or a pointer keeps
// live as long as the block: such sections hold; one whose object ends before the unlock does not.
// RUN: %check_rewrite %s --algorithms=posix,rcl --flags=-Wall
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight a (inner-objects-that-escape.c:[[#]])
// CHECK-NEXT: [address-outlives]
// CHECK:      hold straight b
// CHECK-NEXT: [address-outlives]
// CHECK:      delegate straight c
// CHECK:      hold straight d
// CHECK-NEXT: [address-outlives]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct waiter { struct waiter *next; int v; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter *list;
static int *kept;
static void keep(int *p) { kept = p; }
static struct waiter *link_(struct waiter *w) { w->next = list; list = w; return w; }
static int a(int n) {
  pthread_mutex_lock(&lock);
  struct waiter w = {NULL, n};
  link_(&w);
  pthread_mutex_unlock(&lock);
  volatile int junk[32];
  for (int i = 0; i < 32; i++) junk[i] = n;
  int r = list->v + junk[0];
  list = NULL;
  return r;
}
static int b(int n) {
  pthread_mutex_lock(&lock);
  int arr[4] = {n, n, n, n};
  keep(arr);
  pthread_mutex_unlock(&lock);
  volatile int junk[32];
  for (int i = 0; i < 32; i++) junk[i] = 99;
  return *kept + (junk[0] == 99);
}
static int c(int n) {
  pthread_mutex_lock(&lock);
  {
    struct waiter w = {NULL, n};
    list = &w;
    n += list->v;
    list = NULL;
  }
  pthread_mutex_unlock(&lock);
  return n;
}
static int d(int n) {
  const char *s;
  pthread_mutex_lock(&lock);
  s = (char[]){'a' + n, 0};
  pthread_mutex_unlock(&lock);
  volatile int junk[32];
  for (int i = 0; i < 32; i++) junk[i] = 99;
  return s[0] + (junk[0] == 99);
}
int main(void) {
  printf("%d\n", a(1));
  printf("%d\n", b(2));
  printf("%d\n", c(3));
  printf("%d\n", d(3));
  return 0;
}
