// SPDX-License-Identifier: MIT
// Pointers to mutexes and conditions that a section uses get their class's types in its context.
// RUN: %check_rewrite %s --algorithms=ccsynch --no-run | FileCheck %s
// CHECK:      +struct main_section {
// CHECK-NEXT: +  relock_cond_t *local;
// CHECK:      +  relock_cond_t **more;
// CHECK:      +struct f_section {
// CHECK-NEXT: +  relock_mutex_t *other;
// CHECK-NEXT: +  pthread_mutex_t *stays;
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, o = PTHREAD_MUTEX_INITIALIZER;
static int x;
struct s {
  pthread_cond_t *c;
  pthread_cond_t *a[3];
};
static pthread_cond_t *table[4];
static void wake(pthread_cond_t *c) { pthread_cond_signal(c); }
static void wakes(pthread_cond_t **c, int n) {
  for (int i = 0; i < n; i++)
    pthread_cond_broadcast(c[i]);
}
int main(void) {
  struct s s;
  pthread_cond_t *local;
  pthread_cond_t *more[2];
  local = malloc(sizeof(*local));
  s.c = malloc(sizeof(pthread_cond_t));
  pthread_cond_init(local, NULL);
  pthread_cond_init(s.c, NULL);
  table[0] = local;
  more[0] = more[1] = s.a[0] = s.c;
  pthread_mutex_lock(&m);
  x++;
  while (x < 1)
    pthread_cond_wait(local, &m);
  pthread_cond_signal(table[0]);
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m);
  while (x < 1)
    pthread_cond_wait(s.c, &m);
  pthread_cond_signal(more[1]);
  pthread_mutex_unlock(&m);
  wake(s.a[0]);
  wakes(more, 2);
  printf("%d\n", x);
  pthread_cond_destroy(local);
  free(local);
  pthread_cond_destroy(s.c);
  free(s.c);
  return 0;
}
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
void foreign(pthread_mutex_t *);
void g(void);
static void f(pthread_mutex_t *other, pthread_mutex_t *stays) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_lock(other);
  x++;
  pthread_mutex_unlock(other);
  if (stays)
    x++;
  pthread_mutex_unlock(&m);
}
void g(void) {
  pthread_mutex_lock(&kept);
  foreign(&kept);
  pthread_mutex_unlock(&kept);
  f(&o, &kept);
}
