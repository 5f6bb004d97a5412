// SPDX-License-Identifier: MIT
// `relock profile --pid` shows what a program that runs has done between two moments, or so far,
// also if something else has started it; one that is not recorded is refused.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %python %S/Inputs/window.py %relock %t
// RUN: %python %S/Inputs/expect.py %t.window \
// RUN:   'lock("mutex")["acquisitions"] == 1013 and lock("mutex")["hold"]["count"] == 1013' \
// RUN:   'lock("mutex")["hold"]["max_ns"] < 150 * MS' \
// RUN:   'lock("kept")["acquisitions"] == 0 and lock("kept")["held_at_end"] == 1' \
// RUN:   'lock("heap.lock")["acquisitions"] == 5 + 5 and lock("new")["acquisitions"] == 3' \
// RUN:   'not any(c["name"] == "earlier" for c in profile["classes"])' \
// RUN:   'lock("inner")["acquisitions"] == 11 and inside("inner", "mutex") == 11' \
// RUN:   'wait("semaphore")["signals"] == 7' \
// RUN:   'lock("rwlock")["readers"]["acquisitions"] == 13' \
// RUN:   'profile["threads"] == 2 and profile["program"]["ended"] == "running"' \
// RUN:   'profile["program"]["command"][0].endswith("window.c.tmp")' \
// RUN:   '0 < profile["section_ns"] <= profile["thread_ns"] <= 2 * profile["duration_ns"]' \
// RUN:   'profile["duration_ns"] >= 100 * MS'
// RUN: %python %S/Inputs/expect.py %t.so-far \
// RUN:   'lock("mutex")["acquisitions"] == 997 + 1013 and lock("earlier")["acquisitions"] == 17' \
// RUN:   'lock("heap.lock")["acquisitions"] == 5 + 5 + 5 and lock("kept")["acquisitions"] >= 1'
// RUN: %python %S/Inputs/expect.py %t.last \
// RUN:   'lock("mutex")["acquisitions"] == 991 and profile["program"]["ended"] == "exit"'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct heap {
  pthread_mutex_t lock;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER,
                       earlier = PTHREAD_MUTEX_INITIALIZER, new = PTHREAD_MUTEX_INITIALIZER,
                       inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

__attribute__((noinline)) static void visit(pthread_mutex_t *lock, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
  }
}

static struct heap *make(void) {
  struct heap *heap = malloc(sizeof *heap);
  pthread_mutex_init(&heap->lock, NULL);
  return heap;
}

static void destroy(struct heap *heap) {
  pthread_mutex_destroy(&heap->lock);
  free(heap);
}

/* Says where it is, and goes on when that is heard. */
static void pause_at(const char *step) {
  char line[8];
  puts(step);
  if (!fgets(line, sizeof line, stdin))
    exit(9);
}

static void *idle(void *argument) {
  pthread_mutex_lock(&kept);
  pause();
  return argument;
}

int main(void) {
  struct heap *old = make(), *fresh;
  pthread_t thread;
  setvbuf(stdout, NULL, _IOLBF, 0);
  sem_init(&semaphore, 0, 0);
  pthread_create(&thread, NULL, idle, NULL);
  visit(&mutex, 996);
  pthread_mutex_lock(&mutex);
  usleep(200 * 1000); /* longer than any hold of the window */
  pthread_mutex_unlock(&mutex);
  visit(&earlier, 17);
  visit(&old->lock, 5);
  sem_post(&semaphore);
  while (pthread_mutex_trylock(&kept) == 0)
    pthread_mutex_unlock(&kept);
  pause_at("before");
  visit(&mutex, 1002);
  for (int i = 0; i < 11; i++) {
    pthread_mutex_lock(&mutex);
    visit(&inner, 1);
    pthread_mutex_unlock(&mutex);
  }
  visit(&old->lock, 5);
  destroy(old);
  fresh = make();
  visit(&fresh->lock, 5);
  visit(&new, 3);
  for (int i = 0; i < 7; i++)
    sem_post(&semaphore);
  for (int i = 0; i < 13; i++) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
  }
  pause_at("after");
  pause_at("last");
  visit(&mutex, 991);
  return 0;
}
