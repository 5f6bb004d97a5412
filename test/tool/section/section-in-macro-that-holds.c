// SPDX-License-Identifier: MIT
// Macros whose sections hold, with the reason: each takes the converted lock where it stands.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK-NOT:    relock_execute
// CHECK:        relock_mutex_lock(&lock); \
// CHECK-NEXT:   counter = value; \
// CHECK-NEXT:   relock_mutex_unlock(&lock); \
// CHECK-NOT:    relock_execute
// REASON:     uses (section-in-macro-that-holds.c:[[#@LINE+61]])
// REASON-NEXT: stands in 'SET', which would need another text or lock at 1 of its 2 uses [macro-section]
// REASON:     stands in 'SET', which would need
// REASON:     needs the argument for 'value' evaluated under the lock [macro-section]
// REASON:     uses the parameter 'f' otherwise than as an expression [macro-section]
// REASON:     makes a string of a parameter, or pastes one [macro-section]
// REASON:     uses 'v' in a macro that makes text of it [macro-section]
// REASON:     uses '__LINE__', which is another one at each use [macro-section]
// REASON:     uses '__LINE__', which is another one at each use [macro-section]
// REASON:     uses 'STEP', which is another macro where 'STEPPED' is defined [macro-section]
// REASON:     names something that is declared after the macro's definition [macro-section]
// REASON:     uses the parameter 'n' without parentheses [macro-section]
// REASON:     stands in 'COPY', which would need another text or lock at 1 of its 2 uses [macro-section]
// REASON:     stands in the body of a macro, and is not a straight one [macro-section]
// REASON:     needs the argument for 'value' evaluated under the lock [macro-section]
// REASON:     0 delegate
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int hits; } stats;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int sum, line;
static long wide;
static const char *text;

#define SET(counter, value) do { \
  pthread_mutex_lock(&lock); \
  counter = value; \
  pthread_mutex_unlock(&lock); \
} while (0)
#define KEEP(value) do { \
  pthread_mutex_lock(&lock); \
  sum += (value); \
  pthread_mutex_unlock(&lock); \
} while (0)
#define FIELD(f) do { pthread_mutex_lock(&lock); stats.f++; pthread_mutex_unlock(&lock); } while (0)
#define TEXT(n) do { pthread_mutex_lock(&lock); text = #n; pthread_mutex_unlock(&lock); } while (0)
#define NAME(x) ((x) ? #x : "")
#define NAMED(v) do { pthread_mutex_lock(&lock); sum += (v); text = NAME((v)); pthread_mutex_unlock(&lock); } while (0)
#define LINE do { pthread_mutex_lock(&lock); line = __LINE__; pthread_mutex_unlock(&lock); } while (0)
#define ASSERTED(v) do { pthread_mutex_lock(&lock); assert((v) > 0); sum += (v); pthread_mutex_unlock(&lock); } while (0)
#define STEPPED do { pthread_mutex_lock(&lock); sum += STEP; pthread_mutex_unlock(&lock); } while (0)
#define STEP 5
#define LATE do { pthread_mutex_lock(&lock); sum += late; pthread_mutex_unlock(&lock); } while (0)
static int late = 3;
#define BARE(n) do { pthread_mutex_lock(&lock); sum += 2 * n; pthread_mutex_unlock(&lock); } while (0)
#define EITHER(value) do { pthread_mutex_lock(&locks[line && (value)]); sum += (value); pthread_mutex_unlock(&locks[line && (value)]); } while (0)
#define COPY(n) do { pthread_mutex_lock(&lock); __auto_type copy = (n); sum += copy; pthread_mutex_unlock(&lock); } while (0)
#define CHECKED do { \
  pthread_mutex_lock(&lock); \
  if (sum > 1000) { \
    pthread_mutex_unlock(&lock); \
    return; \
  } \
  sum++; \
  pthread_mutex_unlock(&lock); \
} while (0)

static void uses(long n) {
  SET(sum, 1);
  SET(wide, n);
  KEEP(sum * 2);
  FIELD(hits);
  TEXT(some text);
  NAMED(7);
  LINE;
  ASSERTED(3);
  STEPPED;
  LATE;
  BARE(1 + 2);
  EITHER(sum + 1);
  COPY(1);
  CHECKED;
}

int main(void) {
  uses(2);
  COPY(2L);
  printf("%d %d %d %s\n", sum, stats.hits, line > 0, text);
  return 0;
}
