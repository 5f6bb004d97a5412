// SPDX-License-Identifier: MIT
// Text that is only for Clang may have blocks, where gcc has nested functions: a variable that runs one
// at the end of its scope runs what the block calls. A section that makes one holds.
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold {{.*}} under_a_guard
// CHECK:      delegate straight calls_quick
// CHECK-NEXT: hold straight calls_slow
// CHECK-NEXT: 'slow' calls 'drop_slow' calls 'usleep', which may block [may-block]
// CHECK-NEXT: hold straight makes_one
// TEXT:       static int calls_quick_section(void *context) {
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __BLOCKS__
#error "only where a program asks for blocks"
#endif
#if defined(__clang__)
typedef void (^cleanup_block_t)(void);
static inline void run_block(cleanup_block_t *b) { (*b)(); }
#define WITH(type, name, value, drop) \
  __block type name = value; \
  cleanup_block_t cleanup_of_##name __attribute__((cleanup(run_block), unused)) = ^{ {(void)drop(name);} };
#else
#define WITH(type, name, value, drop) \
  auto void drop_of_##name(type *v); \
  void drop_of_##name(type *v) { drop(*v); } \
  type name __attribute__((cleanup(drop_of_##name))) = (value)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static int count, total;

static int *take(void) {
  count++;
  return &count;
}
static void drop(int *n) {
  --*n;
}
static void drop_slow(int *n) {
  --*n;
  usleep(1);
}
static int quick(void) {
  WITH(int *, n, take(), drop);
  return *n;
}
static int slow(void) {
  WITH(int *, n, take(), drop_slow);
  return *n;
}
int calls_quick(void) {
  pthread_mutex_lock(&mutex);
  total += quick();
  pthread_mutex_unlock(&mutex);
  return total;
}
int calls_slow(void) {
  pthread_mutex_lock(&mutex);
  total += slow();
  pthread_mutex_unlock(&mutex);
  return total;
}
int makes_one(void) {
  pthread_mutex_lock(&mutex);
  WITH(int *, n, take(), drop);
  total += *n;
  pthread_mutex_unlock(&mutex);
  return total;
}
int under_a_guard(void) {
  WITH(pthread_mutex_t *, held, (pthread_mutex_lock(&guard), &guard), pthread_mutex_unlock);
  count++;
  return count;
}
int main(void) {
  printf("%d %d", calls_quick(), calls_slow());
  printf(" %d %d\n", makes_one(), under_a_guard());
  return 0;
}
