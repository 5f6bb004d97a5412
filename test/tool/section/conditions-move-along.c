// `#if` groups move with the section, if nothing goes into the context that only they name.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK:      delegate straight add
// CHECK-NEXT: delegate straight expression
// CHECK-NEXT: delegate straight skipped
// CHECK-NEXT: hold straight only_there
// CHECK-NEXT: cannot move [preprocessor]
// CHECK-NEXT: hold early-exit leaves
// CHECK-NEXT: cannot move [preprocessor]
// CHECK-NEXT: hold straight defines
// CHECK-NEXT: a preprocessor directive stands in the section [preprocessor]
//      TEXT:static int add_section(void *context) {
// TEXT-NEXT:  struct add_section *section = context;
// TEXT-NEXT:  int n = section->n;
// TEXT-EMPTY:
// TEXT-NEXT:  total += n;
// TEXT-NEXT:#ifndef QUIET
// TEXT-NEXT:  if (n > 2)
// TEXT-NEXT:    total++; /* loud */
// TEXT-NEXT:#else
// TEXT-NEXT:  /* nothing */
// TEXT-NEXT:#endif
// TEXT-NEXT:  return 0;
// TEXT-NEXT:}
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifndef QUIET
  if (n > 2)
    total++; /* loud */
#else
  /* nothing */
#endif
  pthread_mutex_unlock(&lock);
}

static void expression(int n) {
  pthread_mutex_lock(&lock);
  if (n > 3
#ifndef QUIET
      || n == 1
#endif
  )
    total += n;
  pthread_mutex_unlock(&lock);
}

static void skipped(int n) {
  pthread_mutex_lock(&lock);
  total += n;
#ifdef QUIET
  total--;
#endif
  pthread_mutex_unlock(&lock);
}

static void only_there(int n, int m) {
  pthread_mutex_lock(&lock);
  total += n;
#ifndef QUIET
  total += m;
#endif
  pthread_mutex_unlock(&lock);
}

static int leaves(int n) {
  pthread_mutex_lock(&lock);
#ifndef QUIET
  if (n > 4) {
    pthread_mutex_unlock(&lock);
    return 1;
  }
#endif
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}

static void defines(int n) {
  pthread_mutex_lock(&lock);
#define STEP 3
  total += n * STEP;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  int left = 0;
  for (int i = 0; i < 9; i++) {
    add(i), expression(i), skipped(i), only_there(i, 2), defines(i);
    left += leaves(i);
  }
  printf("%d %d\n", total, left);
  return 0;
}
