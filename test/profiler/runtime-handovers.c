// SPDX-License-Identifier: MIT
// Hand-overs of librelock's locks are counted by distance as those of pthread locks are: from the
// thread that had the lock last to the one that runs the section, which need not be its client.
// REQUIRES: plain, two-processors
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: rm -rf %t.sys; mkdir %t.sys
// RUN: for shared in core cache nothing; do \
// RUN:   %python %S/Inputs/system-files.py %t.sys/$shared $shared && \
// RUN:   %relock profile --system-files=%t.sys/$shared -o %t.$shared -- %t || exit 1; done
// RUN: %python %S/Inputs/expect.py %t.core 'lock("apart")["came_from"]["same_core"] == 101'
// RUN: %python %S/Inputs/expect.py %t.nothing 'lock("apart")["came_from"]["other_node"] == 101'
// RUN: %python %S/Inputs/expect.py %t.cache \
// RUN:   'lock("apart")["came_from"]["same_cache"] == 101 == lock("apart")["handovers"]' \
// RUN:   'sum(lock("apart")["came_from"].values()) == lock("apart")["acquisitions"] == 102' \
// RUN:   'lock("near")["came_from"]["same_core"] == 97 == lock("near")["handovers"]' \
// RUN:   'lock("near")["came_from"]["same_thread"] == 1' \
// RUN:   'lock("executed")["came_from"]["same_cache"] == 89 == lock("executed")["handovers"]' \
// RUN:   'lock("recursive")["came_from"]["same_cache"] == 83 == lock("recursive")["handovers"]' \
// RUN:   'lock("typed")["came_from"]["same_cache"] == 79 == lock("typed")["handovers"]' \
// RUN:   'lock("own")["came_from"]["same_thread"] == 103 and lock("own")["handovers"] == 0' \
// RUN:   'sum(lock("served")["came_from"].values()) == lock("served")["hold"]["count"] == 74'
// RUN: %relock report %t.cache > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK-DAG: from another thread 99.0%: 101 below the same cache
// CHECK-DAG: from another thread 99.0%: 97 on the same core
//
// What one thread runs for others comes from nowhere else: of three sections behind a holder one,
// if one thread runs all with their identities; and then two holders, and the first thread again.
// RUN: env RELOCK_STATS=%t.own.profile %t queue
// RUN: %python %S/Inputs/expect.py %t.own.profile \
// RUN:   'lock("busy")["came_from"]["same_thread"] == 1 + lock("busy")["librelock"]["delegated"]' \
// RUN:   'lock("busy")["came_from"]["unknown"] == 6 - lock("busy")["librelock"]["delegated"]' \
// RUN:   'sum(lock("busy")["came_from"].values()) == 7'
#include "Inputs/take-turns.h"

#include <relock/relock.h>
#include <unistd.h>

#define CLASS(name, algorithm)                                                                     \
  RELOCK_LOCK_CLASS(name##_class, #name, algorithm);                                               \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
CLASS(near, "adaptive");
CLASS(apart, "posix");
CLASS(own, "adaptive");
CLASS(executed, "ccsynch");
CLASS(recursive, "adaptive");
CLASS(typed, "adaptive");
CLASS(served, "rcl");
CLASS(busy, "ccsynch");

static int nothing(void *context) { return context != NULL; }

static void hold(void *mutex) {
  relock_mutex_lock(mutex);
  relock_mutex_unlock(mutex);
}
static void execute(void *mutex) { relock_execute(mutex, nothing, NULL); }

static int started;

static void *visit_busy(void *visit) {
  hold(&own); /* known to the library by now: none is taken for one that has ended */
  __atomic_fetch_add(&started, 1, __ATOMIC_RELEASE);
  ((void (*)(void *))visit)(&busy);
  return NULL;
}

/* Three sections and two holders behind a holder. A section that comes late is not delegated. */
static void queue_up(void) {
  pthread_t threads[5];
  relock_mutex_lock(&busy);
  for (int i = 0; i < 5; i++) {
    pthread_create(&threads[i], NULL, visit_busy, (void *)(i < 3 ? execute : hold));
    while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) <= i)
      usleep(1000);
    usleep(100000);
  }
  relock_mutex_unlock(&busy);
  for (int i = 0; i < 5; i++)
    pthread_join(threads[i], NULL);
  hold(&busy);
}

static void init_recursive(relock_mutex_t *mutex, relock_class_t *lock_class) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(mutex, &attributes, lock_class);
}

int main(int count, char **words) {
  if (count > 1 && *words[1] == 'q') {
    queue_up();
    return 0;
  }
  if (!find_processors())
    return 1;
  init_recursive(&recursive, RELOCK_CLASS(recursive_class));
  init_recursive(&typed, RELOCK_CLASS(typed_class));
  pass_on(hold, &near, 97, 0);
  pass_on(hold, &apart, 101, 1);
  pass_on(execute, &executed, 89, 1);
  pass_on(hold, &recursive, 83, 1);
  pass_on(execute, &typed, 79, 1);
  pass_on(execute, &served, 73, 1);
  for (int i = 0; i < 103; i++)
    hold(&own);
  return 0;
}
