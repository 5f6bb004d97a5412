// SPDX-License-Identifier: MIT
// The operand of `typeof` names a variable like any other expression does, in a declaration, a cast
// or a macro; a variable of such a type that moves gets the type that this stands for.
// RUN: %check_rewrite %s --flags=-std=gnu11 --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate straight add
// CHECK-NEXT: delegate straight largest
// CHECK-NEXT: delegate straight cast
// CHECK-NEXT: delegate straight only_asked
// CHECK-NEXT: delegate straight outermost
// CHECK-NEXT: delegate straight outlives
// CHECK-NEXT: delegate straight before
// CHECK-NEXT: delegate waiting across
// CHECK-NEXT: hold straight in_a_macro
// CHECK-NEXT: declares 'copy' with a variable type [variable-type]
// CHECK:      hold straight late
// CHECK-NEXT: 'sum' is not declared before its function [declared-late]
// TEXT:       *section->kept = (__typeof__(*section->kept))(total + section->n);
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

struct list { struct list *next; };
struct item { int key; struct list link; };
#define container_of(p, type, member) ({ \
    const __typeof__(((type *)0)->member) *__mptr = (p); \
    (type *)((char *)__mptr - offsetof(type, member)); })
#define for_each(pos, head, member) \
  for (pos = container_of((head)->next, __typeof__(*pos), member); &pos->member != (head); \
       pos = container_of(pos->member.next, __typeof__(*pos), member))
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list head = {&head};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int total;

static void add(struct item *new) {
  pthread_mutex_lock(&lock);
  new->link.next = head.next;
  head.next = &new->link;
  pthread_mutex_unlock(&lock);
}

static int largest(int least) {
  struct item *pos;
  int found = least;
  pthread_mutex_lock(&lock);
  for_each(pos, &head, link)
    found = max(found, pos->key);
  pthread_mutex_unlock(&lock);
  return found;
}

static short cast(int n) {
  short kept = 1;
  pthread_mutex_lock(&lock);
  kept = (__typeof__(kept))(total + n);
  total++;
  pthread_mutex_unlock(&lock);
  return kept;
}

static int only_asked(int n) {
  short narrow;
  pthread_mutex_lock(&lock);
  total += (__typeof__(narrow))n;
  pthread_mutex_unlock(&lock);
  narrow = (short)n;
  return narrow;
}

static int outermost(int n) {
  pthread_mutex_lock(&lock);
  __typeof__(n) copy = n;
  total += copy;
  pthread_mutex_unlock(&lock);
  return n;
}

static int outlives(int n) {
  pthread_mutex_lock(&lock);
  __typeof__(n) copy = total + n;
  total += copy;
  pthread_mutex_unlock(&lock);
  return copy;
}

static int before(struct item *pos) {
  __typeof__(pos) copy = pos;
  __typeof__(*pos) whole = {0};
  __typeof__(pos->key) key = 1;
  pthread_mutex_lock(&lock);
  total += copy->key;
  whole.key = total;
  key += total;
  pthread_mutex_unlock(&lock);
  return whole.key + key;
}

static int across(int n) {
  int result;
  pthread_mutex_lock(&lock);
  __typeof__(n) copy = total + n;
  while (total < 0)
    pthread_cond_wait(&condition, &lock);
  result = copy;
  pthread_mutex_unlock(&lock);
  return result;
}

#define ADD_LOCKED(n) do { \
    pthread_mutex_lock(&lock); \
    __typeof__(n) copy = (n); \
    total += copy; \
    pthread_mutex_unlock(&lock); \
  } while (0)
static void in_a_macro(int n) {
  ADD_LOCKED(n);
}

static void late(int n) {
  extern int sum;
  pthread_mutex_lock(&lock);
  if (n) {
    total += (__typeof__(sum))n;
  }
  pthread_mutex_unlock(&lock);
}
int sum;

int main(void) {
  struct item items[] = {{.key = 3}, {.key = 7}, {.key = 5}};
  for (int i = 0; i < 3; i++)
    add(&items[i]);
  int n = largest(0) * 100 + largest(9) * 10 + cast(2) + only_asked(70000) + outermost(1);
  n += outlives(3) + before(items) + across(5);
  in_a_macro(6);
  late(4);
  printf("%d %d\n", n, total);
  return 0;
}
