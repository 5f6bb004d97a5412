// SPDX-License-Identifier: MIT
// Mutexes with attributes that the runtime does not offer, and those that reach code that is not
// in the program, stay pthread mutexes, with the place that decides it.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --no-run --lock plain=mcs
// CHECK:      counted ({{.*}}): keep
// CHECK-NEXT:   kept-classes.c:[[#]]: is used in a way that is not followed [unknown-use]
// CHECK:      defined_elsewhere ({{.*}}): keep
// CHECK-NEXT:   is defined outside the program [outside]
// CHECK:      inherits ({{.*}}): keep
// CHECK-NEXT:   has a priority protocol [priority]
// CHECK:      plain ({{.*}}): convert
// CHECK:      robust ({{.*}}): keep
// CHECK-NEXT:   is robust [robust]
// CHECK:      shared ({{.*}}): keep
// CHECK-NEXT:   is shared between processes [process-shared]
// CHECK:      to_library ({{.*}}): keep
// CHECK-NEXT:   {{.*}}not in the program [outside]
// CHECK:      to_pointer ({{.*}}): keep
// CHECK-NEXT:   is passed through a function pointer [indirect-call]
// CHECK:      8 lock sites: 1 delegate, 0 hold, 7 keep, 0 uncovered
#include <pthread.h>

int register_lock(pthread_mutex_t *mutex);
extern pthread_mutex_t defined_elsewhere;
static pthread_mutex_t shared;
static pthread_mutex_t robust;
static pthread_mutex_t inherits;
static pthread_mutex_t to_library;
static pthread_mutex_t to_pointer;
static pthread_mutex_t counted;
static pthread_mutex_t plain;
static void *owner;
int total;

void set_up(int (*use)(pthread_mutex_t *)) {
  pthread_mutexattr_t across, strong, inheriting;
  pthread_mutexattr_init(&across);
  pthread_mutexattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared, &across);
  pthread_mutexattr_init(&strong);
  pthread_mutexattr_setrobust(&strong, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &strong);
  pthread_mutexattr_init(&inheriting);
  pthread_mutexattr_setprotocol(&inheriting, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&inherits, &inheriting);
  register_lock(&to_library);
  use(&to_pointer);
  owner = &counted;
  pthread_mutex_init(&plain, NULL);
}

void work(int which) {
  switch (which) {
  case 0: {
    pthread_mutex_lock(&shared);
    total++;
    pthread_mutex_unlock(&shared);
    pthread_mutex_lock(&robust);
    total++;
    pthread_mutex_unlock(&robust);
    pthread_mutex_lock(&inherits);
    total++;
    pthread_mutex_unlock(&inherits);
    pthread_mutex_lock(&to_library);
    total++;
    pthread_mutex_unlock(&to_library);
    pthread_mutex_lock(&to_pointer);
    total++;
    pthread_mutex_unlock(&to_pointer);
    pthread_mutex_lock(&counted);
    total++;
    pthread_mutex_unlock(&counted);
    pthread_mutex_lock(&defined_elsewhere);
    total++;
    pthread_mutex_unlock(&defined_elsewhere);
    pthread_mutex_lock(&plain);
    total++;
    pthread_mutex_unlock(&plain);
  }
  }
}
