// SPDX-License-Identifier: MIT
// What a section sets errno to is what its function reads behind it, whoever ran the section.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:        errno = 0;
// CHECK-NEXT:   struct open_section section = {.n = n};
// CHECK-NEXT:   relock_execute(&lock, open_section, &section);
// CHECK-NEXT:   return errno;
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int open(int n) {
  errno = 0;
  pthread_mutex_lock(&lock);
  total += n;
  if (n % 2)
    errno = ENOENT;
  else if (errno != 0)
    total = -1000000;
  pthread_mutex_unlock(&lock);
  return errno;
}

static void *run(void *result) {
  for (int i = 0; i < 2000; i++)
    if (open(i) != (i % 2 ? ENOENT : 0))
      ++*(int *)result;
  return NULL;
}

int main(void) {
  pthread_t thread[3];
  int wrong[3] = {0};
  for (int i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, run, &wrong[i]);
  for (int i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
  printf("%d %d\n", wrong[0] + wrong[1] + wrong[2], total);
  return 0;
}
