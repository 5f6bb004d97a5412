// SPDX-License-Identifier: MIT
// Mutexes behind pointers: allocation sizes, locals, parameters and results change with the class
// that flows into them.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static relock_mutex_t *locks;
// CHECK:      static relock_mutex_t *pick(unsigned hash) { return &locks[hash % COUNT]; }
// CHECK-NEXT: static void hold(relock_mutex_t *mutex) { relock_mutex_lock(mutex); calls++; }
// CHECK:        relock_mutex_t *lock = pick(hash);
// CHECK:        locks = calloc(COUNT, sizeof(relock_mutex_t));
// CHECK-NEXT:   for (int i = 0; i < COUNT; i++)
// CHECK-NEXT:     relock_mutex_init(&locks[i], NULL, RELOCK_CLASS(locks));
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 4
static pthread_mutex_t *locks;
static int slots[COUNT], calls;

static pthread_mutex_t *pick(unsigned hash) { return &locks[hash % COUNT]; }
static void hold(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); calls++; }

static void add(unsigned hash) {
  pthread_mutex_t *lock = pick(hash);
  pthread_mutex_lock(lock);
  slots[hash % COUNT]++;
  pthread_mutex_unlock(lock);
}

int main(void) {
  locks = calloc(COUNT, sizeof(pthread_mutex_t));
  for (int i = 0; i < COUNT; i++)
    pthread_mutex_init(&locks[i], NULL);
  for (unsigned hash = 0; hash < 10; hash++)
    add(hash);
  hold(pick(1));
  pthread_mutex_unlock(pick(1));
  printf("%d %d %d %d %d\n", slots[0], slots[1], slots[2], slots[3], calls);
  free(locks);
  return 0;
}
