// SPDX-License-Identifier: MIT
// What a call changes that ends the process matters to no unlock, and a store to a variable or a member changes no
// other one, but for members of a union, which no operand may be.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      delegate straight checked (
// CHECK-NEXT: delegate straight set (
// CHECK-NEXT: delegate straight linked (
// CHECK-NEXT: hold straight replaced (
// CHECK-NEXT:   {{.*}}: 'where' in the lock operand may change in a callee [lock-expression]
// CHECK-NEXT: hold straight stored (
// CHECK-NEXT:   {{.*}}: 'where' in the lock operand may change in a callee [lock-expression]
// CHECK-NEXT: hold straight united (
// CHECK-NEXT:   {{.*}}: the lock operand reads memory that may change [lock-expression]
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct box {
  pthread_mutex_t mutex;
  int n;
};
struct node {
  struct node *next;
};
static struct box first, second;
static struct box *where;
static struct node *nodes;
static void (*handler)(void);
static union {
  struct box *lock;
  struct node *other;
} both;
void make(struct box **place, struct box *value) { *place = value; }
void replace(int n)
{
  make(&where, n ? &second : &first);
}
void checked(int n)
{
  pthread_mutex_lock(&where->mutex);
  assert(n < 9);
  if (n > 8) {
    replace(n);
    abort();
  }
  first.n += n;
  pthread_mutex_unlock(&where->mutex);
}
void set(void (*to)(void))
{
  pthread_mutex_lock(&where->mutex);
  handler = to;
  pthread_mutex_unlock(&where->mutex);
}
void linked(struct node *node)
{
  pthread_mutex_lock(&where->mutex);
  node->next = nodes;
  nodes = node;
  pthread_mutex_unlock(&where->mutex);
}
void replaced(int n)
{
  pthread_mutex_lock(&where->mutex);
  replace(n);
  replace(0);
  pthread_mutex_unlock(&where->mutex);
}
void stored(struct box **to)
{
  pthread_mutex_lock(&where->mutex);
  *to = &second;
  pthread_mutex_unlock(&where->mutex);
}
void united(struct node *node)
{
  make(&both.lock, &first);
  pthread_mutex_lock(&both.lock->mutex);
  if (node)
    both.other = node;
  pthread_mutex_unlock(&both.lock->mutex);
}
int main(void)
{
  struct node node;
  struct box *other;
  pthread_mutex_init(&first.mutex, NULL);
  pthread_mutex_init(&second.mutex, NULL);
  replace(0);
  checked(1);
  set(NULL);
  linked(&node);
  replaced(1);
  stored(&other);
  united(NULL);
  /* One thread holds two at once. */
  pthread_mutex_lock(&first.mutex);
  pthread_mutex_lock(&second.mutex);
  second.n = first.n;
  pthread_mutex_unlock(&second.mutex);
  pthread_mutex_unlock(&first.mutex);
  return printf("%d %p\n", second.n, (void *)handler) < 0 || other != &second;
}
