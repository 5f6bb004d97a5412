// SPDX-License-Identifier: MIT
// The members of a union are written as each other: where all are pointers to functions, a call through
// one reaches what is stored in any of them, and nothing else.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch
// CHECK:      delegate straight find
// CHECK-NEXT: hold straight rest
// CHECK-NEXT: 'pointer slowly' calls 'sleep_long' calls 'usleep', which may block [may-block]
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct order {
  int flags;
  union {
    int (*compare)(const void *a, const void *b);
    int (*compare_with)(const void *a, const void *b, void *more);
  } by;
};
struct pause {
  union {
    int (*shortly)(long n);
    int (*slowly)(int n);
  } by;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int key = 3, found;

static int by_value(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}
static const struct order order = {0, {.compare = by_value}};

static int find(const struct order *o) {
  pthread_mutex_lock(&mutex);
  if ((o->flags & 1 ? o->by.compare_with(&key, &key, NULL) : o->by.compare(&key, &key)) == 0)
    found++;
  pthread_mutex_unlock(&mutex);
  return found;
}
static int sleep_long(long n) {
  return usleep(n);
}
static int sleep_not(int n) {
  return n;
}
static struct pause longer = {{.shortly = sleep_long}}, shorter;
static int rest(struct pause *p) {
  pthread_mutex_lock(&mutex);
  found += p->by.slowly(1);
  pthread_mutex_unlock(&mutex);
  return found;
}
// Of the same type, from where nobody looks.
static int (*hook)(const void *a, const void *b);
static void set_hook(void *given) {
  hook = (int (*)(const void *, const void *))given;
}
int main(void) {
  shorter.by.slowly = sleep_not;
  longer.by.shortly(1);
  set_hook(NULL);
  int n = find(&order);
  printf("%d %d %d\n", n, rest(&shorter), hook != NULL);
  return 0;
}
