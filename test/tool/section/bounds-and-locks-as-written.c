// SPDX-License-Identifier: MIT
// Bounds of arrays and lock expressions are written as the program has them, with their macros, and
// not as this machine's numbers; where that cannot be, the section holds.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s
// CHECK:      +  char (*other)[sizeof(struct header) + MEM_TYPES];
// CHECK-NEXT: +  int (*grid)[MEM_TYPES];
// CHECK-NEXT: +  char *n;
// CHECK:      +  relock_mutex_lock(&one);
// CHECK-NEXT:    memset(buffer, 'x', sizeof(buffer));
// CHECK:      +  relock_execute_any_thread(&cells[(key) % MEM_TYPES].lock, cell_section,
// CHECK:      +  relock_execute_any_thread(locks + i % MEM_TYPES, lock_section, NULL);
// CHECK:      +  relock_execute_any_thread(locks + (i + 1) % MEM_TYPES, lock_section, NULL);
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define MEM_TYPES 6
#define ROWS 2
#define CELL_LOCK(k) (&cells[(k) % MEM_TYPES].lock)
#define WITH(i) pthread_mutex_lock(locks + (i) % MEM_TYPES)
#define WITHOUT(i) pthread_mutex_unlock(locks + (i) % MEM_TYPES)
struct header {
  int a, b, c;
};
static struct cell {
  pthread_mutex_t lock;
  int n;
} cells[MEM_TYPES];
static pthread_mutex_t locks[MEM_TYPES];
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static char name[100];
typedef char name_t[8];
static int total;
static int sized(const struct header *h) {
  char buffer[sizeof(*h) + 1];
  char other[sizeof(struct header) + MEM_TYPES];
  int grid[ROWS][MEM_TYPES] = {{0}};
  name_t n = "abc";
  pthread_mutex_lock(&one);
  memset(buffer, 'x', sizeof(buffer));
  pthread_mutex_unlock(&one);
  pthread_mutex_lock(&one);
  memset(other, 'x', sizeof(other));
  grid[1][2] = 4;
  strcpy(name, n);
  strcat(n, "d");
  pthread_mutex_unlock(&one);
  return buffer[0] + other[1] + grid[1][2] + n[3] + h->a;
}
static void cell(int key) {
  pthread_mutex_lock(CELL_LOCK(key));
  cells[key % MEM_TYPES].n++;
  pthread_mutex_unlock(CELL_LOCK(key));
}
static void lock(int i) {
  pthread_mutex_lock(locks + i % MEM_TYPES);
  total++;
  pthread_mutex_unlock(locks + i % MEM_TYPES);
  WITH(i + 1);
  total++;
  WITHOUT(i + 1);
}
static int wait(int which) {
  pthread_cond_t *c = &ready;
  int r = 0;
  if (which)
    c = &ready;
  pthread_mutex_lock(&one);
  total++;
  pthread_cond_broadcast(c);
  r = c != 0;
  pthread_mutex_unlock(&one);
  return r;
}
int main(void) {
  struct header h = {1, 2, 3};
  for (int i = 0; i < MEM_TYPES; i++) {
    pthread_mutex_init(&cells[i].lock, NULL);
    pthread_mutex_init(&locks[i], NULL);
  }
  cell(9);
  lock(8);
  wait(1);
  printf("%d %d %d\n", sized(&h), cells[3].n, total);
  return 0;
}
