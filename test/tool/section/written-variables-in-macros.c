// SPDX-License-Identifier: MIT
// A variable that the section writes, and a macro makes a string of, or names in its body: the section's
// function has a local of that name, and stores it wherever it ends with the variable still needed. Not where
// others may see the variable meanwhile, since its address is known or it is static; nor where the section
// is left for a while, or from a place that takes one statement.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: (%verdicts %s; true) | FileCheck %s --check-prefix=SITES
// RUN: %rewritten %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int total, items[4] = {1, 2, 3, 4};
#define SHOW(x) printf(#x " %d\n", x)
#define SIZED(p) do { if (sizeof *(p) == 4) printf(#p "\n"); } while (0)

// SITES-DAG: delegate straight {{ *}}before
// CHECK:      static int before_section(
// CHECK:        int sum = *section->sum;
// CHECK:        sum += total;
// CHECK-NEXT:   SHOW(sum);
// CHECK-NEXT:   total++;
// CHECK-NEXT:   *section->sum = sum;
// CHECK-NEXT:   return 0;
static int before(int n) {
  int sum = n;
  pthread_mutex_lock(&lock);
  sum += total;
  SHOW(sum);
  total++;
  pthread_mutex_unlock(&lock);
  return sum;
}

// It has no value before.
// SITES-DAG: delegate straight {{ *}}declared
// CHECK:      static int declared_section(
// CHECK:        int *item;
// CHECK:        item = &items[
// CHECK-NEXT:   SIZED(item);
// CHECK:      out:
// CHECK-NEXT:   *section->item = item;
// CHECK-NEXT:   return 0;
static int declared(int n) {
  pthread_mutex_lock(&lock);
  int *item = &items[n];
  SIZED(item);
  if (n > 2)
    goto out;
  total++;
out:
  pthread_mutex_unlock(&lock);
  return *item;
}

// One way out does not need it, and comes before it has one.
// SITES-DAG: delegate early-exit {{ *}}early
// CHECK:      static int early_section(
// CHECK:        if (total > 99) {
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   }
// CHECK:        if (sum > 3) {
// CHECK-NEXT:     *section->sum = sum;
// CHECK-NEXT:     return 2;
// CHECK-NEXT:   }
// CHECK-NEXT:   total++;
// CHECK-NEXT:   *section->sum = sum;
// CHECK-NEXT:   return 0;
static int early(int n) {
  int sum;
  pthread_mutex_lock(&lock);
  if (total > 99) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  sum = n + total;
  SHOW(sum);
  if (sum > 3) {
    pthread_mutex_unlock(&lock);
    return sum;
  }
  total++;
  pthread_mutex_unlock(&lock);
  return 2 * sum;
}

// The function within another one stores what that has.
// SITES-DAG: delegate nested {{ *}}nested
// CHECK:      static int nested_section2(
// CHECK:        SHOW(sum);
// CHECK-NEXT:   *section->sum = sum;
// CHECK:      static int nested_section(
// CHECK:        SHOW(sum);
// CHECK:          .sum = &sum
// CHECK:        *section->sum = sum;
static int nested(int n) {
  int sum = n;
  pthread_mutex_lock(&lock);
  sum += total;
  SHOW(sum);
  pthread_mutex_lock(&other);
  sum += items[0]++;
  SHOW(sum);
  pthread_mutex_unlock(&other);
  sum++;
  pthread_mutex_unlock(&lock);
  return sum;
}

// SITES-DAG: hold {{ *}}straight {{ *}}pointed
static void give(int *p) { total += *p; }
static int pointed(int n) {
  int sum = n;
  int *p = &sum;
  pthread_mutex_lock(&lock);
  sum += total;
  SHOW(sum);
  give(p);
  pthread_mutex_unlock(&lock);
  return sum;
}

// SITES-DAG: hold {{ *}}straight {{ *}}remembered
static int remembered(int n) {
  static int sum;
  pthread_mutex_lock(&lock);
  sum += n;
  SHOW(sum);
  pthread_mutex_unlock(&lock);
  return sum;
}

// SITES-DAG: hold {{ *}}split {{ *}}released
static int released(int n) {
  int sum = n;
  pthread_mutex_lock(&lock);
  sum += total;
  SHOW(sum);
  pthread_mutex_unlock(&lock);
  sum++;
  pthread_mutex_lock(&lock);
  sum += total;
  SHOW(sum);
  if (sum > 5)
    pthread_mutex_unlock(&lock);
  else {
    total++;
    pthread_mutex_unlock(&lock);
  }
  return sum;
}

// SITES-DAG: hold {{ *}}{{[a-z-]+}} {{ *}}left_for_a_while
static int left_for_a_while(int n) {
  int sum = n;
  pthread_mutex_lock(&lock);
  while (sum < 9) {
    sum += 4;
    SHOW(sum);
    pthread_mutex_unlock(&lock);
    puts("without");
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return sum;
}

// SITES: 11 lock sites: 6 delegate, 5 hold
int main(void) {
  printf("%d\n", before(1));
  printf("%d\n", declared(2));
  printf("%d\n", early(3));
  printf("%d\n", nested(3));
  printf("%d\n", pointed(4));
  printf("%d\n", remembered(5));
  printf("%d\n", released(6));
  printf("%d\n", left_for_a_while(2));
  total = 100;
  printf("%d\n", early(7));
  return 0;
}
