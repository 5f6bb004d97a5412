// SPDX-License-Identifier: MIT
// A section within another one that leaves both, or goes on with the outer one's loop; its results
// are used by the outer section and behind it; a local of the inner one moves with it.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static int turn_section2(void *context) {
// CHECK:          return 1;
// CHECK:          return 2;
// CHECK:      static int turn_section(void *context) {
// CHECK:        for (int i = 0; i < 3; i++) {
// CHECK-NEXT:     struct turn_section2 section2 = {.i = i, .state = state};
// CHECK-NEXT:     int taken2 = relock_execute_any_thread(&inner, turn_section2, &section2);
// CHECK-NEXT:     if (taken2 == 1) {
// CHECK-NEXT:       continue;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken2 == 2) {
// CHECK-NEXT:       moved++;
// CHECK-NEXT:       return 1;
// CHECK-NEXT:     }
// CHECK-NEXT:     moved += *state & 7;
// CHECK:      static int sum_section2(void *context) {
// CHECK:        int scratch;
// CHECK:      static int sum_section(void *context) {
// CHECK-NOT:    scratch
// CHECK:        struct sum_section2 section2 = {.p = p, .result = section->result};
// CHECK-NEXT:   relock_execute_any_thread(&p->next.lock, sum_section2, &section2);
// CHECK:      static int sum(
// CHECK-NEXT:   int result;
// REASON:     4 lock sites: 4 delegate, 0 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

struct list {
  pthread_mutex_t lock;
  int size;
};
struct pipe {
  struct list in, next;
};
static struct pipe shared = {{PTHREAD_MUTEX_INITIALIZER, 0}, {PTHREAD_MUTEX_INITIALIZER, 0}};
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int moved, total, turns;

static int turn(int a) {
  int state = a;
  pthread_mutex_lock(&outer);
  turns++;
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&inner);
    if (total % 5 == i) {
      total++;
      state += i;
      pthread_mutex_unlock(&inner);
      continue;
    }
    if (state > 1000) {
      pthread_mutex_unlock(&inner);
      moved++;
      pthread_mutex_unlock(&outer);
      return state;
    }
    total += 2;
    pthread_mutex_unlock(&inner);
    moved += state & 7;
  }
  pthread_mutex_unlock(&outer);
  return 0;
}

static int sum(struct pipe *p, int add) {
  int result, scratch;
  pthread_mutex_lock(&p->in.lock);
  p->in.size += add;
  pthread_mutex_lock(&p->next.lock);
  scratch = p->next.size * 2;
  result = p->in.size + scratch;
  p->next.size++;
  pthread_mutex_unlock(&p->next.lock);
  if (result > 1000)
    p->in.size = 0;
  pthread_mutex_unlock(&p->in.lock);
  return result > 0;
}

static void *work(void *late) {
  for (int i = 0; i < 1200; i++) {
    *(int *)late += turn(i) > 0;
    sum(&shared, 1);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  int late[4] = {0};
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, &late[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", shared.next.size, turns);
  return late[0] > 0 && late[1] > 0 ? 0 : 1;
}
