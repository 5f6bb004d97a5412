// SPDX-License-Identifier: MIT
// Lock macros with do/while(0), with braces, with a semicolon of their own and that are statement
// expressions all delegate, and leave no stray semicolon.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static void wrapped(void) {
// CHECK-NEXT:   relock_execute_any_thread(&lock, wrapped_section, NULL);
// CHECK-NEXT: }
// CHECK:      static void braced(void) {
// CHECK-NEXT:   relock_execute_any_thread(&lock, braced_section, NULL);
// CHECK-NEXT: }
// CHECK:      static void ended(void) {
// CHECK-NEXT:   relock_execute_any_thread(&lock, ended_section, NULL);
// CHECK-NEXT: }
// CHECK:      static void valued(void) {
// CHECK-NEXT:   relock_execute_any_thread(&lock, valued_section, NULL);
// CHECK-NEXT: }
#include <pthread.h>
#include <stdio.h>

#define WRAPPED_LOCK(m) do { pthread_mutex_lock(m); } while (0)
#define WRAPPED_UNLOCK(m) do { pthread_mutex_unlock(m); } while (0)
#define BRACED_LOCK(m) { pthread_mutex_lock(m); }
#define BRACED_UNLOCK(m) { (void)pthread_mutex_unlock(m); }
#define ENDED_LOCK(m) pthread_mutex_lock(m);
#define ENDED_UNLOCK(m) pthread_mutex_unlock(m);
#define VALUED_LOCK(m) ({ pthread_mutex_lock(m); })
#define VALUED_UNLOCK(m) ({ pthread_mutex_unlock(m); })

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void wrapped(void) {
  WRAPPED_LOCK(&lock);
  count += 1;
  WRAPPED_UNLOCK(&lock);
}

static void braced(void) {
  BRACED_LOCK(&lock);
  count += 10;
  BRACED_UNLOCK(&lock);
}

static void ended(void) {
  ENDED_LOCK(&lock)
  count += 100;
  ENDED_UNLOCK(&lock)
}

static void valued(void) {
  VALUED_LOCK(&lock);
  count += 1000;
  VALUED_UNLOCK(&lock);
}

int main(void) {
  wrapped();
  braced();
  ended();
  valued();
  printf("%d\n", count);
  return 0;
}
