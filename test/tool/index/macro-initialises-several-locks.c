// SPDX-License-Identifier: MIT
// A project's macro that is the whole initialiser of several locks does not make them one class: each
// declaration names its own, and the macro stays for those that do not convert.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// RUN: %rewritten %s | FileCheck %s
// RUN: %rewritten %s --lock alone=mcs | FileCheck %s --check-prefix=ONE
// VERDICT:    a ({{.*}}): convert
// VERDICT:    alone ({{.*}}): convert
// VERDICT:    argument ({{.*}}): convert
// VERDICT:    b ({{.*}}): convert
// VERDICT:    box.lock ({{.*}}): convert
// VERDICT:    named ({{.*}}): convert
// CHECK:      #define OS_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
// CHECK:      static os_mutex a = RELOCK_MUTEX_INITIALIZER(a), b = RELOCK_MUTEX_INITIALIZER(b);
// CHECK-NEXT: static relock_mutex_t alone = RELOCK_MUTEX_INITIALIZER(alone);
// CHECK-NEXT: static relock_mutex_t named = RELOCK_MUTEX_INITIALIZER(named);
// CHECK-NEXT: DECLARE(static relock_mutex_t argument = RELOCK_MUTEX_INITIALIZER(argument));
// CHECK:      static struct box boxes[2] = {
// CHECK-SAME:   {RELOCK_MUTEX_INITIALIZER(box_lock), 1}, {.n = 2, .lock = RELOCK_MUTEX_INITIALIZER(box_lock)}};
// CHECK:      static relock_cond_t go = RELOCK_COND_INITIALIZER;
// CHECK:      RELOCK_LOCK_CLASS(a, "a", "adaptive");
// CHECK:      RELOCK_LOCK_CLASS(b, "b", "adaptive");
// ONE:        #define OS_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
// ONE:        static os_mutex a = OS_MUTEX_INIT, b = OS_MUTEX_INIT;
// ONE-NEXT:   static relock_mutex_t alone = RELOCK_MUTEX_INITIALIZER(alone);
// ONE-NEXT:   static pthread_mutex_t named = NAMED_INIT("named");
#include <pthread.h>
#include <stdio.h>

#define OS_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define OUTER_INIT OS_MUTEX_INIT
#define NAMED_INIT(name) OS_MUTEX_INIT
#define OS_COND_INIT PTHREAD_COND_INITIALIZER
#define DECLARE(d) d
typedef pthread_mutex_t os_mutex;
struct box {
  pthread_mutex_t lock;
  int n;
};
static os_mutex a = OS_MUTEX_INIT, b = OS_MUTEX_INIT;
static pthread_mutex_t alone = OUTER_INIT;
static pthread_mutex_t named = NAMED_INIT("named");
DECLARE(static pthread_mutex_t argument = OS_MUTEX_INIT);
static struct box boxes[2] = {{OS_MUTEX_INIT, 1}, {.n = 2, .lock = OS_MUTEX_INIT}};
static pthread_cond_t go = OS_COND_INIT;
static int n;

static void add(void) {
  pthread_mutex_lock(&a);
  n++;
  pthread_mutex_unlock(&a);
  pthread_mutex_lock(&b);
  while (!n)
    pthread_cond_wait(&go, &b);
  n++;
  pthread_mutex_unlock(&b);
  pthread_mutex_lock(&alone);
  n++;
  pthread_mutex_unlock(&alone);
  pthread_mutex_lock(&named);
  n++;
  pthread_mutex_unlock(&named);
  pthread_mutex_lock(&argument);
  n++;
  pthread_mutex_unlock(&argument);
}

int main(void) {
  add();
  pthread_mutex_lock(&boxes[1].lock);
  n += boxes[1].n;
  pthread_mutex_unlock(&boxes[1].lock);
  printf("%d\n", n);
  return 0;
}
