// SPDX-License-Identifier: MIT
// Lock wrappers: a global's, a parameter's, and a field of a parameter's. Their callers' sections
// delegate; static wrappers that nobody uses any more go.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// CHECK-NOT:  static void {{(un)?}}lock_
// CHECK:        relock_execute_any_thread(&global, count_section, NULL);
// CHECK:        relock_execute_any_thread(&global, count_again_section, NULL);
// CHECK:        relock_execute_any_thread(&box->lock, put_section, &section);
// CHECK:        relock_execute_any_thread({{.*}}boxes[1]{{.*}}lock, put_second_section, &section);
// COUNTS-DAG: stats: box.lock held=0 executed=2
// COUNTS-DAG: stats: global held=0 executed=2
#include <pthread.h>
#include <stdio.h>

struct box {
  pthread_mutex_t lock;
  int content;
};
static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
static struct box boxes[2] = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static int calls;

static void lock_all(void) { pthread_mutex_lock(&global); }
static void unlock_all(void) { pthread_mutex_unlock(&global); }
static void lock_this(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
static void unlock_this(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }
static void lock_box(struct box *b) { pthread_mutex_lock(&b->lock); }
static void unlock_box(struct box *b) { pthread_mutex_unlock(&b->lock); }

static void count(void) {
  lock_all();
  calls++;
  unlock_all();
}

static void count_again(void) {
  lock_this(&global);
  calls++;
  unlock_this(&global);
}

static void put(struct box *box, int content) {
  lock_box(box);
  box->content += content;
  unlock_box(box);
}

static void put_second(int content) {
  lock_box(&boxes[1]);
  boxes[1].content += content;
  unlock_box(&boxes[1]);
}

int main(void) {
  count();
  count_again();
  put(boxes, 3);
  put_second(4);
  printf("%d %d %d\n", calls, boxes[0].content, boxes[1].content);
  return 0;
}
