// SPDX-License-Identifier: MIT
// The arm of an `if` that only asks whether the lock is taken is a section, whichever arm it is and
// wherever the result stays: the `if` goes, with the arm that never runs, and a variable that is
// read behind it is 0. It stays where the other arm is not all known, or would take the last use of
// something along.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate straight {{ *}}fails_otherwise
// CHECK-NEXT: delegate straight {{ *}}fails_first
// CHECK-NEXT: delegate straight {{ *}}keeps_the_result
// CHECK-NEXT: delegate straight {{ *}}asks_later
// CHECK-NEXT: delegate straight {{ *}}declares_it
// CHECK-NEXT: delegate straight {{ *}}reports_it
// CHECK-NEXT: delegate straight {{ *}}in_a_chain
// CHECK-NEXT: delegate straight {{ *}}returns_it
// CHECK-NEXT: delegate straight {{ *}}by_wrappers
// CHECK-NEXT: delegate straight {{ *}}negative
// CHECK-NEXT: hold {{ *}}conditional {{ *}}last_use
// CHECK-NEXT:   the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold {{ *}}straight {{ *}}configured
// CHECK-NEXT:   text that goes with the test may do more [tested-result]
// CHECK-NEXT: hold {{ *}}conditional {{ *}}labelled
// CHECK-NEXT:   the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold {{ *}}conditional {{ *}}keeps_in_a_chain
// CHECK-NEXT:   the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold {{ *}}split {{ *}}asks_for_more
// CHECK-NEXT:   is unlocked under a condition
// CHECK-NEXT: hold {{ *}}straight {{ *}}leaves
// CHECK-NEXT:   returns with the lock held [held-at-exit]
// CHECK:      1 in lock wrappers
// CHECK:      tests of a lock's or unlock's result that delegated sections drop
// CHECK-NEXT: entered-arm.c:{{[0-9]+}}: in fails_otherwise
// TEXT:      static int fails_first(int n) {
// TEXT-NEXT:   int failed = 0;
// TEXT-EMPTY:
// TEXT-NEXT:   struct fails_first_section section = {.n = n};
// TEXT-NEXT:   relock_execute{{[a-z_]*}}(&lock, fails_first_section, &section);
// TEXT-NEXT:   return failed;
// TEXT-NEXT: }
// TEXT:      static int keeps_the_result(int n) {
// TEXT-NEXT:   int error;
// TEXT-EMPTY:
// TEXT-NEXT:   error = 0;
// TEXT-NEXT:   struct keeps_the_result_section section = {.n = n};
// TEXT-NEXT:   relock_execute{{[a-z_]*}}(&lock, keeps_the_result_section, &section);
// TEXT-NEXT:   return error;
// TEXT-NEXT: }
// TEXT:      static int declares_it(int n) {
// TEXT-NEXT:   int error = 0;
// TEXT-NEXT:   struct declares_it_section section = {.n = n};
// TEXT-NEXT:   relock_execute{{[a-z_]*}}(&lock, declares_it_section, &section);
// TEXT-NEXT:   return error;
// TEXT-NEXT: }
// TEXT:      static void reports_it(int n) {
// TEXT-NEXT:   struct reports_it_section section = {.n = n};
// TEXT-NEXT:   relock_execute{{[a-z_]*}}(&lock, reports_it_section, &section);
// TEXT-NEXT: }
// STATS: stats: lock held=23 executed=39
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, others, failures;

static int fails_otherwise(int n) {
  int failed = 0;

  if (pthread_mutex_lock(&lock) == 0) {
    total += n;
    pthread_mutex_unlock(&lock);
  } else {
    failed = -1;
  }
  return failed;
}

static int fails_first(int n) {
  int failed = 0;

  if (pthread_mutex_lock(&lock) != 0) {
    failures++;
    failed = -1;
  } else {
    total += 2 * n;
    pthread_mutex_unlock(&lock);
  }
  return failed;
}

static int keeps_the_result(int n) {
  int error;

  if ((error = pthread_mutex_lock(&lock)) == 0) {
    total += 3 * n;
    pthread_mutex_unlock(&lock);
  } else {
    failures = error;
  }
  return error;
}

static int asks_later(int n) {
  int error;

  error = pthread_mutex_lock(&lock);
  if (error == 0) {
    total += 4 * n;
    error = total;
    pthread_mutex_unlock(&lock);
  }
  return error;
}

static int declares_it(int n) {
  int error = pthread_mutex_lock(&lock);
  if (!error) {
    total += 5 * n;
    pthread_mutex_unlock(&lock);
  }
  return error;
}

static void reports_it(int n) {
  int error = pthread_mutex_lock(&lock);
  if (error) {
    fprintf(stderr, "cannot lock: %d\n", error);
  } else {
    total += 6 * n;
    pthread_mutex_unlock(&lock);
  }
}

static void in_a_chain(int n) {
  if (n > 2)
    others--;
  else if (pthread_mutex_lock(&lock)) {
    failures++;
  } else {
    total += 7 * n;
    pthread_mutex_unlock(&lock);
  }
}

static int returns_it(int n) {
  int error;

  if ((error = pthread_mutex_lock(&lock)) == 0) {
    total += 8 * n;
    pthread_mutex_unlock(&lock);
  } else {
    return error;
  }
  return 1;
}

static int take(pthread_mutex_t *m) {
  return pthread_mutex_lock(m) == 0 ? 0 : -106;
}
static int release(pthread_mutex_t *m) {
  if (pthread_mutex_unlock(m) == 0)
    return 0;
  else
    return -106;
}
static int by_wrappers(int n) {
  if (take(&lock) != 0) {
    return -1;
  } else {
    total += 9 * n;
    release(&lock);
  }
  return 0;
}

static int negative(int n) {
  int status = take(&lock);

  if (status < 0) {
    status = failures;
  } else {
    total += 10 * n;
    release(&lock);
  }
  return status;
}

static int count_failure(void) {
  return ++failures;
}
static void last_use(int n) {
  if (pthread_mutex_lock(&lock) == 0) {
    total += 11 * n;
    pthread_mutex_unlock(&lock);
  } else {
    count_failure();
  }
}

static void configured(int n) {
  if (pthread_mutex_lock(&lock) == 0) {
    total += 12 * n;
    pthread_mutex_unlock(&lock);
  } else {
#ifdef AUDIT
    count_failure();
#endif
  }
}

static void labelled(int n) {
  if (n > 5)
    goto failed;
  if (pthread_mutex_lock(&lock) == 0) {
    total += 13 * n;
    pthread_mutex_unlock(&lock);
  } else {
  failed:
    failures++;
  }
}

static int keeps_in_a_chain(int n) {
  int error = 1;

  if (n > 2)
    others--;
  else if ((error = pthread_mutex_lock(&lock)) == 0) {
    total += 14 * n;
    pthread_mutex_unlock(&lock);
  }
  return error;
}

static int asks_for_more(int n) {
  int error = pthread_mutex_lock(&lock);

  if (error == 0 || n > 7) {
    total += 15 * n;
    if (error == 0)
      pthread_mutex_unlock(&lock);
  }
  return error;
}

static int leaves(int n) {
  int error = pthread_mutex_lock(&lock);

  if (error == 0) {
    if (n > 100)
      return n;
    total += 16 * n;
    pthread_mutex_unlock(&lock);
  }
  return error;
}

int main(void) {
  for (int n = 0; n < 4; n++) {
    int sum = fails_otherwise(n);
    sum += fails_first(n);
    sum += keeps_the_result(n);
    sum += asks_later(n);
    sum += declares_it(n);
    reports_it(n);
    in_a_chain(n);
    sum += returns_it(n);
    sum += by_wrappers(n);
    sum += negative(n);
    last_use(n);
    configured(n);
    labelled(n);
    sum += keeps_in_a_chain(n);
    sum += asks_for_more(n);
    sum += leaves(n);
    printf("%d\n", sum);
  }
  printf("%d %d %d\n", total, others, failures);
  return 0;
}
