// SPDX-License-Identifier: MIT
// An assertion moves along, with the text of its condition: a macro may name the function in a call
// that does not return, which is then about the extracted function. Where the name goes anywhere else, it
// stays what it was.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %check_rewrite %s --flags=-DNDEBUG --algorithms=rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK:      delegate straight push
// CHECK-NEXT: delegate straight own
// CHECK-NEXT: delegate early-exit branch
// CHECK-NEXT: delegate straight output
// CHECK-NEXT: delegate straight logged
// CHECK-NEXT: delegate straight direct
// CHECK-NEXT: delegate straight passed
// CHECK-NEXT: hold straight main
// CHECK-NEXT: uses '__LINE__', which is another one at each use [macro-section]
//      TEXT:static int push_section(void *context) {
// TEXT-NEXT:  struct node *node = context;
// TEXT-EMPTY:
// TEXT-NEXT:  assert(node != head && !node->next);
// TEXT-NEXT:  node->next = head;
// TEXT-NEXT:  head = node;
// TEXT-NEXT:  return 0;
// TEXT-NEXT:}
//      TEXT:  int n = section->n;
//      TEXT:  CHECKED(n > 0 && total >= 0);
//      TEXT:    assert(n < 100);
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static __attribute__((noreturn)) void die(const char *what, const char *function, int line) {
  fprintf(stderr, "%s: %d: %s\n", function, line, what);
  abort();
}

static void note(const char *function, int n) {
  if (n > 1000)
    fprintf(stderr, "%s\n", function);
}

static const char *same(const char *function) { return function; }

#define CHECKED(condition) ((condition) ? (void)0 : die(#condition, __func__, __LINE__))
#define NOTE(n) note(__func__, n)
#define DIE_BY(function, n) ((n) < 1000 ? (void)0 : die("n", function, __LINE__))
#define DIE_LATER(n) ((n) < 1000 ? (void)0 : die("n", same(__func__), __LINE__))
#define ADD(n) do { pthread_mutex_lock(&lock); assert(total >= 0); total += (n); pthread_mutex_unlock(&lock); } while (0)

struct node {
  struct node *next;
};
static struct node *head;

static void push(struct node *node) {
  pthread_mutex_lock(&lock);
  assert(node != head && !node->next);
  node->next = head;
  head = node;
  pthread_mutex_unlock(&lock);
}

static void own(int n, int m) {
  pthread_mutex_lock(&lock);
  CHECKED(n > 0 && total >= 0);
  total += n * m;
  pthread_mutex_unlock(&lock);
}

static int branch(int n) {
  pthread_mutex_lock(&lock);
  if (n > 3) {
    assert(n < 100);
    pthread_mutex_unlock(&lock);
    return 1;
  }
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}

static int output(int m) {
  int n = m;
  pthread_mutex_lock(&lock);
  n += total;
  CHECKED(n > 0);
  pthread_mutex_unlock(&lock);
  return n;
}

static void logged(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  NOTE(total);
  pthread_mutex_unlock(&lock);
}

static void direct(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  DIE_BY(__func__, n);
  pthread_mutex_unlock(&lock);
}

static void passed(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  DIE_LATER(n);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  static struct node nodes[3];
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    push(&nodes[i]), own(i + 1, 2), logged(i), direct(i), passed(i);
    sum += branch(i + 2) + output(i);
    ADD(i);
  }
  printf("%d %d %d\n", total, sum, head == &nodes[2]);
  return 0;
}
