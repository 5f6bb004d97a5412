// SPDX-License-Identifier: MIT
// A readers-writer lock or spinlock in a union is told apart by its name, as everywhere, unless
// another member of the union may be such a lock, too.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG: delegate straight read_log
// CHECK-DAG: hold straight read_either
// CHECK-DAG: takes 'pthread_spinlock_t', whose holder may wait here for other threads [lock-order]
// CHECK-DAG: delegate straight read_named
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
                       c = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t log_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t slots;
static int level, total;

// A file has a mutex, a folder a readers-writer lock.
struct handle {
  union {
    pthread_mutex_t of_file;
    pthread_rwlock_t of_folder;
    char padding[64];
  };
  int entries;
};
static struct handle folder = {.of_folder = PTHREAD_RWLOCK_INITIALIZER};

union twice {
  struct {
    pthread_spinlock_t either;
  } one;
  struct {
    int kind;
    pthread_spinlock_t locks[1];
  } two;
};
static union twice twice;

// In a struct without a name.
struct named {
  struct {
    pthread_rwlock_t inner;
  };
  int count;
};
static struct named named = {{PTHREAD_RWLOCK_INITIALIZER}, 0};

static void read_log(void) {
  pthread_mutex_lock(&a);
  pthread_rwlock_rdlock(&log_lock);
  total += level;
  pthread_rwlock_unlock(&log_lock);
  pthread_mutex_unlock(&a);
}

static void read_either(void) {
  pthread_mutex_lock(&b);
  pthread_spin_lock(&twice.one.either);
  total += level;
  pthread_spin_unlock(&twice.one.either);
  pthread_mutex_unlock(&b);
}

static void read_named(void) {
  pthread_mutex_lock(&c);
  pthread_rwlock_rdlock(&named.inner);
  named.count += level;
  pthread_rwlock_unlock(&named.inner);
  pthread_mutex_unlock(&c);
}

// Their holders wait for other threads.
static void wait_in_folder(struct handle *handle) {
  pthread_rwlock_wrlock(&handle->of_folder);
  sem_wait(&slots);
  handle->entries++;
  pthread_rwlock_unlock(&handle->of_folder);
}

static void wait_in_the_other(union twice *t, int i) {
  pthread_spin_lock(&t->two.locks[i]);
  sem_wait(&slots);
  t->two.kind++;
  pthread_spin_unlock(&t->two.locks[i]);
}

int main(void) {
  sem_init(&slots, 0, 1);
  pthread_spin_init(&twice.one.either, PTHREAD_PROCESS_PRIVATE);
  level = 1;
  wait_in_folder(&folder);
  if (folder.entries == 2)
    wait_in_the_other(&twice, 0);
  read_log();
  read_either();
  read_named();
  printf("%d %d %d\n", total, named.count, folder.entries);
  return 0;
}
