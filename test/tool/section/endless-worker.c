// SPDX-License-Identifier: MIT
// A section need not end: a worker's loop only releases its lock for a while, and behind the last
// way out of a search stands a call that never returns.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate waiting {{ *}}serve
// CHECK-NEXT: delegate waiting {{ *}}serve
// CHECK-NEXT: delegate waiting {{ *}}drain
// CHECK-NEXT: delegate waiting {{ *}}drain
// CHECK-NEXT: delegate early-exit {{ *}}search
// CHECK-NEXT: delegate early-exit {{ *}}choose
// CHECK-NEXT: delegate early-exit {{ *}}find
// CHECK-NEXT: hold {{ *}}cross-function die
// CHECK-NEXT:   is not unlocked in this function{{.*}} [cross-function]
// CHECK-NEXT: hold {{ *}}waiting {{ *}}leaves
// CHECK-NEXT:   waits on a condition variable [waiting]
// CHECK-NEXT: hold {{ *}}waiting {{ *}}leaves
// CHECK:      delegate waiting {{ *}}ask
// TEXT:      static void *serve(void *unused) {
// TEXT-NEXT:   relock_resume_t resume = {0};
// TEXT-NEXT:   for (;;) {
// TEXT-NEXT:     relock_execute_resumable{{[a-z_]*}}(&lock, serve_section, &resume,
// TEXT:          work();
// TEXT-NEXT:   }
// TEXT-NEXT:   return unused;
// TEXT-NEXT: }
// STATS: stats: lock {{.*}}executed={{[1-9]}}
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int wanted, answered, worked, others;

static void work(void) { __atomic_add_fetch(&worked, 1, __ATOMIC_RELAXED); }

static void *serve(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!wanted)
      pthread_cond_wait(&asked, &lock);
    wanted--;
    pthread_mutex_unlock(&lock);
    work();
    pthread_mutex_lock(&lock);
    answered++;
    pthread_cond_broadcast(&done);
  }
  return unused;
}

static void *drain(void *unused) {
  pthread_mutex_lock(&lock);
  while (1) {
    while (others) {
      others--;
      pthread_mutex_unlock(&lock);
      work();
      pthread_mutex_lock(&lock);
      answered++;
    }
    pthread_cond_broadcast(&done);
    pthread_cond_wait(&asked, &lock);
  }
  return unused;
}

static int search(const int *table, int size, int key) {
  int found;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < size; i++)
    if (table[i] == key) {
      found = i;
      pthread_mutex_unlock(&lock);
      return found;
    }
  abort();
}

static int choose(int kind) {
  pthread_mutex_lock(&lock);
  switch (kind) {
  case 0:
    answered += 0;
    pthread_mutex_unlock(&lock);
    return 1;
  case 1:
    answered -= 0;
    pthread_mutex_unlock(&lock);
    return 2;
  }
  exit(3);
}

__attribute__((noreturn)) static void leave(int status) { exit(status); }
static __attribute__((noreturn)) void (*failed)(int) = leave;

int find(int kind) {
  pthread_mutex_lock(&lock);
  while (kind-- > 0) {
    if (answered >= 0) {
      pthread_mutex_unlock(&lock);
      return kind;
    }
  }
  failed(3);
}

void die(void) {
  pthread_mutex_lock(&lock);
  answered = 0;
  abort();
}

// It returns with the lock held.
void *leaves(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!wanted)
      pthread_cond_wait(&asked, &lock);
    if (wanted < 0)
      return unused;
    pthread_mutex_unlock(&lock);
    work();
    pthread_mutex_lock(&lock);
  }
}

static void ask(int n) {
  pthread_mutex_lock(&lock);
  wanted += n;
  others += n;
  pthread_cond_broadcast(&asked);
  while (answered < 2 * n)
    pthread_cond_wait(&done, &lock);
  answered = 0;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  pthread_t thread;
  const int table[] = {7, 8, 9};
  pthread_create(&thread, NULL, serve, NULL);
  pthread_create(&thread, NULL, serve, NULL);
  pthread_create(&thread, NULL, drain, NULL);
  for (int i = 0; i < 20; i++)
    ask(5);
  printf("%d %d %d\n", worked, search(table, 3, 9), choose(0) + choose(1));
  return 0;
}
