// SPDX-License-Identifier: MIT
// A mutex that goes through local variables and parameters of type `void *` is followed: a token
// that a function tries to take and another one gives back. One whose token also goes elsewhere, or
// comes from elsewhere, is kept.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      callback_lock ({{.*}}): keep
// CHECK-NEXT: reaches 'by_address', whose address is taken [indirect-call]
// CHECK:      kept_lock ({{.*}}): keep
// CHECK-NEXT: is used in a way that is not followed [unknown-use]
// CHECK:      mixed_lock ({{.*}}): keep
// CHECK-NEXT: mixes with a pointer that is not followed [pointer-cast]
// CHECK:      token_locks ({{.*}}): convert
// CHECK-NEXT: hold try take_token
// CHECK:      delegate straight in_turn
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static pthread_mutex_t token_locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mixed_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *somewhere;

static void *take_token(int n) {
  pthread_mutex_t *lock = &token_locks[n & 1];
  if (pthread_mutex_trylock(lock) == 0)
    return lock;
  return NULL;
}

static void drop_token(void *token) { pthread_mutex_unlock((pthread_mutex_t *)token); }

static int try_it(int n) {
  void *token = NULL;
  if ((token = take_token(n)) == NULL)
    return 0;
  total++;
  if (token)
    drop_token(token);
  return 1;
}

static void in_turn(void) {
  pthread_mutex_lock(&token_locks[0]);
  total += 2;
  pthread_mutex_unlock(&token_locks[0]);
}

static void keep(void *token) { somewhere = token; }

static void keep_one(void) {
  pthread_mutex_lock(&kept_lock);
  keep(&kept_lock);
  pthread_mutex_unlock(&kept_lock);
}

static void drop_mixed(void *token) {
  if (token != (void *)&total)
    pthread_mutex_unlock((pthread_mutex_t *)token);
}

static void mix(void) {
  pthread_mutex_lock(&mixed_lock);
  drop_mixed(&mixed_lock);
  drop_mixed(&total);
}

static void by_address(void *token) { pthread_mutex_unlock((pthread_mutex_t *)token); }

static void call(void (*function)(void *), void *argument) { function(argument); }

static void back(void) {
  pthread_mutex_lock(&callback_lock);
  by_address(&callback_lock);
  call(by_address, pthread_mutex_trylock(&callback_lock) == 0 ? (void *)&callback_lock : NULL);
}

int main(void) {
  int taken = 0;
  for (int i = 0; i < 4; i++)
    taken += try_it(i);
  in_turn();
  keep_one();
  mix();
  back();
  printf("%d %d %d\n", total, taken, somewhere != NULL);
  return 0;
}
