// SPDX-License-Identifier: MIT
// A section that waits and captures nothing: where it goes on is all of its context.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int pass_section(void *context) {
// CHECK-NEXT:   relock_resume_t *resume = context;
// CHECK-EMPTY:
// CHECK-NEXT:   switch (resume->at) {
// CHECK-NEXT:   case 0:
// CHECK-NEXT:     while (turn != 1)
// CHECK-NEXT:       RELOCK_COND_WAIT(resume, &changed, 1);
// CHECK-NEXT:     turn = 0;
// CHECK-NEXT:     relock_cond_signal(&changed);
// CHECK-NEXT:   }
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK:      static void pass(void) {
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT:   relock_execute_resumable_any_thread(&lock, pass_section, &resume, &resume);
// CHECK-NEXT: }
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, rounds;

static void pass(void) {
  pthread_mutex_lock(&lock);
  while (turn != 1)
    pthread_cond_wait(&changed, &lock);
  turn = 0;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void give(void) {
  pthread_mutex_lock(&lock);
  while (turn != 0)
    pthread_cond_wait(&changed, &lock);
  turn = 1;
  rounds++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void *other(void *unused) {
  for (int i = 0; i < 500; i++)
    give();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  for (int i = 0; i < 500; i++)
    pass();
  pthread_join(thread, NULL);
  printf("%d %d\n", turn, rounds);
  return 0;
}
