// SPDX-License-Identifier: MIT
// The member that offsetof() is given may have the name of a variable, as in container_of(node, struct task, node):
// the variable is not named there.
// RUN: %rewritten %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK-LABEL: static int cancel_section(void *context)
// CHECK:         struct node *node = first;
// CHECK:         CONTAINER_OF(node, struct task, node)
// CHECK:         if (offsetof(struct task, n) > section->n)
// CHECK-LABEL: int cancel(
// CHECK-NOT:     node
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
struct node {
  struct node *next;
};
struct task {
  int number;
  int n;
  struct node node;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *first;
static int cancelled;
void put(struct task *task)
{
  pthread_mutex_lock(&lock);
  task->node.next = first;
  first = &task->node;
  pthread_mutex_unlock(&lock);
}
int cancel(struct task *task)
{
  size_t n = sizeof *task;
  n += cancelled;
  pthread_mutex_lock(&lock);
  struct node *node = first;
  while (node != NULL) {
    struct task *other = CONTAINER_OF(node, struct task, node);
    if (other == task) {
      cancelled += other->number;
      first = node->next;
      break;
    }
    node = node->next;
  }
  if (offsetof(struct task, n) > n)
    cancelled = 0;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void)
{
  struct task a = {.number = 1}, b = {.number = 2};
  put(&a);
  put(&b);
  cancel(&b);
  return printf("%d\n", cancelled) < 0;
}
