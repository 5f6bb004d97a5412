// SPDX-License-Identifier: MIT
// Where a section asks for the size of an array, or for its address, the context points to the
// array; where it does not, to its elements.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=rcl --flags=-DNDEBUG
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// RUN: %rewritten %s | FileCheck %s
// VERDICT:      hold straight variable
// VERDICT-NEXT: 'text' has a type that cannot be written outside its function [local-type]
// VERDICT-NEXT: hold straight named
// VERDICT-NEXT: 'text' is named, pasted or made a string of by a macro [macro-reference]
// VERDICT:      8 delegate, 2 hold
// CHECK:      struct print_section {
// CHECK-NEXT:   char (*text)[LENGTH + 1];
// CHECK-NEXT:   int n;
// CHECK-NEXT: };
// CHECK:        total += snprintf(*section->text, sizeof(*section->text), "%d", section->n);
// CHECK-NEXT:   total += (*section->text)[0] - '0';
// CHECK:        {.text = &text, .n = n};
// CHECK:        char (*text)[LENGTH] = context;
// CHECK:        memset(*text, 'x', sizeof *text);
// CHECK:        relock_execute{{.*}}, &text);
// CHECK:        queue *own = context;
// CHECK:        MOVE(&shared, own);
// CHECK:        struct rows_section {
// CHECK-NEXT:     int (*grid)[ROWS][3];
// CHECK:        total += COUNT(*section->grid) + (*section->grid)[1][2];
// CHECK:        short (*list)[3];
// CHECK:        total += sizeof(*section->list) / sizeof((*section->list)[0]) + (*section->list)[2];
// CHECK:        struct elements_section {
// CHECK-NEXT:     const char *text;
// CHECK:        const char (*text)[4];
// CHECK:        DROPPED((*section->list));
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define LENGTH 11
#define COUNT(x) ((int)(sizeof(x) / sizeof((x)[0])))
#define MOVE(from, to) ((*(to))[0] = (*(from))[0], (*(to))[1] = (*(from))[1], (*(from))[0] = NULL)
#define DROPPED(x)
#define NAME(x) ((x)[0] ? #x : "")
enum { ROWS = 2 };
typedef void *queue[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static queue shared = {&total, &total};

static char print(int n) {
  char text[LENGTH + 1];
  pthread_mutex_lock(&lock);
  total += snprintf(text, sizeof(text), "%d", n);
  total += text[0] - '0';
  pthread_mutex_unlock(&lock);
  return text[0];
}

static int fill(void) {
  char text[LENGTH];
  pthread_mutex_lock(&lock);
  memset(text, 'x', sizeof text);
  pthread_mutex_unlock(&lock);
  return text[LENGTH - 1];
}

static int take(void) {
  queue own;
  pthread_mutex_lock(&lock);
  MOVE(&shared, &own);
  pthread_mutex_unlock(&lock);
  return own[1] == &total;
}

static void rows(int n) {
  int grid[ROWS][3] = {{n, 2, 3}, {4, 5, 6}};
  pthread_mutex_lock(&lock);
  total += COUNT(grid) + grid[1][2];
  total += n;
  pthread_mutex_unlock(&lock);
}

static void initialised(int n) {
  short list[] = {1, 2, 3};
  pthread_mutex_lock(&lock);
  total += sizeof(list) / sizeof(list[0]) + list[2];
  total += n;
  pthread_mutex_unlock(&lock);
}

static void elements(int n) {
  const char text[4] = "abc";
  const char(*where)[4] = &text;
  pthread_mutex_lock(&lock);
  total += text[n] + strlen(text);
  pthread_mutex_unlock(&lock);
  total += (*where)[0];
}

static void constant(void) {
  const char text[4] = "abc";
  pthread_mutex_lock(&lock);
  total += sizeof(text) + text[1];
  pthread_mutex_unlock(&lock);
}

static void dropped(int n) {
  int list[2] = {n, 3};
  pthread_mutex_lock(&lock);
  total += list[1] + n;
  DROPPED(list);
  pthread_mutex_unlock(&lock);
}

static int variable(int n) {
  char text[n];
  pthread_mutex_lock(&lock);
  memset(text, 'y', sizeof(text));
  pthread_mutex_unlock(&lock);
  return text[n - 1];
}

static void named(void) {
  char text[3] = "ab";
  pthread_mutex_lock(&lock);
  total += strlen(NAME(text)) + sizeof(text);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  int sum = print(321) + fill() + take() + variable(3);
  for (int i = 0; i < 3; i++)
    rows(i), initialised(i), elements(i), constant(), dropped(i), named();
  printf("%lu %d\n", total, sum);
  return 0;
}
