// SPDX-License-Identifier: MIT
// The work without the lock may change which object the lock is taken of again: the operand is
// evaluated each time, as before. In a macro and by a computed wrapper, too.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>

struct node {
  pthread_mutex_t lock;
  int count;
  struct node *next;
};
static struct node nodes[3];
static pthread_mutex_t locks[4];
static int counts[4];

static void lock_of(unsigned hash) { pthread_mutex_lock(&locks[hash & 3]); }
static void unlock_of(unsigned hash) { pthread_mutex_unlock(&locks[hash & 3]); }

#define YIELD(n, work)                                                                             \
  do {                                                                                             \
    pthread_mutex_unlock(&(n)->lock);                                                              \
    work;                                                                                          \
    pthread_mutex_lock(&(n)->lock);                                                                \
  } while (0)

// CHECK:      while (relock_execute_any_thread(&node->lock, walk_section, &section)) {
// CHECK-NEXT:   node = node->next;
// CHECK-NEXT: }
static void walk(struct node *node) {
  pthread_mutex_lock(&node->lock);
  while (node->next) {
    node->count++;
    pthread_mutex_unlock(&node->lock);
    node = node->next;
    pthread_mutex_lock(&node->lock);
  }
  node->count += 10;
  pthread_mutex_unlock(&node->lock);
}

// CHECK: while (execute_of(hash, spread_section, &section)) {
// CHECK-NEXT: hash++;
static void spread(unsigned hash) {
  lock_of(hash);
  while (counts[hash & 3] < 2) {
    counts[hash & 3]++;
    unlock_of(hash);
    hash++;
    lock_of(hash);
  }
  unlock_of(hash);
}

// A macro that makes all of it has no place for the work.
// CHECK:      relock_mutex_lock(&node->lock);
// CHECK-NEXT: while (node->count < 5) {
static void yield(struct node *node) {
  pthread_mutex_lock(&node->lock);
  while (node->count < 5) {
    node->count++;
    YIELD(node, counts[0]++);
  }
  pthread_mutex_unlock(&node->lock);
}

int main(void) {
  for (int i = 0; i < 4; i++)
    pthread_mutex_init(&locks[i], NULL);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_init(&nodes[i].lock, NULL);
    nodes[i].next = i < 2 ? &nodes[i + 1] : NULL;
  }
  walk(nodes);
  walk(nodes + 1);
  spread(1);
  yield(nodes);
  for (int i = 0; i < 3; i++)
    printf("%d ", nodes[i].count);
  for (int i = 0; i < 4; i++)
    printf("%d ", counts[i]);
  puts("");
  return 0;
}
