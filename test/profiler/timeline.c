// SPDX-License-Identifier: MIT
// Each wait is in the profile by itself, with its thread, class, start and length; short ones in
// their thousands displace no long one, and those that are left out are counted.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t 3 0
// RUN: %relock report --json %t.profile | cmp - %t.profile
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'len(profile["timeline"]) == 3 and profile["timeline_omitted"] == 0' \
// RUN:   '{w["key"] for w in profile["timeline"]} == {lock("slow")["key"]}' \
// RUN:   '{w["thread"] for w in profile["timeline"]} == {thread("waiter")["id"]}' \
// RUN:   'all(w["wait_ns"] >= 15 * MS for w in profile["timeline"])' \
// RUN:   'all(b["start_ns"] >= a["start_ns"] + a["wait_ns"] for a, b in zip(profile["timeline"], profile["timeline"][1:]))' \
// RUN:   'profile["timeline"][0]["start_ns"] >= 15 * MS' \
// RUN:   'profile["timeline"][-1]["start_ns"] < profile["duration_ns"]' \
// RUN:   'abs(sum(w["wait_ns"] for w in profile["timeline"]) - lock("slow")["wait"]["total_ns"]) <= 3'
// RUN: %relock profile -o %t.many -- %t 3 20000
// RUN: %python %S/Inputs/expect.py %t.many \
// RUN:   'lock("quick")["wait"]["count"] == 20000' \
// RUN:   'len(profile["timeline"]) <= 10000' \
// RUN:   'len(profile["timeline"]) + profile["timeline_omitted"] == 20003' \
// RUN:   'sum(w["key"] == lock("slow")["key"] for w in profile["timeline"]) == 3'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER, quick = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;

static void *waiter(void *argument) {
  for (int i = 0; i < *(int *)argument; i++) {
    while (atomic_load(&turn) != 1)
      usleep(100);
    atomic_store(&turn, 2);
    pthread_mutex_lock(&slow);
    pthread_mutex_unlock(&slow);
    atomic_store(&turn, 0);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int times = atoi(argv[1]), timeouts = argc > 2 ? atoi(argv[2]) : 0;
  struct timespec past = {0, 0};
  pthread_t thread;
  usleep(20 * 1000);
  pthread_create(&thread, NULL, waiter, &times);
  for (int i = 0; i < times; i++) {
    while (atomic_load(&turn) != 0)
      usleep(100);
    pthread_mutex_lock(&slow);
    atomic_store(&turn, 1);
    while (atomic_load(&turn) != 2)
      usleep(100);
    usleep(20 * 1000);
    pthread_mutex_unlock(&slow);
  }
  pthread_join(thread, NULL);
  pthread_mutex_lock(&quick);
  for (int i = 0; i < timeouts; i++) /* gives up at once */
    pthread_mutex_timedlock(&quick, &past);
  pthread_mutex_unlock(&quick);
  return 0;
}
