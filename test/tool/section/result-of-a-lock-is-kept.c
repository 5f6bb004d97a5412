// SPDX-License-Identifier: MIT
// The result of an operation on a normal mutex is 0. Where it is kept in a variable, that is what is
// left; the tests behind it go, and the variable, where nothing else names it.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK-COUNT-16: delegate
// CHECK:          hold {{.*}} last_use
// CHECK-NEXT:     [tested-result]
// CHECK:          delegate straight with_a_lock_inside
// CHECK:          18 lock sites: 17 delegate, 1 hold
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, last_error = 7;

// The variable is for nothing else.
// TEXT-LABEL: static int only_tested(int n) {
// TEXT-NEXT:    struct only_tested_section section = {.n = n};
// TEXT-NEXT:    relock_execute_any_thread(&lock, only_tested_section, &section);
// TEXT-NEXT:    return 0;
static int only_tested(int n) {
  int rc;

  rc = pthread_mutex_lock(&lock);
  if (rc != 0)
    return rc;
  total += n;
  rc = pthread_mutex_unlock(&lock);
  if (rc)
    return rc;
  return 0;
}

// TEXT-LABEL: static int declared(int n) {
// TEXT-NEXT:    struct declared_section section = {.n = n};
// TEXT-NEXT:    relock_execute_any_thread(&lock, declared_section, &section);
// TEXT-NEXT:    return n;
static int declared(int n) {
  int rc = pthread_mutex_lock(&lock);
  assert(rc == 0);
  total += n;
  rc = pthread_mutex_unlock(&lock);
  assert(rc == 0);
  return n;
}

// TEXT-LABEL: static int returned(int n) {
// TEXT-NEXT:    struct returned_section section = {.n = n};
// TEXT-NEXT:    relock_execute_any_thread(&lock, returned_section, &section);
// TEXT-NEXT:    return 0;
// TEXT-NEXT:  }
static int returned(int n) {
  int rc = pthread_mutex_lock(&lock);
  if (rc) {
    char text[64];
    snprintf(text, sizeof text, "lock: %s", strerror(rc));
    puts(text);
    return rc;
  }
  total += n;
  rc = pthread_mutex_unlock(&lock);
  return rc;
}

// TEXT-LABEL: static int at_once(int n) {
// TEXT:         if (relock_execute_any_thread(&lock, at_once_section, &section)) {
// TEXT-NEXT:      return 0;
// TEXT-NEXT:    }
// TEXT-NEXT:    return 0;
static int at_once(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    return pthread_mutex_unlock(&lock);
  total += n;
  return pthread_mutex_unlock(&lock) ? -1 : 0;
}

// The variable is read behind the tests.
// TEXT-LABEL: static int read_later(int n) {
// TEXT-NEXT:    int rc = n;
// TEXT-NEXT:    if (n == 2)
// TEXT-NEXT:      goto out;
// TEXT-NEXT:    rc = 0;
// TEXT-NEXT:    struct read_later_section section = {.n = n, .rc = rc};
// TEXT-NEXT:    relock_execute_any_thread(&lock, read_later_section, &section);
// TEXT-NEXT:    rc = 0;
// TEXT-NEXT:    return rc + n;
static int read_later(int n) {
  int rc = n;
  if (n == 2)
    goto out;
  if ((rc = pthread_mutex_lock(&lock)) != 0)
    goto out;
  total += n + rc;
  if ((rc = pthread_mutex_unlock(&lock)) != 0)
    goto out;
  return rc + n;
out:
  return -1 - rc * (n ? 1 : 2);
}

// TEXT-LABEL: static int jumps(int n) {
// TEXT-NEXT:    int rc = -1;
// TEXT-NEXT:    if (n == 3)
// TEXT-NEXT:      goto out;
// TEXT-NEXT:    struct jumps_section section = {.n = n, .rc = &rc};
// TEXT-NEXT:    relock_execute_any_thread(&lock, jumps_section, &section);
// TEXT-NEXT:  out:
static int jumps(int n) {
  int rc = -1;
  if (n == 3)
    goto out;
  rc = pthread_mutex_lock(&lock);
  if (rc)
    goto out;
  total += n;
  rc = n + 1;
  pthread_mutex_unlock(&lock);
out:
  return rc;
}

// TEXT-LABEL: static int in_errno(int n) {
// TEXT:         errno = 0;
// TEXT-NEXT:    struct in_errno_section section = {.n = n};
// TEXT-NEXT:    relock_execute_any_thread(&lock, in_errno_section, &section);
// TEXT-NEXT:    last_error = 0;
static int in_errno(int n) {
  if ((errno = pthread_mutex_lock(&lock)) != 0) {
    perror("lock");
    return -1;
  }
  total += n;
  last_error = pthread_mutex_unlock(&lock);
  return last_error + errno;
}

// TEXT-LABEL: static int branches(int n) {
// TEXT:         if (relock_execute_any_thread(&lock, branches_section, &section)) {
// TEXT-NEXT:      rc = 0;
// TEXT-NEXT:      return rc - n;
static int branches(int n) {
  int rc = 5;
  pthread_mutex_lock(&lock);
  if (n < 0) {
    rc = pthread_mutex_unlock(&lock);
    assert(!rc);
    return rc - n;
  }
  total += n;
  pthread_mutex_unlock(&lock);
  return rc;
}

static int releases(int n) {
  int rc = pthread_mutex_lock(&lock);
  if (rc)
    return rc;
  total += n;
  rc = pthread_mutex_unlock(&lock);
  if (rc)
    return rc;
  printf("%d ", n + rc);
  rc = pthread_mutex_lock(&lock);
  if (rc)
    return rc;
  total += 2 * n;
  rc = pthread_mutex_unlock(&lock);
  return rc;
}

static int twice(int n) {
  pthread_mutex_lock(&lock);
  if (n > 2) {
    int rc = pthread_mutex_unlock(&lock);
    if (rc)
      return rc;
    printf("(%d) ", n);
    if ((rc = pthread_mutex_lock(&lock)))
      return rc;
  }
  total += n;
  pthread_mutex_unlock(&lock);
  return n;
}

#define TRY(call)                                                                                  \
  if ((rc = (call)) != 0)                                                                          \
  goto failed
static int in_macros(int n) {
  int rc;
  if (n == 4) {
    rc = 4;
    goto failed;
  }
  TRY(pthread_mutex_lock(&lock));
  total += n;
  TRY(pthread_mutex_unlock(&lock));
  return 0;
failed:
  return rc;
}

static bool found(int n) {
  int rc, seen = 0;
  rc = pthread_mutex_lock(&lock);
  if (rc) {
    return false;
  }
  while (seen < n) {
    if (total % 7 == seen) {
      rc = pthread_mutex_unlock(&lock);
      if (rc)
        break;
      return true;
    }
    seen++;
  }
  rc = pthread_mutex_unlock(&lock);
  assert(rc == 0);
  return false;
}

static int with_a_lock_inside(int n) {
  static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  int rc = pthread_mutex_lock(&lock);
  if (rc)
    return rc;
  rc = pthread_mutex_lock(&inner);
  if (rc == 0)
    total += n;
  rc = pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&lock);
  return 0;
}

static int fails_otherwise(int n) {
  int rc = pthread_mutex_lock(&lock);
  if (rc == 0) {
    total += n;
    pthread_mutex_unlock(&lock);
  }
  return rc;
}

static int failed(void) { return 9; }

static int last_use(int n) {
  if (pthread_mutex_lock(&lock))
    return failed();
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  for (int i = -3; i < 9; i++) {
    printf("%d ", only_tested(i));
    printf("%d ", declared(i));
    printf("%d ", returned(i));
    printf("%d ", at_once(i));
    printf("%d ", read_later(i));
    printf("%d ", jumps(i));
    printf("%d ", in_errno(i));
    printf("%d ", branches(i));
    printf("%d ", releases(i));
    printf("%d ", twice(i));
    printf("%d ", in_macros(i));
    printf("%d ", found(i));
    printf("%d ", with_a_lock_inside(i));
    printf("%d ", fails_otherwise(i));
    printf("%d ", last_use(i));
    puts("");
  }
  printf("%d\n", total);
  return 0;
}
