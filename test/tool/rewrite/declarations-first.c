/* SPDX-License-Identifier: MIT */
/* A C89 program stays one: no declaration after a statement, no designated initialiser. */
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-std=gnu89 -pedantic -Wdeclaration-after-statement'
// RUN: %rewritten %s -- -std=gnu89 | FileCheck %s
// CHECK:          struct add_section section;
// CHECK-NEXT:     int taken;
// CHECK-NEXT:     section.amount = amount;
// CHECK-NEXT:     section.result = &result;
// CHECK-NEXT:     taken = relock_execute_any_thread(&lock, add_section, &section);
// CHECK:          if (taken == 1) {
// CHECK:          if (taken == 2) {
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int add(int amount)
{
    int result = 7;
    if (amount == 9)
        return 9;
    pthread_mutex_lock(&lock);
    if (amount < 0) {
        pthread_mutex_unlock(&lock);
        return -1;
    }
    if (amount == 0) {
        pthread_mutex_unlock(&lock);
        return result;
    }
    total += amount;
    result = total;
    pthread_mutex_unlock(&lock);
    return result;
}

int main(void)
{
    printf("%d ", add(-3));
    printf("%d ", add(0));
    printf("%d ", add(9));
    printf("%d ", add(3));
    printf("%d\n", total);
    return 0;
}
