// SPDX-License-Identifier: MIT
// Of librelock's locks the profile knows, as of others, which thread used them, also of sections that
// another thread runs for it, inside which lock each was taken, among its own and pthread's, and when
// they were waited for.
// REQUIRES: plain
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: %cc -g -O1 -I%include %s -o %t.shared -L%librelock_dir -lrelock -Wl,-rpath,%librelock_dir
// RUN: for linked in %t %t.shared; do for algorithm in adaptive ccsynch rcl posix; do \
// RUN:   env RELOCK_LOCKS="*=$algorithm" %relock profile -o %t.dir/profile -- $linked || exit 1; \
// RUN:   %python %S/Inputs/expect.py %t.dir/profile \
// RUN:     'held("first", "one") == 101 and held("second", "one") == 103' \
// RUN:     'held("first", "two") == 107 and held("second", "two") == 0' \
// RUN:     'held("main", "one") == 2 + 5 + 7 + 17' \
// RUN:     'held("main", "plain") == 5 + 11 + 1 + 2' \
// RUN:     'sum(c["acquisitions"] for t in profile["by_thread"] for c in t["classes"] \
// RUN:          if c["key"] == "one") == lock("one")["acquisitions"]' \
// RUN:     'inside("two", "one") == 7 and inside("one", "two") == 17' \
// RUN:     'inside("tried", "two") == 19 == inside("tried", "two", "tried_inside")' \
// RUN:     'inside("two", "tried") == 23' \
// RUN:     'inside("plain", "one") == 5 and inside("one", "plain") == 0' \
// RUN:     'inside("two", "plain") == 13 and inside("plain", "two") == 11' \
// RUN:     'inside("shared", "two") == 29 and read_inside("shared", "two") == [29, 0, 0]' \
// RUN:     'inside("two", "shared") == 31 and read_inside("two", "shared") == [0, 31, 0]' \
// RUN:     'inside("two", "again") == 0 and inside("again", "again") == 0' \
// RUN:     'inside("plain", "conditions") == 0' \
// RUN:     'any(w["key"] == "one" and w["wait_ns"] >= 30 * MS and \
// RUN:          w["thread"] == thread("waiter")["id"] for w in profile["timeline"])' \
// RUN:     'thread("waiter")["wait_ns"] >= 30 * MS' \
// RUN:     'profile["timeline_omitted"] == 0 and not any(profile["dropped"].values())' \
// RUN:     'profile["librelock_within"]' \
// RUN:     'profile["librelock_section_ns"] <= 1.01 * profile["section_ns"]' \
// RUN:     'profile["section_ns"] <= profile["thread_ns"]' \
// RUN:     '{c["name"] for c in profile["classes"]} == \
// RUN:      {"one", "two", "tried", "again", "conditions", "plain", "shared"}' \
// RUN:     || { echo with $algorithm; exit 1; }; \
// RUN: done; done
//
// RUN: %relock report --threads=9 %t.dir/profile > %t.out
// RUN: FileCheck %s < %t.out
// RUN: not grep -E 'tried inside|.{81}' %t.out
// CHECK: one inside two 17 times, two inside one 7 times
// CHECK: {{^}}waiter 1 {{.*}} one{{$}}
// RUN: tr -s '\n ' ' ' < %t.out | grep 'librelock: 5 lock classes .* which is part of the time above'
//
// A thread that takes over the record of one that has ended is no other for librelock.
// RUN: %relock profile -o %t.dir/turns -- %t turns
// RUN: %python %S/Inputs/expect.py %t.dir/turns \
// RUN:   'sorted(c["acquisitions"] for t in profile["by_thread"] for c in t["classes"] \
// RUN:           if c["key"] == "one") == [37, 41 + 43] and lock("one")["acquisitions"] == 121'
//
// What is released by another thread is held no longer than until then, though its thread finds that
// out when it takes another lock.
// RUN: %relock profile -o %t.dir/foreign -- %t foreign
// RUN: %python %S/Inputs/expect.py %t.dir/foreign 'inside("two", "one") == 0' \
// RUN:   'profile["foreign_releases"] == 1' \
// RUN:   'thread("main")["section_ns"] + 1000 * MS <= thread("main")["lived_ns"]'
#include <pthread.h>
#include <relock/relock.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLASS(name)                                                                                \
  RELOCK_LOCK_CLASS(name##_class, #name, "adaptive");                                              \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
CLASS(one);
CLASS(two);
CLASS(tried);
CLASS(conditions);
RELOCK_LOCK_CLASS(again_class, "again", "adaptive");
static relock_mutex_t again;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

static int nothing(void *context) { return context != NULL; }

static void hold(relock_mutex_t *mutex, int times) {
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(mutex);
    relock_mutex_unlock(mutex);
  }
}

static void hold_plain(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&plain);
    pthread_mutex_unlock(&plain);
  }
}

/* They live at the same time, so that each has a row of its own. */
static int done, over;

static void stay(void) {
  __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
    usleep(1000);
}

static void await_done(int count) {
  while (__atomic_load_n(&done, __ATOMIC_RELAXED) < count)
    usleep(1000);
}

static void *first(void *unused) {
  hold(&one, 50);
  for (int i = 0; i < 51; i++)
    relock_execute(&one, nothing, NULL);
  hold(&two, 107);
  stay();
  return unused;
}

static void *second(void *unused) {
  for (int i = 0; i < 103; i++)
    relock_execute(&one, nothing, NULL);
  stay();
  return unused;
}

static int asking;

static void *waiter(void *unused) {
  __atomic_store_n(&asking, 1, __ATOMIC_RELAXED);
  relock_execute(&one, nothing, NULL);
  stay();
  return unused;
}

static void run(void *(*start)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, start, argument) || pthread_join(thread, NULL))
    exit(2);
}

/* Whoever runs them: it is the client that holds `one` and takes the other. */
static int plain_inside(void *unused) {
  hold_plain(1);
  return unused != NULL;
}
static int two_inside(void *unused) {
  hold(&two, 1);
  return unused != NULL;
}

static void nest(void) {
  for (int i = 0; i < 5; i++)
    relock_execute(&one, plain_inside, NULL);
  for (int i = 0; i < 7; i++)
    relock_execute(&one, two_inside, NULL);
  relock_mutex_lock(&two);
  hold(&one, 17);
  hold_plain(11);
  for (int i = 0; i < 19; i++) {
    relock_mutex_trylock(&tried);
    relock_mutex_unlock(&tried);
  }
  for (int i = 0; i < 29; i++) {
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
  }
  relock_mutex_unlock(&two);
  pthread_mutex_lock(&plain);
  hold(&two, 13);
  pthread_mutex_unlock(&plain);
  relock_mutex_lock(&tried);
  hold(&two, 23);
  relock_mutex_unlock(&tried);
  pthread_rwlock_rdlock(&shared);
  hold(&two, 31);
  pthread_rwlock_unlock(&shared);
  relock_mutex_lock(&again);
  relock_mutex_lock(&again);
  relock_mutex_unlock(&again);
  relock_mutex_unlock(&again);
  hold(&two, 1);
}

/* Asleep it does not hold the lock. */
static void sleep_on_condition(void) {
  static relock_cond_t condition;
  struct timespec past = {0};
  relock_mutex_lock(&conditions);
  relock_cond_timedwait(&condition, &conditions, &past);
  relock_mutex_unlock(&conditions);
  hold_plain(2);
}

static void wait_for_one(pthread_t *thread) {
  relock_mutex_lock(&one);
  pthread_create(thread, NULL, waiter, NULL);
  while (!__atomic_load_n(&asking, __ATOMIC_RELAXED))
    usleep(1000);
  usleep(300000); /* it may be slow to wait */
  relock_mutex_unlock(&one);
  await_done(3);
  hold(&one, 1);
}

static void *take_turns(void *times) {
  hold(&one, *(int *)times);
  return NULL;
}

static void *release_one(void *unused) {
  relock_mutex_unlock(&one);
  return unused;
}

static void foreign(void) {
  relock_mutex_lock(&one);
  run(release_one, NULL);
  usleep(1000000);
  hold(&two, 1);
}

int main(int count, char **words) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(&again, &attributes, RELOCK_CLASS(again_class));
  if (count > 1 && !strcmp(words[1], "foreign")) {
    foreign();
    return 0;
  }
  if (count > 1) {
    int times[] = {37, 41, 43};
    take_turns(&times[0]);
    run(take_turns, &times[1]);
    run(take_turns, &times[2]);
    return 0;
  }
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, first, NULL);
  await_done(1);
  pthread_create(&threads[1], NULL, second, NULL);
  await_done(2);
  nest();
  sleep_on_condition();
  wait_for_one(&threads[2]);
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
