// SPDX-License-Identifier: MIT
// `relock profile --pid` shows librelock's locks, too: what they did in the window, by which thread
// and inside what, or so far. Where librelock does not answer, that is said.
// REQUIRES: plain
// RUN: %cc -g -O1 -I%include %s %librelock -o %t -lpthread
// RUN: %python %S/Inputs/window.py %relock %t fork
// RUN: %python %S/Inputs/expect.py %t.window \
// RUN:   'lock("mutex")["acquisitions"] == 1013 and lock("mutex")["hold"]["count"] == 1014' \
// RUN:   'sum(count for _, count in lock("mutex")["hold"]["histogram"]) == 1014' \
// RUN:   'lock("mutex")["hold"]["p50_ns"] <= lock("mutex")["hold"]["max_ns"] < 900 * MS' \
// RUN:   'lock("mutex")["librelock"]["held"] == 14' \
// RUN:   'lock("mutex")["librelock"]["executed"] == 1000' \
// RUN:   'site("mutex", "nothing", "visit")["acquisitions"] == 1000' \
// RUN:   'sum(lock("mutex")["came_from"].values()) == 1014' \
// RUN:   'held("main", "mutex") == 1014 and inside("inner", "mutex") == 13' \
// RUN:   'lock("inner")["acquisitions"] == 13' \
// RUN:   'not any(c["name"] in ("earlier", "default") for c in profile["classes"])' \
// RUN:   'wait("mutex")["acquisitions"] == 1' \
// RUN:   'lock("plain")["acquisitions"] == 7' \
// RUN:   '0 < profile["librelock_section_ns"] <= 1.01 * profile["section_ns"]' \
// RUN:   'lock("served")["acquisitions"] == 23' \
// RUN:   'sum(server["sections"] for server in profile.get("servers", [])) <= 24' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %python %S/Inputs/expect.py %t.so-far \
// RUN:   'lock("mutex")["acquisitions"] == 998 + 1013 and lock("earlier")["acquisitions"] == 17' \
// RUN:   'lock("mutex")["hold"]["max_ns"] >= 1000 * MS' \
// RUN:   'held("main", "mutex") == 998 + 1014 and lock("served")["acquisitions"] == 29 + 23'
// RUN: %python %S/Inputs/expect.py %t.last \
// RUN:   'lock("mutex")["acquisitions"] == 991 and profile["program"]["ended"] == "exit"' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %python %S/Inputs/expect.py %t.silent 'profile["dropped"]["runtimes"] == 1' \
// RUN:   'len(profile["classes"]) == 1 and lock("plain")["acquisitions"] == 5'
// RUN: %relock report %t.silent > %t.out
// RUN: grep 'not recorded: counts of librelock' %t.out
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLASS(name, algorithm)                                                                     \
  RELOCK_LOCK_CLASS(name##_class, #name, algorithm);                                               \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
CLASS(mutex, "adaptive");
CLASS(inner, "adaptive");
CLASS(earlier, "adaptive");
CLASS(served, "rcl");
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

static int nothing(void *context) { return context != NULL; }

static void hold(relock_mutex_t *lock, int times) {
  for (int i = 0; i < times; i++) {
    relock_mutex_lock(lock);
    relock_mutex_unlock(lock);
  }
}

__attribute__((noinline)) static void visit(relock_mutex_t *lock, int times) {
  for (int i = 0; i < times; i++)
    relock_execute(lock, nothing, NULL);
}

/* Its server runs some of them, and counts a section when that is answered already. */
static void visit_served(int times) {
  for (int i = 0; i < times; i++)
    relock_execute_any_thread(&served, nothing, NULL);
}

static void hold_plain(int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(&plain);
    pthread_mutex_unlock(&plain);
  }
}

/* Says where it is, and goes on when that is heard. */
static void pause_at(const char *step) {
  char line[8];
  puts(step);
  if (!fgets(line, sizeof line, stdin))
    exit(9);
}

static void sleep_on_condition(void) {
  static relock_cond_t condition;
  struct timespec past = {0};
  relock_cond_timedwait(&condition, &mutex, &past);
}

/* A forked process has nobody who would answer. */
static int fork_and_pause(void) {
  if (fork() == 0) {
    hold(&mutex, 3);
    hold_plain(5);
    pause_at("forked");
    exit(0);
  }
  return wait(NULL) < 0;
}

int main(int count, char **words) {
  (void)words;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count > 1)
    return fork_and_pause();
  visit(&mutex, 997);
  relock_mutex_lock(&mutex);
  usleep(1000 * 1000); /* longer than any hold of the window */
  relock_mutex_unlock(&mutex);
  hold(&earlier, 17);
  visit_served(29);
  pause_at("before");
  visit(&mutex, 1000);
  hold(&mutex, 11);
  relock_mutex_lock(&mutex);
  hold(&inner, 13);
  relock_mutex_unlock(&mutex);
  relock_mutex_lock(&mutex);
  sleep_on_condition();
  relock_mutex_unlock(&mutex);
  hold_plain(7);
  visit_served(23);
  pause_at("after");
  pause_at("last");
  visit(&mutex, 991);
  return 0;
}
