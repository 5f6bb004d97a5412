// SPDX-License-Identifier: MIT
// The lock of a section in the body of a macro may be taken through a wrapper, whose argument the
// body spells; an array of the macro's block travels by address, with its size.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICTS
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct say_section {
// CHECK-NEXT:   char (*copy)[SIZE];
// CHECK-NEXT:   struct peer *who_value;
// CHECK-NEXT: };
// CHECK:        snprintf(*section->copy, sizeof(*section->copy), "%s", section->who_value->name);
// CHECK:      #define SAY(who, text) \
// CHECK:          relock_execute{{[a-z_]*}}(&(who)->box.lock, say_section, &say); \
// CHECK:      #define COUNT(b) \
// CHECK-NEXT:   do { \
// CHECK-NEXT:     relock_execute{{[a-z_]*}}(&(b)->lock, count_section, b); \
// VERDICTS: delegate straight {{ *}}main
// VERDICTS: 5 lock sites: 4 delegate, 1 hold, 0 keep, 0 uncovered, 1 in lock wrappers
// STATS: stats: box.lock {{.*}}executed=6
#include <pthread.h>
#include <stdio.h>

#define SIZE 16

struct box {
  pthread_mutex_t lock;
  int count;
};

struct peer {
  struct box box;
  const char *name;
};

static void lock(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void unlock(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static void box_lock(struct box *box) { pthread_mutex_lock(&box->lock); }
static void box_unlock(struct box *box) { pthread_mutex_unlock(&box->lock); }

#define SAY(who, text) \
  do { \
    char copy[SIZE]; \
    lock(&(who)->box.lock); \
    snprintf(copy, sizeof(copy), "%s", who->name); \
    unlock(&(who)->box.lock); \
    printf("%s: %s\n", copy, text); \
  } while (0)

#define COUNT(b) \
  do { \
    box_lock(b); \
    (b)->count++; \
    box_unlock(b); \
  } while (0)

int main(void) {
  struct peer first = {{PTHREAD_MUTEX_INITIALIZER, 0}, "first"};
  struct peer second = {{PTHREAD_MUTEX_INITIALIZER, 0}, "second"}, *both[] = {&first, &second};
  struct peer *one = &first;
  struct box *box = &second.box;
  SAY(one, "begins");
  for (int i = 0; i < 2; i++)
    SAY(both[i], "is here");
  COUNT(box);
  for (int i = 0; i < 2; i++)
    COUNT(box);
  printf("%d %d\n", first.box.count, second.box.count);
  return 0;
}
