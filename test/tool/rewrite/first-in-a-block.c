/* SPDX-License-Identifier: MIT */
/* Where declarations come first, a section that begins a block needs no block of its own. */
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-std=gnu89 -pedantic -Wdeclaration-after-statement'
// RUN: %rewritten %s -- -std=gnu89 | FileCheck %s
// CHECK:      while (rounds--) {
// CHECK-NEXT:   struct add_section section;
// CHECK:        relock_execute_any_thread(&lock, add_section, &section);
// CHECK-NEXT: }
// CHECK:      if (step > 1) {
// CHECK-NEXT:   struct add_section2 section2;
// CHECK:        relock_execute_any_thread(&lock, add_section2, &section2);
// CHECK-NEXT:   rounds = step;
// CHECK-NEXT: }
// CHECK:      if (rounds) {
// CHECK-NEXT:   step = 0;
// CHECK-NEXT:   {
// CHECK-NEXT:     struct add_section3 section3;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, last;

static int add(int step, int rounds)
{
    int sum = 0;
    while (rounds--) {
        int more;
        pthread_mutex_lock(&lock);
        more = total + step;
        total = more;
        sum += step;
        pthread_mutex_unlock(&lock);
    }
    if (step > 1) {
        pthread_mutex_lock(&lock);
        last = step;
        sum += last;
        pthread_mutex_unlock(&lock);
        rounds = step;
    }
    if (rounds) {
        step = 0;
        pthread_mutex_lock(&lock);
        last = rounds;
        sum += total;
        pthread_mutex_unlock(&lock);
    }
    return sum + step;
}

int main(void)
{
    printf("%d ", add(1, 2));
    printf("%d\n", add(2, 3));
    printf("%d %d\n", total, last);
    return 0;
}
