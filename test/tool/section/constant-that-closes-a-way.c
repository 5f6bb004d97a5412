// SPDX-License-Identifier: MIT
// A constant that travels in the context is none for the compiler of the result: what is needed on a
// way that the constant closes is a field of the context, too, so that no warning comes up.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct count_section {
// CHECK:        unsigned int i;
// CHECK:      for (section->i = 0; section->i < 2; section->i++) {
// CHECK-NEXT:   counted++;
// CHECK-NEXT:   RELOCK_RETURN_TO(&section->resume, 1);
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned counted, seen;

static void count(void) {
  const unsigned flags = 3;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < 2; i++) {
    counted++;
    pthread_mutex_unlock(&lock);
    seen++;
    pthread_mutex_lock(&lock);
    if (flags & 1u)
      break;
  }
  pthread_mutex_unlock(&lock);
}

int main(void) {
  for (int i = 0; i < 3; i++)
    count();
  printf("%u %u\n", counted, seen);
  return 0;
}
