// SPDX-License-Identifier: MIT
// When threads waited is known of all of their waits, in intervals of one length that grow with the
// run: a steady load is as high at its beginning as at its end, although single waits are only kept
// of its end. What a wait lasts is in the intervals in which it lasted.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t steady
// RUN: %relock report --json %t.profile | cmp - %t.profile
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'profile["timeline_omitted"] > 0' \
// RUN:   'profile["waiting_over_time"]["classes"][0]["key"] == lock("hot")["key"]' \
// RUN:   '64 <= len(profile["waiting_over_time"]["classes"][0]["wait_ns"]) <= 128' \
// RUN:   '0 <= len(profile["waiting_over_time"]["classes"][0]["wait_ns"]) * profile["waiting_over_time"]["interval_ns"] - profile["duration_ns"] < profile["waiting_over_time"]["interval_ns"]' \
// RUN:   'abs(sum(sum(c["wait_ns"]) for c in profile["waiting_over_time"]["classes"]) - sum(c["wait"]["total_ns"] for c in profile["classes"])) < 1000' \
// RUN:   'sum(profile["waiting_over_time"]["classes"][0]["wait_ns"][4:32]) > 0.15 * lock("hot")["wait"]["total_ns"]'
//
// One long wait fills the intervals that it covers, no more.
// RUN: %relock profile -o %t.long -- %t long
// RUN: %python %S/Inputs/expect.py %t.long \
// RUN:   'all(abs(w - profile["waiting_over_time"]["interval_ns"]) < 1000 for w in sorted(profile["waiting_over_time"]["classes"][0]["wait_ns"])[-20:])' \
// RUN:   'profile["waiting_over_time"]["classes"][0]["wait_ns"][0] == 0' \
// RUN:   'abs(sum(profile["waiting_over_time"]["classes"][0]["wait_ns"]) - lock("hot")["wait"]["total_ns"]) < 1000'
//
// The sum of two runs has them one after the other.
// RUN: %relock report --json %t.long %t.long > %t.sum
// RUN: %python %S/Inputs/expect.py %t.sum \
// RUN:   'len(profile["waiting_over_time"]["classes"][0]["wait_ns"]) <= 129' \
// RUN:   'abs(sum(profile["waiting_over_time"]["classes"][0]["wait_ns"]) - lock("hot")["wait"]["total_ns"]) < 1000' \
// RUN:   'abs(sum(profile["waiting_over_time"]["classes"][0]["wait_ns"][:64]) - lock("hot")["wait"]["total_ns"] / 2) < 2 * profile["waiting_over_time"]["interval_ns"]'
//
// A window of a run has that of its time.
// RUN: rm -f %t.pid && { %relock profile -o %t.whole -- %t steady %t.pid & } && \
// RUN:   until test -s %t.pid; do sleep 0.02; done && \
// RUN:   %relock profile --pid $(cat %t.pid) --for=1 -o %t.window && wait
// RUN: %python %S/Inputs/expect.py %t.window \
// RUN:   '0.9 * 1e9 < profile["duration_ns"] < 1.9 * 1e9' \
// RUN:   '0 <= len(profile["waiting_over_time"]["classes"][0]["wait_ns"]) * profile["waiting_over_time"]["interval_ns"] - profile["duration_ns"] < profile["waiting_over_time"]["interval_ns"]' \
// RUN:   '0.97 < sum(profile["waiting_over_time"]["classes"][0]["wait_ns"]) / lock("hot")["wait"]["total_ns"] <= 1.001' \
// RUN:   'all(profile["waiting_over_time"]["classes"][0]["wait_ns"][1:-1])'
//
// A child begins anew.
// RUN: rm -f %t.fork*
// RUN: %relock profile -o %t.fork -- %t fork
// RUN: %python %S/Inputs/expect.py %t.fork 'lock("hot")["wait"]["count"] == 1'
// RUN: %python %S/Inputs/expect.py %t.fork.* 'not lock("hot")["wait"]["count"]' \
// RUN:   'not sum(sum(c["wait_ns"]) for c in profile.get("waiting_over_time", {"classes": []})["classes"])'
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool held;
static double until;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* One wait of about 20 microseconds after the other, all of them in vain. */
static void *ask(void *argument) {
  while (now() < until) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 20 * 1000;
    if (soon.tv_nsec >= 1000000000) {
      soon.tv_nsec -= 1000000000;
      soon.tv_sec++;
    }
    pthread_mutex_timedlock(&hot, &soon);
    pthread_mutex_lock(&own); /* a window without an acquisition says so, with status 1 */
    pthread_mutex_unlock(&own);
  }
  return argument;
}

static void *wait_for_it(void *argument) {
  while (!atomic_load(&held))
    ;
  pthread_mutex_lock(&hot);
  pthread_mutex_unlock(&hot);
  return argument;
}

static void say_pid(const char *name) {
  FILE *file = fopen(name, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (argc > 1 && !strcmp(argv[1], "steady")) {
    until = now() + 2;
    pthread_mutex_lock(&hot);
    if (argc > 2)
      say_pid(argv[2]);
    pthread_create(&thread, NULL, ask, NULL);
    pthread_join(thread, NULL);
    return pthread_mutex_unlock(&hot);
  }
  usleep(100 * 1000);
  pthread_create(&thread, NULL, wait_for_it, NULL);
  pthread_mutex_lock(&hot);
  atomic_store(&held, true);
  usleep(400 * 1000);
  pthread_mutex_unlock(&hot);
  pthread_join(thread, NULL);
  if (argc > 1 && !strcmp(argv[1], "fork") && fork() == 0) {
    pthread_mutex_lock(&hot);
    pthread_mutex_unlock(&hot);
    return 0;
  }
  wait(NULL);
  return 0;
}
