// SPDX-License-Identifier: MIT
// A variable of the section that only text behind it names, in another configuration, is an output:
// that configuration compiles and computes the same.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wno-unused-but-set-variable -Wno-unused-variable'
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s > %t.all && sed '/^==> relock/,$d; /^relock:/d; /^==>/d' %t.all > %t.c
// RUN: FileCheck %s --check-prefix=TEXT < %t.c
// RUN: mkdir -p %t.d && sed '1,/^==> relock/d' %t.all > %t.d/relock_locks.h
// RUN: %cc -Wall -Wextra -Werror -DCHECKED -I %t.d -I %include %t.c %librelock -lpthread -o %t.exe && %t.exe | FileCheck %s --check-prefix=OUTPUT
// CHECK:      delegate straight declared
// CHECK-NEXT: delegate straight before
// CHECK-NEXT: delegate straight changed
// CHECK-NEXT: delegate straight conditional
// CHECK-NEXT: delegate early-exit block
// CHECK-NEXT: delegate early-exit tail
// CHECK-NEXT: delegate straight around
// CHECK-NEXT: hold straight local
// CHECK-NEXT: 'x' is declared in the section and named after it in text that this configuration drops [declaration-outlives]
// CHECK-NEXT: delegate straight apart
// TEXT:       declared{{_}}section(void *context) {
// TEXT-NEXT:    int *x = context;
// TEXT:       declared(void) {
// TEXT-NEXT:    int x;
// TEXT-NEXT:    relock_execute_any_thread(&lock, declared{{_}}section, &x);
// TEXT-NEXT:    CHECK(x > 0);
// TEXT:       around(int n) {
// TEXT-NEXT:    int x = 0;
// TEXT:       apart{{_}}section(void *context) {
// TEXT-NEXT:    struct x *other = context;
// TEXT-NEXT:    int x;
// OUTPUT:      x > 0
// OUTPUT-NEXT: x > 1
// OUTPUT-NEXT: n == 4
// OUTPUT-NEXT: 3
// OUTPUT-NEXT: x > 3
// OUTPUT-NEXT: x > 4
// OUTPUT-NEXT: n || x == 5
// OUTPUT-NEXT: n || x == 5
// OUTPUT-NEXT: x.a == 6
// OUTPUT-NEXT: x
#include <pthread.h>
#include <stdio.h>
#ifdef CHECKED
#define CHECK(c) printf("%s%s\n", (c) ? "" : "not ", #c)
#else
#define CHECK(c)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count = 1;

static void declared(void) {
  pthread_mutex_lock(&lock);
  int x = count++;
  count += x - 1;
  pthread_mutex_unlock(&lock);
  CHECK(x > 0);
}

static void before(void) {
  int x;
  pthread_mutex_lock(&lock);
  x = count++;
  count += x - 2;
  pthread_mutex_unlock(&lock);
  CHECK(x > 1);
}

static void changed(int n) {
  pthread_mutex_lock(&lock);
  n--;
  count += n - 4;
  pthread_mutex_unlock(&lock);
  CHECK(n == 4);
}

static void conditional(void) {
  pthread_mutex_lock(&lock);
  int x = count++;
  count += x - 3;
  pthread_mutex_unlock(&lock);
#ifdef CHECKED
  printf("%d\n", x);
#endif
}

static int block(void) {
  pthread_mutex_lock(&lock);
  {
    int x = count++;
    int y = x + 1;
    count += x - 4;
    pthread_mutex_unlock(&lock);
    CHECK(x > 3);
    return y;
  }
}

static int tail(void) {
  pthread_mutex_lock(&lock);
  int x = count;
  if (x > 2) {
    pthread_mutex_unlock(&lock);
    CHECK(x > 4);
    return 7;
  }
  count += x;
  pthread_mutex_unlock(&lock);
  return 1;
}

static void around(int n) {
  int x = 0;
  while (n--) {
    CHECK(n || x == 5);
    pthread_mutex_lock(&lock);
    x = count;
    count += x - 5;
    pthread_mutex_unlock(&lock);
  }
}

static void local(void) {
  pthread_mutex_lock(&lock);
  struct {
    int a;
  } x = {++count};
  count += x.a - 6;
  pthread_mutex_unlock(&lock);
  CHECK(x.a == 6);
}

struct x {
  int y;
};

static void apart(struct x *other) {
  {
    int x = 1;
    CHECK(x);
    (void)other;
  }
  {
    int x;
    pthread_mutex_lock(&lock);
    x = other->y;
    count += x;
    pthread_mutex_unlock(&lock);
    struct x *same = other;
    (void)same;
  }
}

int main(void) {
  declared();
  before();
  changed(5);
  conditional();
  int y = block();
  int z = tail();
  around(2);
  local();
  apart(&(struct x){10});
  fflush(stdout);
  return y == 5 && z == 7 && count == 16 ? 0 : 1;
}
