// Operators that test their result for a failure that cannot be: the test goes with the operation.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// TEXT:      static void reports(int n) {
// TEXT-NEXT:   struct reports_section section = {.n = n};
// TEXT-NEXT:   relock_execute_any_thread(&lock, reports_section, &section);
// TEXT-NEXT: }
// CHECK:      delegate early-exit asserts
// CHECK-NEXT: delegate straight reports
// CHECK-NEXT: delegate straight breaks
// CHECK-NEXT: delegate split arms
// CHECK-NEXT: delegate straight wraps
// CHECK-NEXT: hold conditional inverted
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold conditional counts
// CHECK-NEXT: the result of the lock operation is used [tested-result]
// CHECK-NEXT: delegate straight misleads
// CHECK-NEXT: delegate straight kept
// CHECK-NEXT: delegate straight where
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED(call) do { \
    int error; \
    if ((error = (call)) != 0) \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, strerror(error)); \
  } while (0)
#define ENDS(call) do { \
    int error = call; \
    if (!error) \
      break; \
    fputs(#call " failed\n", stderr); \
    abort(); \
  } while (0)
#define RETRIES(call) do { \
    int error = call; \
    if (error) \
      break; \
    total++; \
  } while (0)
#define take(l) CHECKED(pthread_mutex_lock(l))
#define leave(l) CHECKED(pthread_mutex_unlock(l))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int asserts(int n) {
  assert(pthread_mutex_lock(&lock) == 0);
  if (n < 0) {
    assert(!pthread_mutex_unlock(&lock));
    return 1;
  }
  total += n;
  assert(pthread_mutex_unlock(&lock) == 0);
  return 0;
}

static void reports(int n) {
  take(&lock);
  total += n;
  leave(&lock);
}

static void breaks(int n) {
  ENDS(pthread_mutex_lock(&lock));
  total += n;
  ENDS(pthread_mutex_unlock(&lock));
}

static int arms(int n) {
  take(&lock);
  if (n > 3) {
    total += n;
    leave(&lock);
  } else {
    total -= n;
    leave(&lock);
    n = -n;
  }
  return n;
}

static inline void acquire(pthread_mutex_t *mutex) {
  int result = pthread_mutex_lock(mutex);
  assert(result == 0);
  (void)result;
}
static inline int release(pthread_mutex_t *mutex) {
  int result = pthread_mutex_unlock(mutex);
  if (result)
    perror("unlock");
  return result;
}
static void wraps(int n) {
  acquire(&lock);
  total += n;
  (void)release(&lock);
}

static void inverted(int n) {
  if (pthread_mutex_lock(&lock) == 0)
    total++;
  total += n;
  pthread_mutex_unlock(&lock);
}

static void counts(int n) {
  RETRIES(pthread_mutex_lock(&lock));
  total += n;
  pthread_mutex_unlock(&lock);
}

static void takes(pthread_mutex_t *mutex) {
  if (pthread_mutex_lock(mutex) == 0)
    return;
  abort();
}
static void misleads(int n) {
  takes(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
}

static int kept(int n) {
  int error = pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
  return error;
}

static void where(int locking) {
  if (locking) {
    take(&lock);
  }
  total++;
  if (locking) {
    leave(&lock);
  }
}

int main(void) {
  int sum = 0;
  for (int i = -3; i < 9; i++) {
    sum += asserts(i) + arms(i) + kept(i);
    reports(i), wraps(i), breaks(i), inverted(i), counts(i), misleads(i), where(i > 0);
  }
  printf("%d %d\n", total, sum);
  return 0;
}
