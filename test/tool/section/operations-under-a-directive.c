// SPDX-License-Identifier: MIT
// The lock and each unlock stand alone under the same directive: the section's function is the same in
// a configuration without it, and runs there without the lock.
// RUN: %check_rewrite %s --flags=-DTHREADS
// RUN: %verdicts %s -DTHREADS | FileCheck %s --check-prefix=VERDICTS
// RUN: %rewritten %s -- -DTHREADS | FileCheck %s
// RUN: %program %s %t.program -DTHREADS && cd %t.program && %relock rewrite -p build --all --in-place
// RUN: cd %t.program && %cc -Wall -Wextra -Werror -I%include operations-under-a-directive.c -o %t.without
// RUN: %t.without | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: 9 1 20 -1 7
// VERDICTS:      delegate straight add
// VERDICTS-NEXT: delegate straight add_one
// VERDICTS-NEXT: delegate early-exit find
// VERDICTS-NEXT: delegate early-exit two
// VERDICTS-NEXT: delegate early-exit shared_groups
// VERDICTS-NEXT: hold straight unlike
// VERDICTS-NEXT: a preprocessor directive stands in the section [preprocessor]
// VERDICTS-NEXT: hold straight beside_the_lock
// VERDICTS-NEXT: a preprocessor directive stands in the section [preprocessor]
// VERDICTS-NEXT: hold straight beside_the_unlock
// VERDICTS-NEXT: a preprocessor directive stands in the section [preprocessor]
// VERDICTS-NEXT: hold straight alternative
// VERDICTS-NEXT: a preprocessor directive stands in the section [preprocessor]
// VERDICTS-NEXT: hold straight one_sided
// VERDICTS-NEXT: a preprocessor directive stands in the section [preprocessor]
// CHECK:      static void add(int n) {
// CHECK-NEXT: struct add_section section = {.n = n};
// CHECK-NEXT: {{^}}#ifdef THREADS
// CHECK-NEXT: {{^}}  relock_execute_any_thread(&lock, add_section, &section);
// CHECK-NEXT: {{^}}#else
// CHECK-NEXT: {{^}}  add_section(&section);
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: printf
// CHECK:      {{^}}    #ifdef THREADS
// CHECK-NEXT: {{^}}    relock_execute_any_thread(&lock, add_one_section, NULL);
// CHECK-NEXT: {{^}}    #else
// CHECK-NEXT: {{^}}    add_one_section(NULL);
// CHECK-NEXT: {{^}}    #endif
// CHECK:      int place;
// CHECK-NEXT: struct find_section section = {.place = &place, .value = value};
// CHECK-NEXT: int taken;
// CHECK-NEXT: {{^}}#ifdef THREADS
// CHECK-NEXT: taken = relock_execute_any_thread(&lock, find_section, &section);
// CHECK-NEXT: {{^}}#else
// CHECK-NEXT: taken = find_section(&section);
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: if (taken == 1) {
// CHECK:      static int shared_groups(int n) {
// CHECK-NEXT: {{^}}#ifdef THREADS
// CHECK-NEXT: printf("threads\n");
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: struct shared_groups_section section = {.n = n};
// CHECK-NEXT: int taken;
// CHECK-NEXT: {{^}}#ifdef THREADS
// CHECK-NEXT: taken = relock_execute
// CHECK-NEXT: {{^}}#else
// CHECK-NEXT: taken = shared_groups_section(&section);
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: if (taken == 1) {
// CHECK-NEXT: {{^}}#ifdef LOUD
// CHECK-NEXT: printf("loud\n");
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: return 5;
// CHECK-NEXT: }
// CHECK-NEXT: {{^}}#ifdef THREADS
// CHECK-NEXT: printf("of threads\n");
// CHECK-NEXT: {{^}}#endif
// CHECK-NEXT: return 6;
#include <pthread.h>
#include <stdio.h>

#ifdef THREADS
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static int total, cells[4] = {5, 6, 7, 8};

static void add(int n) {
#ifdef THREADS
  pthread_mutex_lock(&lock);
#endif
  total += n;
  total += n > 2;
#ifdef THREADS
  /* unlock */
  pthread_mutex_unlock(&lock);
#endif
  printf("added\n");
}

static void add_one(void)
{
    #ifdef THREADS
    pthread_mutex_lock(&lock);
    #endif
    total++;
    #ifdef THREADS
    pthread_mutex_unlock(&lock);
    #endif
}

static int find(int value) {
  int place;
#ifdef THREADS
  pthread_mutex_lock(&lock);
#endif
  for (place = 0; place < 4; place++)
    if (cells[place] == value) {
      total += place;
#ifdef THREADS
      pthread_mutex_unlock(&lock);
#endif
      printf("found\n");
      return place;
    }
  total++;
#ifdef THREADS
  pthread_mutex_unlock(&lock);
#endif
  return -1;
}

static int two(int n) {
#ifdef THREADS
  pthread_mutex_lock(&lock);
#endif
  if (n == 0) {
#ifdef THREADS
    pthread_mutex_unlock(&lock);
#endif
    return 10;
  }
  cells[n]++;
  if (n == 1) {
#ifdef THREADS
    pthread_mutex_unlock(&lock);
#endif
    return 20;
  }
  cells[n]++;
#ifdef THREADS
  pthread_mutex_unlock(&lock);
#endif
  return 30;
}

static int shared_groups(int n) {
#ifdef THREADS
  printf("threads\n");
  pthread_mutex_lock(&lock);
#endif
  total += n;
  if (n == 2) {
#ifdef THREADS
    pthread_mutex_unlock(&lock);
#endif
#ifdef LOUD
    printf("loud\n");
#endif
    return 5;
  }
#ifdef THREADS
  pthread_mutex_unlock(&lock);
  printf("of threads\n");
#endif
  return 6;
}

static void unlike(void) {
#ifdef THREADS
  pthread_mutex_lock(&lock);
#endif
  total++;
#if defined(THREADS)
  pthread_mutex_unlock(&lock);
#endif
}

static void beside_the_lock(void) {
#ifdef THREADS
  printf("threads\n"); pthread_mutex_lock(&lock);
#endif
  total++;
#ifdef THREADS
  pthread_mutex_unlock(&lock);
#endif
}

static void beside_the_unlock(void) {
#ifdef THREADS
  pthread_mutex_lock(&lock);
#endif
  total++;
#ifdef THREADS
  pthread_mutex_unlock(&lock); printf("threads\n");
#endif
}

static void alternative(void) {
#ifdef THREADS
  pthread_mutex_lock(&lock);
#else
  total++;
#endif
  total++;
#ifdef THREADS
  pthread_mutex_unlock(&lock);
#endif
}

#ifdef THREADS
static void one_sided(void) {
#ifndef QUIET
  pthread_mutex_lock(&lock);
#endif
  total++;
  pthread_mutex_unlock(&lock);
}
#endif

int main(void) {
  add(4);
  add_one();
  unlike();
  beside_the_lock();
  beside_the_unlock();
  total -= 2;
  alternative();
  total--;
#ifndef THREADS
  total--;
#endif
#ifdef THREADS
  one_sided();
  total--;
#endif
  int found = find(6), missing = find(1);
  int second = two(1);
  if (shared_groups(1) != 6 || shared_groups(2) != 5)
    return 1;
  total -= 3;
  printf("%d %d %d %d %d\n", total, found, second, missing, cells[1]);
  return 0;
}
