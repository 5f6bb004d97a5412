// SPDX-License-Identifier: MIT
// The bounds in the declarator of a captured variable are written as the program has them, however
// deep they are in it; a bound that means something else where the declaration moves is its value.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s
// CHECK:      +  int (*early_value)[COLS];
// CHECK:      +  int (*late_value)[5];
// CHECK:      +  int (*counted_value)[2];
// CHECK:      +  int (*row)[COLS];
// CHECK:      +  int (*argument)[COLS];
// CHECK:      +  int (*constant)[COUNT + 1];
// CHECK:      +  int (**some)[COLS];
// CHECK:      +  int (*(*some_sum)(int (*)[COLS]))[COLS];
// CHECK:      check-rewrite: ok
#include <pthread.h>
#include <stdio.h>
#define COLS 4
#define ROWS 3
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int total;
#define ADD(early, late, counted)                                                                  \
  do {                                                                                             \
    pthread_mutex_lock(&one);                                                                      \
    total += (*(early))[1] + (*(late))[1] + (*(counted))[1];                                       \
    pthread_mutex_unlock(&one);                                                                    \
  } while (0)
#define LATE 5
enum { COUNT = 2 };
static int table[ROWS][COLS], wide[2][COUNT + 1];

static int (*sum(int (*of)[COLS]))[COLS] {
  total += (*of)[0];
  return of;
}

static int as_written(int argument[][COLS]) {
  int(*row)[COLS] = table;
  int(*const constant)[COUNT + 1] = wide;
  int(*some[ROWS])[COLS] = {table, table + 1, table + 2};
  int (*(*some_sum)(int (*)[COLS]))[COLS] = sum;
  pthread_mutex_lock(&one);
  row[1][2] += argument[0][0] + constant[1][0];
  total += (*some[1])[2] + (*some_sum(table))[0];
  pthread_mutex_unlock(&one);
  return (*row)[0] + (*some[0])[0] + (*some_sum(argument))[1];
}

// The declarations go before this macro, which knows no LATE and no COUNT.
static void in_a_macro(int (*early)[COLS], int (*late)[LATE], int (*counted)[COUNT]) {
  ADD(early, late, counted);
}

int main(void) {
  table[0][0] = 1;
  table[1][2] = 2;
  int late[LATE] = {3, 4}, counted[COUNT] = {5, 6}, written = as_written(table);
  in_a_macro(table + 1, &late, &counted);
  printf("%d %d\n", written, total);
  return 0;
}
