// SPDX-License-Identifier: MIT
// Lock wrappers that leave their operation out under a condition, where a companion that asks once
// would do something else: their sections hold.
// RUN: %verdicts %s | FileCheck %s
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static int threaded = 1, noted;
extern int ask(void);

// The condition calls a function, and nothing unlocks: nobody knows when it locks.
// CHECK: hold {{ *}}cross-function asking_lock
// CHECK-NEXT: the lock is not a statement of a block [conditional]
struct asking {
  pthread_mutex_t mutex;
};
int asking_lock(struct asking *a) {
  if (ask())
    return pthread_mutex_lock(&a->mutex);
  return 0;
}

// What it does before the condition of its unlock is done under the lock, or not.
// CHECK: hold {{ *}}straight in_before
// CHECK-NEXT: the lock wrapper does more than to lock
struct before {
  pthread_mutex_t mutex;
};
static void before_lock(struct before *b) {
  if (!b)
    return;
  pthread_mutex_lock(&b->mutex);
}
static void before_unlock(struct before *b) {
  noted--;
  if (!b)
    return;
  pthread_mutex_unlock(&b->mutex);
}
int in_before(struct before *b, int *sum) {
  before_lock(b);
  *sum += 9;
  before_unlock(b);
  return *sum;
}

// The section changes what the condition reads, itself or by a function.
// CHECK: hold {{ *}}straight in_changed
// CHECK-NEXT: 'threaded' in the lock operand changes in the section
// CHECK: hold {{ *}}straight in_changed_by
// CHECK-NEXT: 'threaded' in the lock operand may change in a callee
struct changed {
  pthread_mutex_t mutex;
};
static void changed_lock(struct changed *c) {
  if (threaded)
    pthread_mutex_lock(&c->mutex);
}
static void changed_unlock(struct changed *c) {
  if (threaded)
    pthread_mutex_unlock(&c->mutex);
}
int in_changed(struct changed *c, int *sum) {
  changed_lock(c);
  *sum += 4;
  threaded = 0;
  changed_unlock(c);
  return *sum;
}
static void stop(int *sum) {
  *sum += 5;
  threaded = 0;
}
int in_changed_by(struct changed *c, int *sum) {
  changed_lock(c);
  stop(sum);
  changed_unlock(c);
  return *sum;
}

// One asks for the contrary.
// CHECK: hold {{ *}}straight in_contrary
// CHECK-NEXT: the lock wrapper does more than to lock
struct contrary {
  pthread_mutex_t mutex;
};
static void contrary_lock(struct contrary *c) {
  if (!threaded)
    return;
  pthread_mutex_lock(&c->mutex);
}
static void contrary_unlock(struct contrary *c) {
  if (threaded)
    return;
  pthread_mutex_unlock(&c->mutex);
}
int in_contrary(struct contrary *c, int *sum) {
  contrary_lock(c);
  *sum += 2;
  contrary_unlock(c);
  return *sum;
}

// More is done in both cases.
// CHECK: hold {{ *}}cross-function counting_lock
// CHECK-NEXT: is not unlocked in this function; its callers hold the lock [cross-function]
// CHECK: hold {{ *}}straight in_counting
// CHECK-NEXT: the lock wrapper does more than to lock
struct counting {
  pthread_mutex_t mutex;
};
void counting_lock(struct counting *c) {
  if (c)
    pthread_mutex_lock(&c->mutex);
  noted++;
}
void counting_unlock(struct counting *c) {
  noted--;
  if (c && noted)
    pthread_mutex_unlock(&c->mutex);
}
int in_counting(struct counting *c, int *sum) {
  counting_lock(c);
  *sum += 10;
  counting_unlock(c);
  return *sum;
}

// A parameter of the one has the name of what the other asks for.
// CHECK: hold {{ *}}straight in_hidden
// CHECK-NEXT: the lock wrapper does more than to lock
struct hidden {
  pthread_mutex_t mutex;
};
static void hidden_lock(struct hidden *h, int threaded) {
  if (threaded)
    pthread_mutex_lock(&h->mutex);
}
static void hidden_unlock(struct hidden *h) {
  if (threaded)
    pthread_mutex_unlock(&h->mutex);
}
int in_hidden(struct hidden *h, int *sum, int now) {
  hidden_lock(h, now);
  *sum += 11;
  hidden_unlock(h);
  return *sum;
}

// The wrapper itself changes it behind its lock.
// CHECK: hold {{ *}}straight in_marked
// CHECK-NEXT: the lock wrapper does more than to lock
struct marked {
  pthread_mutex_t mutex;
  int taken;
};
static void marked_lock(struct marked *m) {
  if (m->taken)
    return;
  pthread_mutex_lock(&m->mutex);
  m->taken = 1;
}
static void marked_unlock(struct marked *m) {
  if (m->taken)
    return;
  pthread_mutex_unlock(&m->mutex);
}
int in_marked(struct marked *m, int *sum) {
  marked_lock(m);
  *sum += 6;
  marked_unlock(m);
  return *sum;
}

// The pointer that is asked for is not the lock's.
// CHECK: hold {{ *}}cross-function in_nothing
static pthread_mutex_t nothing = PTHREAD_MUTEX_INITIALIZER;
static void nothing_unlock(const void *unless) {
  if (!unless)
    return;
  pthread_mutex_unlock(&nothing);
}
int in_nothing(int *sum, const void *unless) {
  pthread_mutex_lock(&nothing);
  *sum += 13;
  nothing_unlock(unless);
  return *sum;
}

// Only the lock is under a condition.
// CHECK: hold {{ *}}straight in_only
// CHECK-NEXT: the lock wrapper does more than to lock
// CHECK: hold {{ *}}straight in_only_through
// CHECK-NEXT: the lock wrapper does more than to lock
struct only {
  pthread_mutex_t mutex;
};
static void only_lock(struct only *o) {
  if (threaded)
    pthread_mutex_lock(&o->mutex);
}
static void only_unlock(struct only *o) {
  pthread_mutex_unlock(&o->mutex);
}
int in_only(struct only *o, int *sum) {
  only_lock(o);
  *sum += 3;
  pthread_mutex_unlock(&o->mutex);
  return *sum;
}
int in_only_through(struct only *o, int *sum) {
  only_lock(o);
  *sum += 30;
  only_unlock(o);
  return *sum;
}

// The two ask for something else.
// CHECK: hold {{ *}}cross-function in_other
struct other {
  pthread_mutex_t mutex;
  int used;
};
static void other_lock(struct other *o) {
  if (!o)
    return;
  pthread_mutex_lock(&o->mutex);
}
static void other_unlock(struct other *o) {
  if (!o->used)
    return;
  pthread_mutex_unlock(&o->mutex);
}
int in_other(struct other *o, int *sum) {
  other_lock(o);
  *sum += 1;
  other_unlock(o);
  return *sum;
}

// A condition that is understood stands behind one that is not.
// CHECK: hold {{ *}}straight in_two
// CHECK-NEXT: the lock wrapper does more than to lock
struct twice {
  pthread_mutex_t mutex;
};
static void two_lock(struct twice *t) {
  if (ask())
    return;
  if (!t)
    return;
  pthread_mutex_lock(&t->mutex);
}
static void two_unlock(struct twice *t) {
  if (ask())
    return;
  if (!t)
    return;
  pthread_mutex_unlock(&t->mutex);
}
int in_two(struct twice *t, int *sum) {
  two_lock(t);
  *sum += 12;
  two_unlock(t);
  return *sum;
}

// The result of one is used.
// CHECK: hold {{ *}}straight in_used (
// CHECK-NEXT: the lock wrapper does more than to lock
// CHECK: hold {{ *}}split in_used_at_the_end
// CHECK-NEXT: no unlock follows in the block of the lock
struct used {
  pthread_mutex_t mutex;
};
static int used_lock(struct used *u) {
  if (!u)
    return EINVAL;
  return pthread_mutex_lock(&u->mutex);
}
static int used_unlock(struct used *u) {
  if (!u)
    return EINVAL;
  return pthread_mutex_unlock(&u->mutex);
}
int in_used(struct used *u, int *sum) {
  if (used_lock(u) != 0)
    return -1;
  *sum += 7;
  used_unlock(u);
  return *sum;
}
int in_used_at_the_end(struct used *u, int *sum) {
  int error;
  used_lock(u);
  *sum += 8;
  error = used_unlock(u);
  return error;
}

// CHECK: 0 delegate
