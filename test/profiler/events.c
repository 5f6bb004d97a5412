// SPDX-License-Identifier: MIT
// Events in sections are counted exactly, whoever takes the lock and however: here pages that are
// touched for the first time, because every machine counts them. (The records that the profiler
// makes within a section, of others and of samples, lie in new pages at first.)
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --event=page-faults --sample-interval=0 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'profile["event"]["name"] == "PAGE_FAULTS"' \
// RUN:   'profile["event"]["read"] == "descriptor" and not profile["event"]["cache_misses"]' \
// RUN:   'profile["event"]["threads_not_counted"] == 0' \
// RUN:   'lock("none")["events"] == {"samples": 3 * 101, "sections": 3 * 101, "per_section": 0}' \
// RUN:   'lock("three")["events"] == {"samples": 3 * 97, "sections": 3 * 97, "per_section": 3}' \
// RUN:   'lock("outer")["events"]["samples"] == 3 * 89' \
// RUN:   '3 <= lock("outer")["events"]["per_section"] < 3.2' \
// RUN:   'lock("inner")["events"] == {"samples": 3 * 89, "sections": 3 * 89, "per_section": 2}' \
// RUN:   'lock("tried")["events"] == {"samples": 3 * 83, "sections": 3 * 83, "per_section": 1}' \
// RUN:   'lock("recursive")["events"]["samples"] == 3 * 79' \
// RUN:   '2 <= lock("recursive")["events"]["per_section"] < 2.2' \
// RUN:   'lock("waiting")["events"] == {"samples": 3 * 3, "sections": 3 * 3, "per_section": 1}' \
// RUN:   '"cache_misses_per_section" not in lock("three")'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: event: PAGE_FAULTS, read by the system
// CHECK: three
// CHECK: 3.00 PAGE_FAULTS per section (291 sections counted)
//
// By default some sections stand for the others.
// RUN: %relock profile --event=page-faults -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("three")["events"]["per_section"] == 3' \
// RUN:   '0 < lock("three")["events"]["samples"] <= 3 * 97'
//
// Nobody asked for it.
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   '"event" not in profile and "events" not in lock("three")'
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static pthread_mutex_t none = PTHREAD_MUTEX_INITIALIZER, three = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER, waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t warm = PTHREAD_MUTEX_INITIALIZER, recursive;

static void touch(char **memory, int pages) {
  for (; pages; pages--, *memory += 4096)
    *(volatile char *)*memory;
}

static void *work(void *argument) {
  enum { SIZE = 4096 * 2048 };
  char *memory = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct timespec past = {0, 0};
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  madvise(memory, SIZE, MADV_NOHUGEPAGE);
  errno = EDOM;
  for (int i = 0; i < 101; i++) {
    pthread_mutex_lock(&none);
    pthread_mutex_unlock(&none);
    touch(&memory, 1);
  }
  for (int i = 0; i < 97; i++) {
    pthread_mutex_lock(&three);
    touch(&memory, 3);
    pthread_mutex_unlock(&three);
  }
  for (int i = 0; i < 89; i++) {
    pthread_mutex_lock(&outer);
    touch(&memory, 1);
    pthread_mutex_lock(&inner);
    touch(&memory, 2);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
  }
  for (int i = 0; i < 83; i++) {
    while (pthread_mutex_trylock(&tried))
      ;
    touch(&memory, 1);
    pthread_mutex_unlock(&tried);
  }
  for (int i = 0; i < 79; i++) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    touch(&memory, 1);
    pthread_mutex_unlock(&recursive);
    touch(&memory, 1);
    pthread_mutex_unlock(&recursive);
  }
  for (int i = 0; i < 3; i++) { // what follows the wait is not counted
    pthread_mutex_lock(&waiting);
    touch(&memory, 1);
    pthread_cond_timedwait(&condition, &waiting, &past);
    touch(&memory, 1);
    pthread_mutex_unlock(&waiting);
  }
  if (errno != EDOM)
    abort();
  return argument;
}

int main(void) {
  struct timespec past = {0, 0};
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_t threads[3];
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  for (int i = 0; i < 3; i++) { // the code that is run in them is at hand
    pthread_mutex_lock(&warm);
    pthread_cond_timedwait(&condition, &warm, &past);
    pthread_mutex_unlock(&warm);
  }
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
