// SPDX-License-Identifier: MIT
// A wrapper may return what a function of the unit makes of the operation's result, if that does no more for a
// success; an assertion may have a text beside it.
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      delegate straight converts (
// CHECK-NEXT: delegate straight asserts (
// CHECK-NEXT: delegate straight looks_up (
// CHECK-NEXT: hold straight counts (
// CHECK:      hold straight falls (
// CHECK:      hold straight repeats (
// TEXT-LABEL: int converts(void)
// TEXT-NEXT:  {
// TEXT-NEXT:    relock_execute_any_thread(&l, converts_section, NULL);
// TEXT-NEXT:    return 0;
// TEXT-LABEL: void asserts(void)
// TEXT-NEXT:  {
// TEXT-NEXT:    relock_execute_any_thread(&l, asserts_section, NULL);
// TEXT-NEXT:  }
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int a, b, c, d, e, f, failures, table[] = {7, 8};
enum status { OK, FAILED, TWICE };
int raise_error(int code)
{
  failures++;
  return code;
}
enum status status_of(int error)
{
  enum status result = OK;
  switch (error) {
  case 0:
  case EBUSY:
    break;
  case EDEADLK:
    return raise_error(TWICE);
  default:
    result = FAILED;
  }
  return result;
}
static enum status take(pthread_mutex_t *m) { return status_of(pthread_mutex_lock(m)); }
static enum status drop(pthread_mutex_t *m) { return status_of(pthread_mutex_unlock(m)); }
/* More than a number: it counts, … */
int counted(int error)
{
  switch (error) {
  default:
    failures++;
    /* fallthrough */
  case EINVAL:
    return error;
  }
}
static int take_counted(pthread_mutex_t *m) { return counted(pthread_mutex_lock(m)); }
/* … or falls through to what does. */
int falls_through(int error)
{
  switch (error) {
  case 0:
    error = OK;
    /* fallthrough */
  case EINVAL:
    failures++;
  }
  return error;
}
static int take_falling(pthread_mutex_t *m) { return falls_through(pthread_mutex_lock(m)); }
int repeated(int error)
{
  while (error)
    error = raise_error(error) - 1;
  return table[error];
}
static int take_repeated(pthread_mutex_t *m) { return repeated(pthread_mutex_lock(m)); }
int converts(void)
{
  if (take(&l) != OK)
    return -1;
  a++;
  drop(&l);
  return 0;
}
void asserts(void)
{
  assert(pthread_mutex_lock(&l) == 0 && "cannot lock");
  b++;
  assert(!drop(&l) && "cannot unlock");
}
void looks_up(void)
{
  take(&l);
  c += table[1];
  drop(&l);
}
void counts(void)
{
  take_counted(&l);
  d++;
  drop(&l);
}
void falls(void)
{
  take_falling(&l);
  e++;
  drop(&l);
}
void repeats(void)
{
  take_repeated(&l);
  f++;
  drop(&l);
}
int main(void)
{
  asserts();
  looks_up();
  counts();
  falls();
  repeats();
  return converts() || printf("%d %d %d %d %d %d %d\n", a, b, c, d, e, f, failures) < 0;
}
