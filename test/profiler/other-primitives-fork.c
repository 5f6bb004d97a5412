// SPDX-License-Identifier: MIT
// A forked process goes on with the rwlocks that it reads under, and with semaphores in memory
// that it shares with its parent; each process has its own counts.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.dir/profile -- %t
// RUN: %python %S/Inputs/expect.py %t.dir/profile \
// RUN:   'lock("lock")["readers"]["acquisitions"] == 2 + 11' \
// RUN:   'lock("lock")["readers"]["hold"]["count"] == 2 + 11' \
// RUN:   'len(profile["waits"]) == 1 and profile["waits"][0]["signals"] == 0' \
// RUN:   'profile["waits"][0]["acquisitions"] == 13 and profile["waits"][0]["objects"] == 1'
// RUN: %python %S/Inputs/expect.py %t.dir/profile.* \
// RUN:   'lock("lock")["readers"]["acquisitions"] == 7' \
// RUN:   'lock("lock")["readers"]["hold"]["count"] == 7 + 2' \
// RUN:   'lock("lock")["readers"]["hold"]["max_ns"] >= 20 * MS' \
// RUN:   'profile["section_ns"] >= 20 * MS and profile["foreign_releases"] == 0' \
// RUN:   'profile["waits"][0]["acquisitions"] == 0 and profile["waits"][0]["signals"] == 13'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
  }
}

int main(void) {
  sem_t *semaphore =
      mmap(NULL, sizeof *semaphore, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int status;
  sem_init(semaphore, 1, 0);
  visit(11);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_rdlock(&lock);
  if (fork() == 0) {
    usleep(20 * 1000);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    visit(7);
    for (int i = 0; i < 13; i++)
      sem_post(semaphore);
    exit(0);
  }
  for (int i = 0; i < 13; i++)
    sem_wait(semaphore);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  wait(&status);
  return status != 0;
}
