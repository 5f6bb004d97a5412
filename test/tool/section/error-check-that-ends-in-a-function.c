// SPDX-License-Identifier: MIT
// A failure of a mutex that checks errors may go to a function of the program that ends the process, as it may go to
// abort(): with its message, which is a matter of taste. Not to one that jumps away, or whose end nobody sees.
// RUN: %verdicts %s | FileCheck %s
// RUN: %program %s %t && cd %t && printf 'version: 1\naccept: [lock-message]\n' > relock.yaml
// RUN: (%relock check -p build; true) | FileCheck %s --check-prefix=ACCEPTED
// CHECK:      hold straight ends (
// CHECK-NEXT:   {{.*}}: prints a message about the lock operation [lock-message]
// CHECK-NEXT: hold {{.*}} jumps (
// CHECK-NEXT:   {{.*}}: the result of the lock operation is used, and the mutex may check errors ({{.*}}) [tested-result]
// CHECK-NEXT: hold {{.*}} elsewhere (
// CHECK-NEXT:   {{.*}}: the result of the lock operation is used, and the mutex may check errors ({{.*}}) [tested-result]
// ACCEPTED:   delegate straight ends (
// ACCEPTED:   hold {{.*}} jumps (
// ACCEPTED:   hold {{.*}} elsewhere (
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t l;
static jmp_buf again;
static int n;
__attribute__((noreturn)) void somewhere(const char *what, int error);
__attribute__((noreturn)) void die(const char *what, int error)
{
  fprintf(stderr, "%s: %d\n", what, error);
  abort();
}
__attribute__((noreturn)) void retry(const char *what, int error)
{
  fprintf(stderr, "%s: %d\n", what, error);
  longjmp(again, error);
}
#define CHECK(end, call)                                                                           \
  do {                                                                                             \
    int error;                                                                                     \
    if ((error = (call)) != 0)                                                                     \
      end(#call, error);                                                                           \
  } while (0)
void ends(void)
{
  CHECK(die, pthread_mutex_lock(&l));
  n++;
  CHECK(die, pthread_mutex_unlock(&l));
}
void jumps(void)
{
  CHECK(retry, pthread_mutex_lock(&l));
  n--;
  CHECK(retry, pthread_mutex_unlock(&l));
}
void elsewhere(void)
{
  CHECK(somewhere, pthread_mutex_lock(&l));
  n *= 2;
  CHECK(somewhere, pthread_mutex_unlock(&l));
}
int main(void)
{
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&l, &a);
  if (setjmp(again) == 0)
    jumps();
  ends();
  elsewhere();
  return 0;
}
