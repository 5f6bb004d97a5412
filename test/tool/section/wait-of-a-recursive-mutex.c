// SPDX-License-Identifier: MIT
// A recursive mutex may wait too: its owner is the client, and a wait of the outer holder's thread keeps
// the outer level, as with the C library.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static void get(void) {
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT:   relock_execute_resumable(&lock, get_section, &resume, &resume);
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stock;

static void get(void) {
  pthread_mutex_lock(&lock);
  while (stock == 0)
    pthread_cond_wait(&changed, &lock);
  stock--;
  pthread_mutex_unlock(&lock);
}

static void put(void) {
  pthread_mutex_lock(&lock);
  stock++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void *other(void *unused) {
  for (int i = 0; i < 500; i++)
    put();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  for (int i = 0; i < 500; i++)
    get();
  pthread_join(thread, NULL);
  printf("%d\n", stock);
  return 0;
}
