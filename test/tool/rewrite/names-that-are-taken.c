// SPDX-License-Identifier: MIT
// The program has a struct, a variable, a function and a parameter with the names that the
// rewrite would give: each keeps its meaning.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags=-Wall
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static struct add_section add_section = {4};
// CHECK:          return section(taken);
// CHECK:          return context;
// CHECK:        return section(result) + taken + context;
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
struct add_section { int x; };
static struct add_section add_section = {4};
static int section(int n) { return n + 1; }
static int context = 3;
static int add(int n, int taken) {
  int result = 0;
  pthread_mutex_lock(&lock);
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return section(taken);
  }
  if (n == 7) {
    pthread_mutex_unlock(&lock);
    return context;
  }
  total += n + add_section.x + section(context);
  result = total;
  pthread_mutex_unlock(&lock);
  return section(result) + taken + context;
}
int main(void) {
  printf("%d\n", add(1, 2));
  printf("%d\n", add(-1, 2));
  printf("%d\n", add(7, 2));
  return 0;
}
