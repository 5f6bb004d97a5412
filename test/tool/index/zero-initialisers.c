// SPDX-License-Identifier: MIT
// An initialiser of zeros, and none at all, name the class of their mutex afterwards; other values
// than POSIX's keep it. What nothing can name is said.
// RUN: %check_rewrite %s --algorithms=ccsynch --flags='-Wno-missing-braces -Wno-missing-field-initializers' | FileCheck %s
// RUN: %check_rewrite %s --flags='-Wno-missing-braces -Wno-missing-field-initializers' --lock recursive=mcs --refused | FileCheck %s --check-prefix=KEPT
// CHECK-DAG: +static relock_mutex_t zero = RELOCK_MUTEX_INITIALIZER(zero), other __attribute__((aligned(64))) = RELOCK_MUTEX_INITIALIZER(other);
// CHECK-DAG: +relock_mutex_t everywhere = RELOCK_MUTEX_INITIALIZER(everywhere);
// CHECK-DAG: +static relock_mutex_t called;
// CHECK-DAG: +static relock_mutex_t plain = RELOCK_MUTEX_INITIALIZER(plain);
// CHECK-DAG: +static relock_mutex_t nested = RELOCK_MUTEX_INITIALIZER(nested);
// CHECK-DAG: +static relock_mutex_t project = RELOCK_MUTEX_INITIALIZER(project);
// CHECK-DAG: +static struct conn first = {1, RELOCK_MUTEX_INITIALIZER(conn_lock), 2}, second = {.after = 3, .lock = RELOCK_MUTEX_INITIALIZER(conn_lock)};
// CHECK-DAG: +static struct table tables[4] = {[0 ... 3].lock = RELOCK_MUTEX_INITIALIZER(table_lock)};
// CHECK-DAG: +  static relock_mutex_t local = RELOCK_MUTEX_INITIALIZER(add_local);
// CHECK-DAG: no mutex of 'named.lock' is initialised otherwise than by zeros; {{.*}} [default-class]
// CHECK-DAG: relock: 2 lock classes kept;
// CHECK-NOT: not-rewritten
// KEPT: 'recursive' cannot be converted: it has an initialiser that is not one of POSIX's [initialiser]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#define OS_LOCK_INIT {0}
static pthread_mutex_t zero, other __attribute__((aligned(64)));
pthread_mutex_t everywhere;
static pthread_mutex_t called;
static pthread_mutex_t plain = {0};
static pthread_mutex_t nested = {{0, 0, 0, 0, 0, 0, 0, {0, 0}}};
static pthread_mutex_t project = OS_LOCK_INIT;
static pthread_mutex_t recursive = {{0, 0, 0, 0, PTHREAD_MUTEX_RECURSIVE_NP, 0, 0, {0, 0}}};
static pthread_cond_t ready = {{{0}}};
struct conn {
  int before;
  pthread_mutex_t lock;
  int after;
};
static struct conn first = {1, {{0, 0, 0}}, 2}, second = {.after = 3};
struct table {
  pthread_mutex_t lock;
  int n;
};
static struct table tables[4];
struct elided {
  pthread_mutex_t lock;
  int n;
};
static struct elided e = {0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
static struct named {
  pthread_mutex_t lock;
  int n;
} whole = {0};
static int total;

static void add(pthread_mutex_t *lock) {
  static pthread_mutex_t local;
  pthread_mutex_lock(&local);
  total++;
  pthread_mutex_unlock(&local);
  (void)lock;
}

#define WITH(L)                                                                                    \
  do {                                                                                             \
    pthread_mutex_lock(&(L));                                                                      \
    total++;                                                                                       \
    pthread_mutex_unlock(&(L));                                                                    \
  } while (0)

int main(void) {
  pthread_mutex_init(&called, NULL);
  add(NULL);
  pthread_mutex_lock(&zero);
  total++;
  pthread_mutex_unlock(&zero);
  pthread_mutex_lock(&other);
  total++;
  pthread_mutex_unlock(&other);
  pthread_mutex_lock(&everywhere);
  total++;
  pthread_mutex_unlock(&everywhere);
  pthread_mutex_lock(&called);
  total++;
  pthread_mutex_unlock(&called);
  pthread_mutex_lock(&plain);
  total++;
  pthread_mutex_unlock(&plain);
  pthread_mutex_lock(&nested);
  total++;
  pthread_cond_signal(&ready);
  pthread_mutex_unlock(&nested);
  pthread_mutex_lock(&project);
  total++;
  pthread_mutex_unlock(&project);
  pthread_mutex_lock(&recursive);
  pthread_mutex_lock(&recursive);
  total++;
  pthread_mutex_unlock(&recursive);
  pthread_mutex_unlock(&recursive);
  pthread_mutex_lock(&first.lock);
  total += first.after;
  pthread_mutex_unlock(&first.lock);
  pthread_mutex_lock(&second.lock);
  total += second.after;
  pthread_mutex_unlock(&second.lock);
  pthread_mutex_lock(&tables[1].lock);
  total += tables[1].n;
  pthread_mutex_unlock(&tables[1].lock);
  pthread_mutex_lock(&e.lock);
  total += e.n;
  pthread_mutex_unlock(&e.lock);
  pthread_mutex_lock(&whole.lock);
  total += whole.n;
  pthread_mutex_unlock(&whole.lock);
  printf("%d\n", total);
  return 0;
}
