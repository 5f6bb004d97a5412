// SPDX-License-Identifier: MIT
// Text that this configuration does not compile moves with its section where it stays inside, and
// names what is known here. The other configuration compiles the result, too.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// RUN: %program %s %t && cd %t && %cc -Wall -Wextra -Werror -DAUDIT *.c -lpthread -o old
// RUN: %relock rewrite -p build --all --in-place && FileCheck %s --check-prefix=TEXT < skipped-text-moves.c
// RUN: %cc -Wall -Wextra -Werror -DAUDIT -I %include *.c %librelock -lpthread -o new
// RUN: ./old > old.txt && ./new > new.txt && diff old.txt new.txt
// CHECK:      delegate straight moves
// CHECK-NEXT: delegate straight names
// CHECK-NEXT: delegate straight either
// CHECK-NEXT: hold straight leaves
// CHECK-NEXT: text that is not compiled here leaves the section, or names what is not known here [preprocessor]
// CHECK-NEXT: hold straight breaks
// CHECK-NEXT: [preprocessor]
// CHECK-NEXT: hold straight unknown
// CHECK-NEXT: [preprocessor]
// CHECK-NEXT: hold straight changes
// CHECK:      text that is not compiled here leaves the section, or names what is not known here [preprocessor]
// CHECK-NEXT: hold straight waits
// CHECK-NEXT: calls 'sleep', which may block [may-block]
// CHECK-NEXT: hold straight hidden
// CHECK-NEXT: [preprocessor]
// CHECK-NEXT: hold straight only_there
// CHECK-NEXT: text of the section stands under a condition and cannot move [preprocessor]
// CHECK:      hold straight operand
// CHECK-NEXT: text that is not compiled here may change what the lock operand reads [preprocessor]
// TEXT:        struct node *node = section->node;
// TEXT:      #ifdef AUDIT
// TEXT-NEXT:   for (struct node *at = head; at; at = at->next) {
// TEXT-NEXT:     if (at == node)
// TEXT-NEXT:       break;
// TEXT-NEXT:     SUM(at->n + n);
// TEXT-NEXT:   }
// TEXT-NEXT: #endif
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define SUM(n) (total += (n))
#define CHECKED(n) if (n) return

struct node {
  struct node *next;
  int n;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct node *head;
static int total, current;

static void moves(struct node *node, int n) {
  pthread_mutex_lock(&lock);
#ifdef AUDIT
  for (struct node *at = head; at; at = at->next) {
    if (at == node)
      break;
    SUM(at->n + n);
  }
#endif
  node->next = head;
  head = node;
  node->n = n;
  pthread_mutex_unlock(&lock);
}

static int names(int n) {
  int result = 0;
  pthread_mutex_lock(&lock);
  result = total += n;
#ifdef AUDIT
  assert(total > 0);
  printf("%d %d\n", result, n);
#endif
  pthread_mutex_unlock(&lock);
  return result;
}

static void either(int n) {
  pthread_mutex_lock(&lock);
  printf("%d "
#ifdef AUDIT
         "audited"
#else
         "plain"
#endif
         "\n",
         n);
  pthread_mutex_unlock(&lock);
}

static void leaves(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  if (n)
    return;
#endif
  pthread_mutex_unlock(&lock);
}

static void breaks(int n) {
  do {
    pthread_mutex_lock(&lock);
    total += n;
#ifdef NEVER
    for (int i = 0; i < n; i++)
      SUM(i);
    if (n)
      break;
#endif
    pthread_mutex_unlock(&lock);
  } while (0);
}

static void unknown(int n) {
#ifdef NEVER
  int before = total;
#endif
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  SUM(before);
#endif
  pthread_mutex_unlock(&lock);
}

static void changes(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  n = 0;
#endif
  pthread_mutex_unlock(&lock);
  total += n;
}

static void waits(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  sleep(1);
#endif
  pthread_mutex_unlock(&lock);
}

static void hidden(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  CHECKED(n);
#endif
  pthread_mutex_unlock(&lock);
}

static void only_there(int n, int m) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef NEVER
  SUM(m);
#endif
  pthread_mutex_unlock(&lock);
  total += m;
}

static void operand(int n) {
  pthread_mutex_lock(&table[current]);
  total += n;
#ifdef NEVER
  current = 1;
#endif
  pthread_mutex_unlock(&table[current]);
}

int main(void) {
  static struct node nodes[3];
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    moves(&nodes[i], i), leaves(i), breaks(i), unknown(i), changes(i), waits(i);
    hidden(i), only_there(i, 2), operand(i), either(i);
    sum += names(i + 1);
  }
  printf("%d %d\n", total, sum);
  return 0;
}
