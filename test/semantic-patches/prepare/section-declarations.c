// SPDX-License-Identifier: MIT
// What a section declares with braces, or in the head of a loop, and what is used after it, is declared
// before it; the section is delegated then. A second run changes nothing, and the program behaves as
// before. What cannot be assigned to, or whose name means something else, stays.
// REQUIRES: spatch, tool
// RUN: %spatch %patches/prepare/section-declarations.cocci -D patch %s -o %t.c && diff -u %S/section-declarations.res %t.c
// RUN: %spatch %patches/prepare/section-declarations.cocci -D patch %t.c > %t.again && not grep . %t.again
// RUN: %cc -Wall -Wextra -Werror %s -o %t.before && %t.before > %t.expected
// RUN: %cc -Wall -Wextra -Werror %t.c -o %t.after && %t.after | diff %t.expected -
// RUN: (%relock patches prepare/section-declarations --report %s; echo "status $?") | FileCheck %s
// RUN: sh %S/../Inputs/check.sh %relock %t.b %s | FileCheck %s --check-prefix=BEFORE
// RUN: sh %S/../Inputs/check.sh %relock %t.a %t.c | FileCheck %s --check-prefix=AFTER
// BEFORE: {{[0-9]+}} lock sites: 1 delegate,
// AFTER:  {{[0-9]+}} lock sites: 5 delegate,
#include <pthread.h>
#include <stdio.h>

struct pair {
  int a, b;
  struct pair *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total = 3, spare = 4;
static struct pair second = {5, 6, NULL}, first = {1, 2, &second}, *list = &first;

// CHECK: section-declarations.c:[[#@LINE + 3]]:15: 'both' is used after the section that declares it{{$}}
static int structure(void) {
  pthread_mutex_lock(&lock);
  struct pair both = {total, .b = spare};
  total++;
  pthread_mutex_unlock(&lock);
  return both.a + both.b;
}

// CHECK: section-declarations.c:[[#@LINE + 3]]:7: 'both' is used after the section that declares it{{$}}
static int array(void) {
  pthread_mutex_lock(&lock);
  int both[2] = {total, spare * (total + 1)};
  spare++;
  pthread_mutex_unlock(&lock);
  return both[0] + both[1];
}

// CHECK: section-declarations.c:[[#@LINE + 3]]:21: 'each' is used after the section that declares it{{$}}
static int find(int key) {
  pthread_mutex_lock(&lock);
  for (struct pair *each = list; each; each = each->next) {
    if (each->a == key) {
      pthread_mutex_unlock(&lock);
      return each->b;
    }
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

// CHECK: section-declarations.c:[[#@LINE + 4]]:14: 'i' is used after the section that declares it{{$}}
static int count(int key) {
  {
    pthread_mutex_lock(&lock);
    for (int i = total; i < 1000; i++)
      if (i % key == 0) {
        pthread_mutex_unlock(&lock);
        return i;
      } else
        spare++;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

/* used in the section only */
static int inside(void) {
  pthread_mutex_lock(&lock);
  struct pair both = {total, spare, NULL};
  total = both.a + 1;
  pthread_mutex_unlock(&lock);
  return 0;
}

// CHECK: section-declarations.c:[[#@LINE + 4]]:7: 'both' is used after the section that declares it, and stays: its elements are not all given
static int some(void) {
  /* the last one is 0 */
  pthread_mutex_lock(&lock);
  int both[3] = {total, spare};
  pthread_mutex_unlock(&lock);
  return both[1] + both[2];
}

// CHECK: section-declarations.c:[[#@LINE + 4]]:21: 'both' is used after the section that declares it, and stays: it cannot be assigned to
static int constant(void) {
  /* a constant has one value */
  pthread_mutex_lock(&lock);
  const struct pair both = {total, spare, NULL};
  pthread_mutex_unlock(&lock);
  return both.a;
}

// CHECK: section-declarations.c:[[#@LINE + 6]]:17: 'both' is used after the section that declares it, and stays: 'both' is another name in the function
static int shadows(int both) {
  /* the parameter is used before */
  {
    pthread_mutex_lock(&lock);
    total += both;
    struct pair both = {total, spare, NULL};
    pthread_mutex_unlock(&lock);
    return both.a;
  }
}

// CHECK: section-declarations.c:[[#@LINE + 5]]:17: 'both' is used after the section that declares it, and stays: a variable cannot be declared before the lock
static int branch(int n) {
  if (n) /* a declaration is no statement */
    pthread_mutex_lock(&lock);
  {
    struct pair both = {total, spare, NULL};
    if (n)
      pthread_mutex_unlock(&lock);
    return both.a;
  }
}
// CHECK: status 1

int main(void) {
  printf("%d\n", structure());
  printf("%d\n", array());
  printf("%d\n", find(5) + find(7));
  printf("%d %d\n", count(17), spare);
  printf("%d\n", inside() + some() + constant() + shadows(3) + branch(2));
  return pthread_mutex_destroy(&lock);
}
