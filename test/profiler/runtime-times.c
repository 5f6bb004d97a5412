// SPDX-License-Identifier: MIT
// Locks of librelock are timed as pthread locks are: what is held and waited for known times is in
// the profile with them, wherever a section ran, and waits on condition variables are none for locks.
// REQUIRES: plain
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: for algorithm in adaptive posix ccsynch rcl mcs; do \
// RUN:   RELOCK_LOCKS="*=$algorithm" %relock profile -o %t.profile -- %t > %t.around || exit 9; \
// RUN:   set -- $(cat %t.around); \
// RUN:   %python %S/Inputs/expect.py %t.profile \
// RUN:     'lock("held")["hold"]["count"] == 12' \
// RUN:     '10 * 5 * MS <= lock("held")["hold"]["total_ns"] <= '$1' * 1.01' \
// RUN:     '4.4 * MS <= lock("held")["hold"]["p50_ns"] and lock("held")["hold"]["max_ns"] >= 5 * MS' \
// RUN:     'lock("held")["trylock_failures"] == 3 and lock("held")["timeouts"] == 1' \
// RUN:     'lock("executed")["hold"]["count"] == 10' \
// RUN:     '10 * 5 * MS <= lock("executed")["hold"]["total_ns"] <= '$2' * 1.01' \
// RUN:     'lock("submitted")["hold"]["count"] == 10 == lock("submitted")["acquisitions"]' \
// RUN:     '10 * 5 * MS <= lock("submitted")["hold"]["total_ns"] <= '$3' * 1.01' \
// RUN:     'lock("submitted")["contended"] == lock("submitted")["wait"]["count"]' \
// RUN:     'lock("submitted")["wait"]["total_ns"] <= '$3' * 1.01' \
// RUN:     'site("submitted", "last", "main")["acquisitions"] == 10' \
// RUN:     'lock("waited")["hold"]["total_ns"] >= 80 * MS' \
// RUN:     'lock("waited")["wait"]["count"] >= 1' \
// RUN:     '20 * MS <= lock("waited")["wait"]["max_ns"]' \
// RUN:     'lock("waited")["wait"]["p99_ns"] <= lock("waited")["wait"]["max_ns"]' \
// RUN:     'lock("recursive")["acquisitions"] == 3 and lock("recursive")["reentries"] == 2' \
// RUN:     'lock("recursive")["hold"]["count"] == 1' \
// RUN:     'profile["foreign_releases"] == 1 and lock("handed")["hold"]["count"] == 1' \
// RUN:     'lock("handed")["hold"]["total_ns"] >= 20 * MS' \
// RUN:     'lock("conditions")["condition_waits"] == 2' \
// RUN:     'lock("conditions")["hold"]["total_ns"] < wait("conditions")["wait"]["total_ns"]' \
// RUN:     'lock("conditions")["wait"]["total_ns"] < wait("conditions")["wait"]["total_ns"]' \
// RUN:     'wait("conditions")["primitive"] == "condition"' \
// RUN:     'wait("conditions")["acquisitions"] == 2 and wait("conditions")["wait"]["count"] == 2' \
// RUN:     'wait("conditions")["wait"]["total_ns"] >= 2 * 40 * MS' \
// RUN:     'profile["librelock_section_ns"] >= 250 * MS' \
// RUN:     'not any(profile["dropped"].values())' \
// RUN:     || { echo with $algorithm; exit 9; }; \
// RUN: done
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CLASS(name)                                                                                \
  RELOCK_LOCK_CLASS(name##_class, #name, "adaptive");                                              \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)

CLASS(held);
CLASS(executed);
CLASS(submitted);
CLASS(waited);
CLASS(handed);
CLASS(conditions);
RELOCK_LOCK_CLASS(recursive_class, "recursive", "adaptive");
static relock_mutex_t recursive;

enum { MS = 1000 };

static int last(void *ms) {
  usleep(*(unsigned *)ms * MS);
  return 0;
}

static int asking;

static void *execute_waited(void *ms) {
  __atomic_fetch_add(&asking, 1, __ATOMIC_RELAXED);
  relock_execute(&waited, last, ms);
  return NULL;
}

static void *try_held(void *unused) {
  struct timespec past = {0};
  for (int i = 0; i < 3; i++)
    if (relock_mutex_trylock(&held) == 0)
      _exit(3);
  if (relock_mutex_timedlock(&held, &past) == 0)
    _exit(4);
  return unused;
}

static void *release_handed(void *unused) {
  relock_mutex_unlock(&handed);
  return unused;
}

static relock_cond_t signalled;
static int waiting, done;

struct section {
  relock_resume_t resume;
};

static int wait_section(void *context) {
  struct section *section = context;
  switch (section->resume.at) {
  case 0:
    waiting++;
    while (!done)
      RELOCK_COND_WAIT(&section->resume, &signalled, 1);
  }
  return 0;
}

static void *wait_in_section(void *unused) {
  struct section section;
  relock_execute_resumable(&conditions, wait_section, &section, &section.resume);
  return unused;
}

static void *wait_as_holder(void *unused) {
  relock_mutex_lock(&conditions);
  waiting++;
  while (!done)
    relock_cond_wait(&signalled, &conditions);
  relock_mutex_unlock(&conditions);
  return unused;
}

static void run(void *(*start)(void *), void *argument, pthread_t *thread) {
  if (pthread_create(thread, NULL, start, argument))
    _exit(2);
}

static int is_waiting(void) {
  relock_mutex_lock(&conditions);
  int both = waiting == 2;
  relock_mutex_unlock(&conditions);
  return both;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Prints what all holds of `held`, and all sections of `executed` and of `submitted`, have taken at
 * most. */
int main(void) {
  long long start = now_ns();
  pthread_t threads[2];
  unsigned five = 5, forty = 40;
  for (int i = 0; i < 10; i++) {
    relock_mutex_lock(&held);
    usleep(5 * MS);
    relock_mutex_unlock(&held);
  }
  for (int i = 0; i < 2; i++) {
    relock_mutex_lock(&held);
    if (i == 0) {
      run(try_held, NULL, threads);
      pthread_join(threads[0], NULL);
    }
    relock_mutex_unlock(&held);
  }
  printf("%lld ", now_ns() - start);
  start = now_ns();
  for (int i = 0; i < 10; i++)
    relock_execute(&executed, last, &five);
  printf("%lld ", now_ns() - start);
  start = now_ns();
  for (int i = 0; i < 10; i++) {
    relock_submit(&submitted, last, &five, sizeof five);
    if (i % 2)
      usleep(10 * MS); /* it may be done before anybody asks */
  }
  relock_submitted_wait();
  printf("%lld\n", now_ns() - start);

  relock_mutex_lock(&waited);
  for (int i = 0; i < 2; i++)
    run(execute_waited, &forty, &threads[i]);
  while (__atomic_load_n(&asking, __ATOMIC_RELAXED) < 2)
    usleep(1 * MS);
  usleep(100 * MS); /* the threads may be slow to wait */
  relock_mutex_unlock(&waited);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);

  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  relock_mutex_init(&recursive, &attributes, RELOCK_CLASS(recursive_class));
  for (int i = 0; i < 3; i++)
    relock_mutex_lock(&recursive);
  for (int i = 0; i < 3; i++)
    relock_mutex_unlock(&recursive);

  relock_mutex_lock(&handed);
  usleep(20 * MS);
  run(release_handed, NULL, threads);
  pthread_join(threads[0], NULL);

  run(wait_as_holder, NULL, &threads[0]);
  run(wait_in_section, NULL, &threads[1]);
  while (!is_waiting())
    usleep(1 * MS);
  usleep(100 * MS); /* the same */
  relock_mutex_lock(&conditions);
  done = 1;
  relock_cond_broadcast(&signalled);
  relock_mutex_unlock(&conditions);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
