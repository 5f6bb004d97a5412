// SPDX-License-Identifier: MIT
// Each thread has its name, its times and its counts by class; threads that follow each other in
// one record make one row that says how many they were.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   '{t["name"] for t in profile["by_thread"]} == {"early name", "fifth", "main", "own name"}' \
// RUN:   'len(profile["by_thread"]) == 4' \
// RUN:   'thread("early name")["threads"] == 1 and held("early name", "mutex") == 997' \
// RUN:   'held("own name", "mutex") == 991 and held("own name", "other") == 7' \
// RUN:   'held("fifth", "mutex") == 12 * 101 and thread("fifth")["threads"] == 12' \
// RUN:   'thread("fifth")["sections"] == 12 * 101' \
// RUN:   'held("main", "other") == 13 and held("main", "mutex") == 0' \
// RUN:   'thread("main")["lived_ns"] >= 80 * MS' \
// RUN:   'thread("own name")["wait_ns"] >= 40 * MS' \
// RUN:   'thread("own name")["section_ns"] >= 40 * MS' \
// RUN:   'profile["by_thread"][0]["name"] == "own name"' \
// RUN:   'sum(t["sections"] for t in profile["by_thread"]) == profile["sections"]' \
// RUN:   'profile["threads_omitted"] == 0'
//
// --json prints all of it.
// RUN: %relock report --json %t.profile | cmp - %t.profile
// RUN: %relock report --threads=2 %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: {{^THREAD +THREADS +LIVED +IN SECT. +WAIT +SECTIONS +MOSTLY$}}
// CHECK: {{^own name +1 +[0-9.]+m?s +[0-9.]+% +[0-9.]+ms +[0-9]+ +other$}}
// CHECK: 2 more not shown.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static atomic_int together, waiting, done;

static void visit(pthread_mutex_t *which, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(which);
    pthread_mutex_unlock(which);
  }
}

static void meet(void) {
  atomic_fetch_add(&together, 1);
  while (atomic_load(&together) < 2)
    usleep(1000);
}

static void *first(void *argument) {
  meet();
  visit(&mutex, 997);
  while (!atomic_load(&done)) /* keeps its record */
    usleep(1000);
  return argument;
}

static void *second(void *argument) {
  pthread_setname_np(pthread_self(), "own name");
  meet();
  atomic_store(&waiting, 1);
  visit(&other, 7);
  visit(&mutex, 991);
  return argument;
}

static void *fifth(void *argument) {
  visit(&mutex, 101);
  return argument;
}

int main(void) {
  pthread_t threads[2], thread;
  pthread_mutex_lock(&other);
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_setname_np(threads[0], "early name");
  pthread_create(&threads[1], NULL, second, NULL);
  while (!atomic_load(&waiting))
    usleep(1000);
  /* A fourth record, many times. Each begins with a processor time of its own: that of the one
   * before says nothing of how often it takes locks, and all of its holds are timed. */
  for (int i = 0; i < 12; i++) {
    pthread_create(&thread, NULL, fifth, NULL);
    pthread_join(thread, NULL);
    usleep(10 * 1000);
  }
  usleep(80 * 1000);
  atomic_store(&done, 1);
  pthread_mutex_unlock(&other);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  visit(&other, 12);
  return 0;
}
