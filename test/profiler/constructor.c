// SPDX-License-Identifier: MIT
// Locks taken before main, after main and by the destructor of a thread's data are recorded.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("before")["acquisitions"] == 11' \
// RUN:   'lock("after")["acquisitions"] == 7' \
// RUN:   'lock("thread")["acquisitions"] == 5' 'profile["threads"] == 2'
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t after = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t thread = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

static void visit(pthread_mutex_t *mutex, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
}

static void end_thread(void *value) {
  (void)value;
  visit(&thread, 5);
}

static void *set(void *argument) {
  pthread_setspecific(key, &key);
  return argument;
}

__attribute__((constructor)) static void begin(void) { visit(&before, 11); }
__attribute__((destructor)) static void end(void) { visit(&after, 7); }

int main(void) {
  pthread_t id;
  pthread_key_create(&key, end_thread);
  pthread_create(&id, NULL, set, NULL);
  return pthread_join(id, NULL);
}
