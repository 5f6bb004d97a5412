// SPDX-License-Identifier: MIT
// A zero-filled mutex in a struct or an array gets the name of its class by designators, with bounds
// as written; a list that leaves it out is completed. Where C has no range designators, a message
// says on which class the locks run.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags=-Wno-missing-field-initializers | FileCheck %s
// CHECK-NOT: default-class
// CHECK-DAG: +static relock_mutex_t stripes[STRIPES * 2] = {[0 ... (STRIPES * 2) - 1] = RELOCK_MUTEX_INITIALIZER(stripes)};
// CHECK-DAG: +static relock_mutex_t one[1] = {[0] = RELOCK_MUTEX_INITIALIZER(one)};
// CHECK-DAG: static locks_t typed = {[0 ... 1] = RELOCK_MUTEX_INITIALIZER(typed)};
// CHECK-DAG: +struct pool pool = {.inner.rows[0 ... ROWS - 1][0 ... 2].lock = RELOCK_MUTEX_INITIALIZER(cell_lock)};
// CHECK-DAG: +static struct hidden hidden __attribute__((aligned(64))) = {.lock = RELOCK_MUTEX_INITIALIZER(hidden_lock)}, *pointer = &hidden;
// CHECK-DAG: +    {.name = "a", .lock = RELOCK_MUTEX_INITIALIZER(entry_lock)},
// CHECK-DAG: +    {NAME("b"), .lock = RELOCK_MUTEX_INITIALIZER(entry_lock)},
// CHECK-DAG: +  static struct hidden local = {.lock = RELOCK_MUTEX_INITIALIZER(hidden_lock)};
//
// RUN: %check_rewrite %s --algorithms=ccsynch --flags='-pedantic -Wno-missing-field-initializers' | FileCheck %s --check-prefix=PEDANTIC
// PEDANTIC-DAG: no mutex of 'stripes' is initialised otherwise than by zeros; {{.*}} [default-class]
// PEDANTIC-DAG: no mutex of 'cell.lock' is initialised otherwise than by zeros; {{.*}} [default-class]
// PEDANTIC-DAG: {.lock = RELOCK_MUTEX_INITIALIZER(hidden_lock)}, *pointer = &hidden;
#include <pthread.h>
#include <stdio.h>

#define STRIPES 4
#define NAME(n) n
enum { ROWS = 2 };
static pthread_mutex_t stripes[STRIPES * 2];
static pthread_mutex_t one[1];
struct cell {
  int n;
  pthread_mutex_t lock;
};
typedef struct {
  int n;
} rows_t[2];
typedef pthread_mutex_t locks_t[2];
struct pool {
  rows_t others;
  struct {
    struct cell rows[ROWS][3];
  } inner;
};
struct pool pool;
struct hidden {
  int n;
  struct {
    int m;
    pthread_mutex_t lock;
  };
};
static struct hidden hidden __attribute__((aligned(64))), *pointer = &hidden;
struct entry {
  const char *name;
  pthread_mutex_t lock;
};
static struct entry entries[] = {
    {.name = "a"},
    {NAME("b")},
};
static locks_t typed;
static rows_t none;
static int total;

static void add(int i) {
  static struct hidden local;
  pthread_mutex_lock(&stripes[i]);
  total++;
  pthread_mutex_unlock(&stripes[i]);
  pthread_mutex_lock(&typed[i]);
  total += none[i].n + pool.others[i].n;
  pthread_mutex_unlock(&typed[i]);
  pthread_mutex_lock(&one[0]);
  total++;
  pthread_mutex_unlock(&one[0]);
  pthread_mutex_lock(&pool.inner.rows[1][i].lock);
  total += ++pool.inner.rows[1][i].n;
  pthread_mutex_unlock(&pool.inner.rows[1][i].lock);
  pthread_mutex_lock(&pointer->lock);
  total += ++pointer->m;
  pthread_mutex_unlock(&pointer->lock);
  pthread_mutex_lock(&local.lock);
  total += ++local.m;
  pthread_mutex_unlock(&local.lock);
  pthread_mutex_lock(&entries[i].lock);
  total += entries[i].name[0];
  pthread_mutex_unlock(&entries[i].lock);
}

int main(void) {
  add(0);
  add(1);
  printf("%d\n", total);
  return 0;
}
