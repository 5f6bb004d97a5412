// SPDX-License-Identifier: MIT
// Where rwlocks and spinlocks are acquired: exact with every acquisition as a sample, and the
// readers of a class apart from its writers, even where both come from one call.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --sample-interval=0 -o %t.all -- %t
// RUN: %python %S/Inputs/expect.py %t.all \
// RUN:   'site("tree", "look", "often", reading=True)["acquisitions"] == 997' \
// RUN:   'site("tree", "look", "seldom", reading=True)["acquisitions"] == 31' \
// RUN:   'site("tree", "look")["acquisitions"] == 0' \
// RUN:   'site("tree", "look_twice", reading=True)["acquisitions"] == 2 * 7' \
// RUN:   'site("tree", "look_twice", reading=True)["hold_ns"] >= 2 * 7 * MS' \
// RUN:   'site("tree", "change")["acquisitions"] == 101' \
// RUN:   'site("tree", "try_to_change")["acquisitions"] == 11' \
// RUN:   'site("tree", "hold_against")["hold_ns"] >= 50 * MS' \
// RUN:   'site("tree", "wait_to_look", reading=True)["contended"] == 1' \
// RUN:   'site("tree", "wait_to_look", reading=True)["wait_ns"] == lock("tree")["readers"]["wait"]["total_ns"] > 0' \
// RUN:   'site("tree", "wait_to_change")["contended"] == 1' \
// RUN:   'site("tree", "wait_to_change")["wait_ns"] == lock("tree")["wait"]["total_ns"] > 0' \
// RUN:   'site("either", "call")["acquisitions"] == 13' \
// RUN:   'site("either", "call", reading=True)["acquisitions"] == 17' \
// RUN:   'site("spun", "spin")["acquisitions"] == 499' \
// RUN:   'site("spun", "try_to_spin")["acquisitions"] == 5' \
// RUN:   'site("spun", "wait_to_spin")["contended"] == 1' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock profile -o %t.some -- %t
// RUN: %python %S/Inputs/expect.py %t.some \
// RUN:   'abs(site("tree", reading=True)["acquisitions"] - lock("tree")["readers"]["acquisitions"]) <= 5' \
// RUN:   'abs(site("tree")["acquisitions"] - lock("tree")["acquisitions"]) <= 5'
// RUN: %relock report --sites=8 %t.all > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: Where they are acquired, estimated from samples:
// CHECK: {{^  wait [0-9.]+ms .*, to (read|write)$}}
// CHECK: {{^    wait_to_}}
// CHECK: {{^  wait 0ns .* acquired 997 .*, to read$}}
// CHECK-NEXT: {{^    look \(.*\) < often}}
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_rwlock_t tree = PTHREAD_RWLOCK_INITIALIZER, either = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static atomic_int about_to;

/* Each keeps its frame: no call here is the last thing that its caller does. */
static __attribute__((noinline)) int look(void) {
  pthread_rwlock_rdlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int often(void) { return look() + 1; }
static __attribute__((noinline)) int seldom(void) { return look() + 1; }

static __attribute__((noinline)) int look_twice(void) {
  pthread_rwlock_rdlock(&tree);
  pthread_rwlock_tryrdlock(&tree);
  usleep(1100);
  pthread_rwlock_unlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int change(void) {
  pthread_rwlock_wrlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int try_to_change(void) {
  pthread_rwlock_trywrlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int call(int (*lock)(pthread_rwlock_t *)) {
  lock(&either);
  return pthread_rwlock_unlock(&either);
}

static __attribute__((noinline)) int spin(void) {
  pthread_spin_lock(&spun);
  return pthread_spin_unlock(&spun);
}

static __attribute__((noinline)) int try_to_spin(void) {
  pthread_spin_trylock(&spun);
  return pthread_spin_unlock(&spun);
}

static __attribute__((noinline)) int wait_to_look(void) {
  atomic_store(&about_to, 1);
  pthread_rwlock_rdlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int wait_to_change(void) {
  atomic_store(&about_to, 1);
  pthread_rwlock_wrlock(&tree);
  return pthread_rwlock_unlock(&tree);
}

static __attribute__((noinline)) int wait_to_spin(void) {
  atomic_store(&about_to, 1);
  pthread_spin_lock(&spun);
  return pthread_spin_unlock(&spun);
}

static void *wait_for_it(void *how) { return ((int (*)(void))how)() ? how : NULL; }

/* The thread can be kept from running until the lock is free, or nearly. */
static __attribute__((noinline)) void hold_against(int (*how)(void)) {
  pthread_t thread;
  atomic_store(&about_to, 0);
  if (how == wait_to_spin)
    pthread_spin_lock(&spun);
  else
    pthread_rwlock_wrlock(&tree);
  pthread_create(&thread, NULL, wait_for_it, (void *)how);
  while (!atomic_load(&about_to))
    usleep(1000);
  usleep(100 * 1000);
  if (how == wait_to_spin)
    pthread_spin_unlock(&spun);
  else
    pthread_rwlock_unlock(&tree);
  pthread_join(thread, NULL);
}

int main(void) {
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  hold_against(wait_to_look);
  hold_against(wait_to_change);
  hold_against(wait_to_spin);
  for (int i = 0; i < 997; i++) {
    often();
    if (i < 31)
      seldom();
    if (i < 7)
      look_twice();
    if (i < 101)
      change();
    if (i < 11)
      try_to_change();
    if (i < 13)
      call(pthread_rwlock_wrlock);
    if (i < 17)
      call(pthread_rwlock_rdlock);
    if (i < 499)
      spin();
    if (i < 5)
      try_to_spin();
  }
  return 0;
}
