// SPDX-License-Identifier: MIT
// Every comment of a section moves with its statement, or goes with its unlock; a declaration's goes
// where that goes, and a function's own comment stays above it, also behind a blank line.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int total; /* of all threads */
// CHECK:      static int add_section(void *context) {
// CHECK:        /* the sum, not the count */
// CHECK-NEXT:   total += section->amount; // never negative
// CHECK-NEXT:   /* done,
// CHECK-NEXT:    * almost */
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: /* Adds an amount.
// CHECK-NEXT:  * Any thread may call it. */
// CHECK-NEXT: static void add(int amount) {
// CHECK-NEXT:   /* before */
// CHECK-NEXT:   struct add_section section = {.amount = amount};
// CHECK-NEXT:   relock_execute_any_thread(&lock, add_section, &section);
// CHECK-NEXT:   /* after */
// CHECK-NEXT: }
// CHECK:      static int twice_section(void *context) {
// CHECK-NEXT:   int old; /* before that */
// CHECK-NEXT:   (void)context;
// CHECK-EMPTY:
// CHECK-NEXT:   old = total;
// CHECK-NEXT:   total += old;
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: /*
// CHECK-NEXT:  * TWICE - doubles
// CHECK-NEXT:  */
// CHECK-EMPTY:
// CHECK-NEXT: static void twice(void) {
// CHECK-NEXT:   relock_execute_any_thread(&lock, twice_section, NULL);
// CHECK-NEXT: }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total; /* of all threads */

/* Adds an amount.
 * Any thread may call it. */
static void add(int amount) {
  /* before */
  pthread_mutex_lock(&lock);
  /* the sum, not the count */
  total += amount; // never negative
  /* done,
   * almost */
  pthread_mutex_unlock(&lock); /* released */
  /* after */
}

/*
 * TWICE - doubles
 */

static void twice(void) {
  int old; /* before that */

  pthread_mutex_lock(&lock);
  old = total;
  total += old;
  /* Unlock the total. */
  pthread_mutex_unlock(&lock);
}

int main(void) {
  add(3);
  twice();
  printf("%d\n", total);
  return 0;
}
