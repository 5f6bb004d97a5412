// SPDX-License-Identifier: MIT
// A static program that the profiler is linked into is recorded like another one: names, call
// sites, threads, forks; without `relock profile` it runs as ever.
// RUN: flags=$(%relock profile --link-flags)
// RUN: for kind in -static -static-pie; do \
// RUN:   %cc -g -O1 $kind %s -o %t$kind -pthread $flags && %t$kind || exit 9; \
// RUN:   rm -f %t.profile*; %relock profile -o %t.profile -- %t$kind 2> %t.err || exit 8; \
// RUN:   %python %S/Inputs/expect.py %t.profile \
// RUN:     'lock("mutex")["acquisitions"] == 2018 and profile["threads"] == 2' \
// RUN:     'lock("queue.lock")["objects"] == 3 and lock("queue.lock")["acquisitions"] == 3' \
// RUN:     'site("mutex", "visit", "work")["samples"] > 0 and profile["waits"] != []' \
// RUN:     'lock("rwlock")["readers"]["acquisitions"] == 2' \
// RUN:     'profile["program"]["ended"] == "exit" and not any(profile["dropped"].values())' \
// RUN:     || exit 7; \
// RUN:   %python %S/Inputs/expect.py %t.profile.* 'lock("mutex")["acquisitions"] == 1009' \
// RUN:     || exit 6; \
// RUN: done
// RUN: FileCheck %s < %t.err
// CHECK: other processes took locks too; their profiles are {{.*}} [profile-processes]
// Without symbols it has places for names.
// RUN: strip %t-static && %relock profile -o %t.profile -- %t-static
// RUN: grep -q '"name": "static-program.c.tmp-static+0x' %t.profile
// What is renamed at the link is what the preload library stands in front of; besides, that has
// something for librelock.
// RUN: nm -D --defined-only %profiler_lib | awk '{print $3}' | sort > %t.exported
// RUN: grep -vx relock_profiler_recorder %t.exported > %t.interposed
// RUN: sed -n 's/^--wrap=//p' %librelock_dir/relock-profiler.options | sort > %t.wrapped
// RUN: test -s %t.wrapped && diff %t.interposed %t.wrapped
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct queue {
  pthread_mutex_t lock;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t done;

__attribute__((noinline)) static void visit(void) {
  for (int i = 0; i < 1009; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void *work(void *argument) {
  for (int i = 0; i < 3; i++) {
    struct queue *queue = malloc(sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_lock(&queue->lock);
    pthread_mutex_unlock(&queue->lock);
  }
  visit();
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  sem_post(&done);
  return argument;
}

int main(void) {
  pthread_t thread;
  int status;
  sem_init(&done, 0, 0);
  pthread_create(&thread, NULL, work, NULL);
  visit();
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  while (sem_wait(&done))
    continue;
  pthread_join(thread, NULL);
  if (fork() == 0) {
    visit();
    _exit(0);
  }
  wait(&status);
  return status != 0;
}
