// SPDX-License-Identifier: MIT
// A forked process has counters of its own, one that closes all descriptors loses nothing of its
// own by that, and threads that find no descriptor for a counter run without one.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --event=page-faults --sample-interval=0 -o %t.dir/profile -- %t
// RUN: %python %S/Inputs/expect.py %t.dir/profile \
// RUN:   'lock("mutex")["events"] == {"samples": 11, "sections": 11, "per_section": 2}' \
// RUN:   'lock("closed")["acquisitions"] == 5 and "events" not in lock("closed")' \
// RUN:   'profile["event"]["threads_not_counted"] == 41 - 16' \
// RUN:   'lock("crowd")["events"]["samples"] == 15 and lock("crowd")["acquisitions"] == 40' \
// RUN:   'lock("later")["events"] == {"samples": 3, "sections": 3, "per_section": 2}'
// RUN: %python %S/Inputs/expect.py %t.dir/profile.* \
// RUN:   'profile["program"]["forked"] and profile["event"]["threads_not_counted"] == 0' \
// RUN:   'lock("mutex")["events"] == {"samples": 7, "sections": 7, "per_section": 2}' \
// RUN:   '"events" not in lock("held")'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t crowd = PTHREAD_MUTEX_INITIALIZER, closed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t later = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static char *memory;

static void check(int holds, const char *what) {
  if (!holds) {
    perror(what);
    abort();
  }
}

static void visit(pthread_mutex_t *which, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(which);
    for (int page = 0; page < 2; page++, memory += 4096)
      *(volatile char *)memory;
    pthread_mutex_unlock(which);
  }
}

static void *join_crowd(void *argument) {
  visit(&crowd, 1);
  pthread_barrier_wait(&all);
  return argument;
}

static void *come_later(void *argument) {
  visit(&later, 3);
  return argument;
}

// 64 descriptors: 16 are for counters, of which the first thread has one.
static void gather(void) {
  enum { CROWD = 40 };
  pthread_t threads[CROWD], one;
  pthread_barrier_init(&all, NULL, CROWD);
  for (int i = 0; i < CROWD; i++)
    pthread_create(&threads[i], NULL, join_crowd, NULL);
  for (int i = 0; i < CROWD; i++)
    pthread_join(threads[i], NULL);
  pthread_create(&one, NULL, come_later, NULL); // they have given theirs back
  pthread_join(one, NULL);
}

// The lowest descriptors are free, as the program expects them, and no counter is read from its
// own files, which take all numbers.
static void close_all(void) {
  char text[64];
  int files[64], count = 0, file = open("/dev/null", O_RDONLY);
  check(file == 3, "the lowest descriptor");
  closefrom(3);
  for (int ends[2]; count < 60 && pipe(ends) == 0; count += 2) {
    files[count] = ends[0];
    files[count + 1] = ends[1];
    check(write(ends[1], "0123456789abcdef", 16) == 16, "write");
  }
  visit(&closed, 5);
  for (int i = 0; i < count; i += 2)
    check(read(files[i], text, sizeof text) == 16, "read");
}

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &limit);
  memory = mmap(NULL, 1 << 22, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, 1 << 22, MADV_NOHUGEPAGE);
  visit(&mutex, 11);
  gather();
  pthread_mutex_lock(&held);
  if (fork() == 0) {
    pthread_mutex_unlock(&held);
    visit(&mutex, 7);
    exit(0);
  }
  pthread_mutex_unlock(&held);
  wait(NULL);
  close_all();
  return 0;
}
