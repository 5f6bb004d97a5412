// SPDX-License-Identifier: MIT
// Lock wrappers that do more than to lock and unlock: a companion does all that around the section.
// What they do between the two operations is done under the lock, with the section; what they do
// outside of them its caller does.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICTS
// CHECK:      struct enter_execute_call {
// CHECK-NEXT:   relock_section_t section;
// CHECK-NEXT:   void *context;
// CHECK-NEXT: };
// CHECK:      static int enter_execute_section(void *context) {
// CHECK-NEXT:   struct enter_execute_call *call = context;
// CHECK-NEXT:   int result;
// CHECK-EMPTY:
// CHECK-NEXT:   depth++;
// CHECK-NEXT:   result = call->section(call->context);
// CHECK-NEXT:   depth--;
// CHECK-NEXT:   return result;
// CHECK-NEXT: }
// CHECK:      static int enter_execute(relock_section_t section, void *context) {
// CHECK-NEXT:   struct enter_execute_call call = {section, context};
// CHECK-EMPTY:
// CHECK-NEXT:   return relock_execute_any_thread(&lock, enter_execute_section, &call);
// CHECK-NEXT: }
// CHECK:      struct owned_execute_call {
// CHECK-NEXT:   const struct owned *o_;
// CHECK-NEXT:   const char *where;
// CHECK-NEXT:   relock_section_t section;
// CHECK-NEXT:   void *context;
// CHECK-NEXT: };
// CHECK:      static int owned_execute_section(void *context) {
// CHECK-NEXT:   struct owned_execute_call *call = context;
// CHECK-NEXT:   const struct owned *o_ = call->o_;
// CHECK-NEXT:   const char *where = call->where;
// CHECK-NEXT:   struct owned *o = (struct owned *)o_;
// CHECK-NEXT:   int result;
// CHECK-EMPTY:
// CHECK-NEXT:   o->where = where;
// CHECK-NEXT:   result = call->section(call->context);
// CHECK-NEXT:   assert(o->where);
// CHECK-NEXT:   o->where = NULL;
// CHECK-NEXT:   return result;
// CHECK-NEXT: }
// CHECK:      static int owned_execute(const struct owned *o_, const char *where, relock_section_t section, void *context) {
// CHECK-NEXT:   struct owned *o = (struct owned *)o_;
// CHECK-NEXT:   struct owned_execute_call call = {o_, where, section, context};
// CHECK-NEXT:   int result;
// CHECK-EMPTY:
// CHECK-NEXT:   /* It may not have been made. */
// CHECK-NEXT:   if (!o->ready) {
// CHECK-NEXT:     printf("not ready\n");
// CHECK-NEXT:   }
// CHECK-NEXT:   result = relock_execute{{(_any_thread)?}}(&o->lock, owned_execute_section, &call);
// CHECK-NEXT:   unlocks++;
// CHECK-NEXT:   return result;
// CHECK-NEXT: }
// CHECK-NOT:  void owned_lock
// CHECK:        owned_execute(o, HERE, add_section, &section);
// CHECK:        if (owned_execute(o, "take", take_section, &section))
// VERDICTS:   5 lock sites: 3 delegate, 2 hold, 0 keep
// STATS:      stats: lock held=0 executed=2
// STATS:      stats: owned.lock held=0 executed=3
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth, deepest, unlocks;

static void enter(void) {
  pthread_mutex_lock(&lock);
  depth++;
}

static void leave(void) {
  depth--;
  pthread_mutex_unlock(&lock);
}

struct owned {
  pthread_mutex_t lock;
  const char *where;
  int ready, sum;
};

static void owned_lock(const struct owned *o_, const char *where) {
  struct owned *o = (struct owned *)o_;
  int error;

  /* It may not have been made. */
  if (!o->ready) {
    printf("not ready\n");
  }
  error = pthread_mutex_lock(&o->lock);
  if (error)
    abort();
  o->where = where;
}

static void owned_unlock(const struct owned *o_) {
  struct owned *o = (struct owned *)o_;

  assert(o->where);
  o->where = NULL;
  if (pthread_mutex_unlock(&o->lock) != 0)
    abort();
  unlocks++;
}

#define TEXT(x) #x
#define AT(line) "line " TEXT(line)
#define HERE AT(10)

static void work(void) {
  enter();
  if (depth > deepest)
    deepest = depth;
  leave();
}

static void add(struct owned *o, int n) {
  owned_lock(o, HERE);
  o->sum += n;
  printf("%s: %d\n", o->where, o->sum);
  owned_unlock(o);
}

static int take(struct owned *o, int n) {
  owned_lock(o, "take");
  if (o->sum < n) {
    owned_unlock(o);
    return -1;
  }
  o->sum -= n;
  owned_unlock(o);
  return 0;
}

int main(void) {
  struct owned o = {PTHREAD_MUTEX_INITIALIZER, NULL, 1, 0};
  work();
  work();
  add(&o, 5);
  printf("%d ", take(&o, 7));
  printf("%d ", take(&o, 3));
  printf("%d\n", o.sum);
  printf("%d %d %d %d\n", depth, deepest, unlocks, o.where == NULL);
  return 0;
}
