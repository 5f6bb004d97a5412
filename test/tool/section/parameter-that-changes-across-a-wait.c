// SPDX-License-Identifier: MIT
// A parameter that the section changes keeps its new value across the wait: it is used in the context.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:          while (section->count > 0) {
// CHECK-NEXT:       while (stock == 0)
// CHECK-NEXT:         RELOCK_COND_WAIT(&section->resume, &changed, 1);
// CHECK-NEXT:       section->count--;
// CHECK-NEXT:       stock--;
// CHECK:        struct drain_section section = {.count = count};
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stock;

static void drain(int count) {
  pthread_mutex_lock(&lock);
  while (count > 0) {
    while (stock == 0)
      pthread_cond_wait(&changed, &lock);
    count--;
    stock--;
  }
  pthread_mutex_unlock(&lock);
}

static void add(void) {
  pthread_mutex_lock(&lock);
  stock++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void *other(void *unused) {
  for (int i = 0; i < 500; i++)
    add();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  drain(200);
  drain(299);
  pthread_join(thread, NULL);
  printf("%d\n", stock);
  return 0;
}
