// SPDX-License-Identifier: MIT
// A section that releases its lock and takes it again holds where the work between cannot become
// the body of a loop in the caller, or where the section cannot be entered again behind it. Then
// the second lock holds with it.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, outside;

// The break would leave the caller's loop.
// CHECK:      hold split breaks
// CHECK-NEXT: takes the same lock again here [split]
static void breaks(void) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (total < 3) {
      total++;
      pthread_mutex_unlock(&lock);
      if (outside++ > 50)
        return;
      pthread_mutex_lock(&lock);
    }
    if (total < 6) {
      total++;
      pthread_mutex_unlock(&lock);
      if (outside++ > 2)
        break;
      pthread_mutex_lock(&lock);
    }
    total++;
    pthread_mutex_unlock(&lock);
  }
}

// A case cannot be entered from outside of its switch.
// CHECK:      hold split switches
// CHECK-NEXT: releases the lock in a switch, behind which it cannot be continued [loop-carried]
// CHECK-NEXT: hold split switches
// CHECK-NEXT: goes on with the section that is begun here, which holds [continued]
static void switches(int n) {
  pthread_mutex_lock(&lock);
  switch (n) {
  case 1:
    total++;
    pthread_mutex_unlock(&lock);
    outside++;
    pthread_mutex_lock(&lock);
  }
  total++;
  pthread_mutex_unlock(&lock);
}

// The variable is the work's, and the section's behind it.
// CHECK:      hold loop-carried declares
// CHECK-NEXT: 'got' is declared where the section has released its lock, and used behind that
// CHECK:      goes on with {{.*}} [continued]
static void declares(int n) {
  pthread_mutex_lock(&lock);
  while (n-- > 0) {
    pthread_mutex_unlock(&lock);
    int got = outside++;
    pthread_mutex_lock(&lock);
    total += got;
  }
  pthread_mutex_unlock(&lock);
}

// The section never ends, nor does what it goes on behind.
// CHECK: hold loop-carried forever
static void *forever(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    total++;
    pthread_mutex_unlock(&lock);
    pthread_exit(unused);
    pthread_mutex_lock(&lock);
  }
}

int main(void) {
  pthread_t thread;
  breaks();
  switches(1);
  declares(2);
  pthread_create(&thread, NULL, forever, NULL);
  pthread_join(thread, NULL);
  printf("%d %d\n", total, outside);
  return 0;
}
