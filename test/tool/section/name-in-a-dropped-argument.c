// SPDX-License-Identifier: MIT
// A variable that only the argument of an empty macro names is an input, where nothing in the
// section can change it: the text compiles in a configuration that uses it, too.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-DNDEBUG -Wno-unused-but-set-variable -Wno-unused-variable -Wno-unused-parameter'
// RUN: %verdicts %s -DNDEBUG | FileCheck %s
// RUN: %rewritten %s -- -DNDEBUG > %t.all && sed '/^==> relock/,$d; /^relock:/d; /^==>/d' %t.all > %t.c
// RUN: FileCheck %s --check-prefix=TEXT < %t.c
// RUN: mkdir -p %t.d && sed '1,/^==> relock/d' %t.all > %t.d/relock_locks.h
// RUN: %cc -Wall -Wextra -Werror -Wno-unused-but-set-variable -DTRACED -I %t.d -I %include %t.c %librelock -lpthread -o %t.exe && %t.exe | FileCheck %s --check-prefix=OUTPUT
// CHECK:      delegate straight parameter
// CHECK-NEXT: delegate straight assigned
// CHECK-NEXT: hold straight unset
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight jumped_to
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight stored
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight shared
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight asserted
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight alone
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: hold straight copied
// CHECK-NEXT: 'key' is named in text that this configuration drops [macro-reference]
// CHECK-NEXT: delegate straight member
// TEXT:      struct parameter_section {
// TEXT-NEXT:   int n;
// TEXT-NEXT:   const char *key;
// TEXT-NEXT:   int length;
// TEXT-NEXT: };
// TEXT:        total += section->n;
// TEXT-NEXT:   TRACE(section->key, section->length);
// TEXT:        {.n = n, .key = key, .length = length};
// OUTPUT:      fox 3
// OUTPUT-NEXT: dog 1
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#ifdef TRACED
#define TRACE(key, length) printf("%s %d\n", key, length)
#else
#define TRACE(key, length)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void parameter(const char *key, int length, int n) {
  pthread_mutex_lock(&lock);
  total += n;
  TRACE(key, length);
  pthread_mutex_unlock(&lock);
}

static void assigned(int n) {
  const char *key;
  do {
    key = "dog";
    if (n > 2)
      break;
    pthread_mutex_lock(&lock);
    total += n;
    TRACE(key, 1);
    pthread_mutex_unlock(&lock);
  } while (n++ < 1);
}

static void unset(int n) {
  const char *key;
  if (n > 4)
    key = "cat";
  pthread_mutex_lock(&lock);
  total += n;
  TRACE(n > 4 ? key : "cow", 1);
  pthread_mutex_unlock(&lock);
}

static void jumped_to(int n) {
  const char *key;
  if (n > 4)
    goto out;
  key = "cat";
out:
  total--;
  pthread_mutex_lock(&lock);
  total += n;
  TRACE(n > 4 ? "" : key, 1);
  pthread_mutex_unlock(&lock);
}

static void stored(const char *key, int n) {
  pthread_mutex_lock(&lock);
  total += n;
  TRACE(key = "cat", n);
  pthread_mutex_unlock(&lock);
}

static void set(const char **key) { *key = "owl"; }

static void shared(const char *key, int n) {
  const char **where = &key;
  pthread_mutex_lock(&lock);
  total += n;
  set(where);
  TRACE(key, n);
  pthread_mutex_unlock(&lock);
}

static void asserted(const char *key, int n) {
  pthread_mutex_lock(&lock);
  total += n;
  assert(key);
  pthread_mutex_unlock(&lock);
}

static void alone(const char *key) {
  pthread_mutex_lock(&lock);
  total++;
  TRACE(key, 0);
  pthread_mutex_unlock(&lock);
}

static void copied(const char *key, int n) {
  pthread_mutex_lock(&lock);
  total += n + *key;
  TRACE(key++, n);
  pthread_mutex_unlock(&lock);
}

static void member(const int *pair, int n) {
  pthread_mutex_lock(&lock);
  total += n * pair[1];
  TRACE("two", *&pair[1]);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  parameter("fox", 3, 1);
  assigned(2);
  unset(1);
  jumped_to(1);
  stored("cat", 1);
  shared("cat", 1);
  asserted("cat", 1);
  alone("cat");
  copied("cat", 1);
  member((const int[]){1, 2}, 1);
  fflush(stdout);
  return total == 110 ? 0 : 1;
}
