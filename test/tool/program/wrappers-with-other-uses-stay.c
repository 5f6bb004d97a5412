// SPDX-License-Identifier: MIT
// Lock wrappers that all delegated callers have left stay where something else needs them: a
// function pointer, a prototype, text that this configuration skips.
// RUN: %check_rewrite %s --flags=-Wall
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static void enter(void) { relock_mutex_lock(&lock); }
// CHECK-NEXT: static void leave(void) { relock_mutex_unlock(&lock); }
// CHECK-NEXT: {{(__attribute__\(\(unused\)\) )?}}static void enter2(void) { relock_mutex_lock(&lock); }
// CHECK-NEXT: {{(__attribute__\(\(unused\)\) )?}}static void leave2(void) { relock_mutex_unlock(&lock); }
// CHECK:        relock_execute_any_thread(&lock, add_section, NULL);
// CHECK:      #ifdef STATS
// CHECK:        enter2();
// CHECK:        leave2();
// CHECK:        pthread_atfork(enter, leave, leave);
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void enter(void);
static void leave(void);
static void enter2(void);
static void leave2(void);
static void enter(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
static void enter2(void) { pthread_mutex_lock(&lock); }
static void leave2(void) { pthread_mutex_unlock(&lock); }
static void add(void) {
  enter2();
  total++;
  leave2();
}
#ifdef STATS
void stats(void) {
  enter2();
  printf("%d\n", total);
  leave2();
}
#endif
int main(void) {
  int status = 0;
  pthread_atfork(enter, leave, leave);
  add();
  if (fork() == 0) {
    add();
    _exit(total);
  }
  wait(&status);
  printf("%d %d\n", total, WEXITSTATUS(status));
  return 0;
}
