// SPDX-License-Identifier: MIT
// A macro that makes text of one argument leaves the others as they are, and `, ##__VA_ARGS__` makes
// none: it drops the comma. An argument is text where it is in any use of its parameter, in the
// macro or in one to which it is given. A name that a macro pastes is none of a macro if no macro's
// begins as it does. A static variable is seen by others, so that no local can stand for it.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static int logged_section(void *context) {
// CHECK:        LOG("result %d", *section->result);
// CHECK:      static int named_section(void *context) {
// CHECK:        NAMED(total, *section->result);
// CHECK:      static int passed_section(void *context) {
// CHECK:        PASSED(total, *section->result);
// CHECK:      static int asserted_section(void *context) {
// CHECK:        CHECKED(*section->result);
// REASON:      delegate straight logged
// REASON-NEXT: delegate straight named
// REASON-NEXT: delegate straight passed
// REASON-NEXT: delegate straight asserted
// REASON-NEXT: delegate straight of_one_type
// REASON: hold straight text
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight inner
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight rest
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight pasted
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight selected
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight called
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight of_a_type_that_shows
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight shown_besides
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
// REASON: hold straight of_any_name
// REASON-NEXT: 'result' is named{{.*}} [macro-reference]
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#define LOG(format, ...) printf(format "\n", ##__VA_ARGS__)
#define NAMED(name, value) printf("%s=%d\n", #name, value)
#define PASSED(name, value) NAMED(name, (value) + 1)
#define CHECKED(value) do { assert(total > 0); total += (value); } while (0)
#define SHOW(x) printf("%s=%d\n", #x, x)
#define GIVEN(name, value) NAMED(value, name)
#define REST(...) NAMED(__VA_ARGS__)
#define PASTED(x) (total += x, puts("" #x))
#define JOIN(a, b) a##b
#define SELECTED(x) JOIN(SH, OW)(x)
#define SHOW_IT SHOW
#define CALLED(x) SHOW_IT(x)
#define PUT(type, to, value) put_##type(to, value)
#define SET(type, to, value) set_##type(to, value)
#define set_shown(to, value) (*(to) = (value), puts(#value))
#define BOTH(type, value) (total += (value), show_##type(value))
#define show_text(value) puts(#value)
#define ANY(type, to, value) type##_put(to, value)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int logged(int n) {
  int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  LOG("result %d", result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int named(int n) {
  int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  NAMED(total, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int passed(int n) {
  int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  PASSED(total, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int asserted(int n) {
  int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  CHECKED(result);
  pthread_mutex_unlock(&lock);
  return result;
}

static void put_long(int *to, int value) { *to = value; }
static void set_long(int *to, int value) { *to = value; }
static void long_put(int *to, int value) { *to = value; }
static int of_one_type(int n) {
  int result, more;
  pthread_mutex_lock(&lock);
  PUT(long, &result, total += n);
  PUT(long, &more, result);
  pthread_mutex_unlock(&lock);
  return result + more;
}

static int text(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  SHOW(result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int inner(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  GIVEN(total, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int rest(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  REST(result, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int pasted(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  PASTED(result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int selected(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  SELECTED(result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int called(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  CALLED(result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int of_a_type_that_shows(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  SET(long, &result, total += n);
  SET(shown, &total, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int shown_besides(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  result = total += n;
  BOTH(text, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int of_any_name(int n) {
  static int result;
  pthread_mutex_lock(&lock);
  ANY(long, &result, total += n);
  pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  int sum = logged(1) + named(2) + passed(3) + asserted(4) + text(5) + inner(6) + rest(7) +
            pasted(8) + selected(9) + called(10) + of_one_type(11) +
            of_a_type_that_shows(12) + of_any_name(13) + shown_besides(14);
  printf("%d %d\n", sum, total);
  return 0;
}
