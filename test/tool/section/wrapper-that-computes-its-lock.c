// SPDX-License-Identifier: MIT
// A lock wrapper may find its lock in a way that its callers cannot repeat, by a variable that it assigns
// to once, and hand it to another wrapper; among calls that operate other locks. The sections between
// such wrappers are listed, and hold. One that finds it by a variable of several values is none.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold {{ *}}cross-function either_lock
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK:      hold {{ *}}cross-function object_lock
// CHECK-NEXT: is not unlocked in this function; its callers hold the lock [cross-function]
// CHECK:      hold {{ *}}straight count_up
// CHECK-NEXT: cannot be named in this file [lock-not-visible]
// CHECK-NEXT: the lock wrapper does more than to lock, or its lock cannot be named here [wrapper-effects]
// CHECK-NEXT: the unlock wrapper does more than to unlock [wrapper-effects]
// CHECK:      0 delegate
// CHECK:      functions that return with a lock
// CHECK-NEXT:   either_lock
// CHECK-NOT:    object_lock
#include <pthread.h>
#include <stddef.h>

typedef struct {
  pthread_mutex_t mutex;
  int line;
} sys_mutex;
typedef struct {
  pthread_rwlock_t lock;
} sys_rwlock;
struct object {
  int kind;
  void *user[0];
};
struct of_mutex {
  sys_mutex lock;
  struct object object;
};
struct of_rwlock {
  sys_rwlock lock;
  struct object object;
};
#define MUTEX(user) ((struct of_mutex *)((char *)(user) - sizeof(struct of_mutex)))
#define RWLOCK(user) ((struct of_rwlock *)((char *)(user) - sizeof(struct of_rwlock)))

static int sys_mutex_lock(sys_mutex *m, int line) {
  int result;
  result = pthread_mutex_lock(&m->mutex);
  if (result == 0)
    m->line = line;
  return result;
}
static int sys_mutex_unlock(sys_mutex *m) {
  int result;
  m->line = 0;
  result = pthread_mutex_unlock(&m->mutex);
  return result;
}
static int sys_rwlock_wrlock(sys_rwlock *l) {
  return pthread_rwlock_wrlock(&l->lock);
}
static int sys_rwlock_unlock(sys_rwlock *l) {
  return pthread_rwlock_unlock(&l->lock);
}
int object_lock(void *user, int line);
int object_unlock(void *user);
int object_lock(void *user, int line) {
  struct object *o = (struct object *)((char *)user - sizeof *o);
  struct of_mutex *m;
  struct of_rwlock *rw;
  int result = 0;
  switch (o->kind) {
  case 1:
    m = MUTEX(user);
    result = sys_mutex_lock(&m->lock, line);
    break;
  case 2:
    rw = RWLOCK(user);
    result = sys_rwlock_wrlock(&rw->lock);
    break;
  case 3:
    result = object_lock(o->user[0], line);
    break;
  default:
    return -1;
  }
  return result;
}
int object_unlock(void *user) {
  struct object *o = (struct object *)((char *)user - sizeof *o);
  struct of_mutex *m;
  struct of_rwlock *rw;
  int result = 0;
  switch (o->kind) {
  case 1:
    m = MUTEX(user);
    result = sys_mutex_unlock(&m->lock);
    break;
  case 2:
    rw = RWLOCK(user);
    result = sys_rwlock_unlock(&rw->lock);
    break;
  case 3:
    result = object_unlock(o->user[0]);
    break;
  default:
    return -1;
  }
  return result;
}
struct counter {
  int n;
};
void count_up(struct counter *c) {
  object_lock(c, __LINE__);
  c->n++;
  object_unlock(c);
}

static pthread_mutex_t first, second;
static int sum;
void either_lock(int which) {
  pthread_mutex_t *m;
  if (which)
    m = &first;
  else
    m = &second;
  pthread_mutex_lock(m);
}
void either_unlock(int which) {
  pthread_mutex_unlock(which ? &first : &second);
}
void add(void) {
  either_lock(1);
  sum++;
  either_unlock(1);
}
