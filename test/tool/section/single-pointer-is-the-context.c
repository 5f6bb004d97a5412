// SPDX-License-Identifier: MIT
// A section that needs one pointer gets it as its context, without a struct around it.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK-NOT:  struct push_section
// CHECK:      static int push_section(void *context) {
// CHECK-NEXT:   struct item *it = context;
// CHECK:        it->next = head;
// CHECK-NEXT:   head = it;
// CHECK:        relock_execute_any_thread(&lock, push_section, it);
// CHECK-NOT:  struct push_section
#include <pthread.h>
#include <stdio.h>

struct item {
  int value;
  struct item *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *head;

static void push(struct item *it) {
  pthread_mutex_lock(&lock);
  it->next = head;
  head = it;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  struct item a = {1, NULL}, b = {2, NULL};
  push(&a);
  push(&b);
  printf("%d %d\n", head->value, head->next->value);
  return 0;
}
