// SPDX-License-Identifier: MIT
// A forked process has a profile of its own, with the names of its parent and its own counts.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.dir/profile -- %t 2> %t.err
// RUN: FileCheck %s --check-prefix=SAID < %t.err
// RUN: %python %S/Inputs/expect.py %t.dir/profile \
// RUN:   'lock("mutex")["acquisitions"] == 11 and not profile["program"]["forked"]' \
// RUN:   'inside("mutex", "held") == 0' 'len(profile["timeline"]) == 1' \
// RUN:   'lock("make (fork.c:37)")["acquisitions"] == 1' 'profile["threads"] == 2'
// RUN: %python %S/Inputs/expect.py %t.dir/profile.* \
// RUN:   'lock("mutex")["acquisitions"] == 7 and profile["program"]["forked"]' \
// RUN:   'inside("mutex", "held") == 3 and "timeline" not in profile' \
// RUN:   'site("mutex", "visit", "main")["acquisitions"] == 7' \
// RUN:   'lock("make (fork.c:37)")["acquisitions"] == 5' 'profile["threads"] == 1' \
// RUN:   'lock("held")["acquisitions"] == 0 and lock("held")["hold"]["count"] == 1' \
// RUN:   'lock("held")["held_at_end"] == 0'
// SAID: other processes took locks too; their profiles are {{.*}}profile.{{[0-9]+}} [profile-processes]
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static atomic_int started;

static void visit(pthread_mutex_t *which, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(which);
    pthread_mutex_unlock(which);
  }
}

static __attribute__((noinline)) void make(pthread_mutex_t *new) { pthread_mutex_init(new, NULL); }

static void *idle(void *argument) {
  atomic_store(&started, 1);
  pause();
  return argument;
}

int main(void) {
  pthread_mutex_t *heap = malloc(sizeof *heap);
  struct timespec past = {0, 0};
  pthread_t thread;
  make(heap);
  visit(heap, 1);
  visit(&mutex, 11);
  pthread_create(&thread, NULL, idle, NULL);
  while (!atomic_load(&started))
    ;
  pthread_mutex_lock(&held);
  pthread_mutex_timedlock(&held, &past); /* a wait that the child must not inherit */
  if (fork() == 0) {
    visit(&mutex, 3);
    pthread_mutex_unlock(&held);
    visit(&mutex, 4);
    visit(heap, 5);
    exit(0);
  }
  pthread_mutex_unlock(&held);
  wait(NULL);
  return 0;
}
