// SPDX-License-Identifier: MIT
// A lock that is taken and released under one condition guards a section that runs with or without it:
// a flag, a member, in the text or in a macro of the project's, with early exits. The condition must
// hold at the unlock as at the lock, and be that of all operations on the lock in the function.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-std=gnu89
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK:      delegate straight flag
// CHECK-NEXT: delegate early-exit braces
// CHECK-NEXT: hold conditional other_condition
// CHECK-NEXT: the lock is not a statement of a block [conditional]
// CHECK-NEXT: hold conditional one_unconditional
// CHECK-NEXT: [conditional]
// CHECK-NEXT: hold conditional call
// CHECK-NEXT: [conditional]
// CHECK-NEXT: hold conditional waits
// CHECK-NEXT: [conditional]
// CHECK:      delegate straight in_tree
// CHECK-NEXT: delegate early-exit find
// CHECK-NEXT: hold straight switched
// CHECK-NEXT: 'locks' in the lock operand changes in the section [lock-expression]
// CHECK-NEXT: hold straight in_callee
// CHECK-NEXT: 'locks' in the lock operand may change in a callee [lock-expression]
// TEXT:  relock_execute_if_any_thread(threads > 1, &lock, flag_section, &section);
// TEXT:  if (relock_execute_if_any_thread(threads > 1, &lock, braces_section,
// TEXT-NEXT:      &section)) {
// TEXT:  relock_execute_if_any_thread(tree->locks, &tree->mutex, in_tree_section,
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int threads = 2, total;

struct tree {
  int locks, count;
  pthread_mutex_t mutex;
};
#define TREE_LOCK(t) if ((t)->locks) pthread_mutex_lock(&((t)->mutex))
#define TREE_UNLOCK(t) if ((t)->locks) pthread_mutex_unlock(&((t)->mutex))

static void flag(int n) {
  if (threads > 1)
    pthread_mutex_lock(&lock);
  total += n;
  if (threads > 1)
    pthread_mutex_unlock(&lock);
}

static int braces(int n) {
  int before;
  if (threads > 1) {
    pthread_mutex_lock(&lock);
  }
  before = total;
  if (n == 0) {
    if (threads > 1) {
      pthread_mutex_unlock(&lock);
    }
    return before;
  }
  total += n;
  if (threads > 1) {
    pthread_mutex_unlock(&lock);
  }
  return before + 1;
}

static void in_tree(struct tree *tree, int n) {
  TREE_LOCK(tree);
  tree->count += n;
  TREE_UNLOCK(tree);
}

static int find(struct tree *tree, int n) {
  TREE_LOCK(tree);
  if (tree->count == n) {
    TREE_UNLOCK(tree);
    return 1;
  }
  tree->count--;
  TREE_UNLOCK(tree);
  return 0;
}

static void switched(struct tree *tree) {
  TREE_LOCK(tree);
  tree->locks = tree->count > 100;
  TREE_UNLOCK(tree);
}

static void leave(struct tree *tree) { tree->locks = 0; }
static void in_callee(struct tree *tree) {
  TREE_LOCK(tree);
  if (tree->count > 100)
    leave(tree);
  TREE_UNLOCK(tree);
}

static void other_condition(void) {
  if (threads > 1)
    pthread_mutex_lock(&lock);
  total++;
  if (threads >= 2)
    pthread_mutex_unlock(&lock);
}

static void one_unconditional(int n) {
  if (threads > 1)
    pthread_mutex_lock(&lock);
  total++;
  if (n > 100) {
    total--;
    pthread_mutex_unlock(&lock);
    return;
  }
  if (threads > 1)
    pthread_mutex_unlock(&lock);
}

static int several(void) { return threads > 1; }
static void call(void) {
  if (several())
    pthread_mutex_lock(&lock);
  total++;
  if (several())
    pthread_mutex_unlock(&lock);
}

static void waits(void) {
  if (threads > 1)
    pthread_mutex_lock(&lock);
  while (total < 0)
    pthread_cond_wait(&changed, &lock);
  if (threads > 1)
    pthread_mutex_unlock(&lock);
}

int main(void) {
  struct tree tree = {1, 0, PTHREAD_MUTEX_INITIALIZER};
  int round;
  for (round = 0; round < 2; round++) {
    flag(3), printf("%d ", braces(0)), printf("%d\n", braces(2));
    in_tree(&tree, 2), printf("%d ", find(&tree, 2)), printf("%d\n", find(&tree, 5));
    in_callee(&tree), other_condition(), one_unconditional(1), call(), waits();
    printf("%d %d\n", total, tree.count);
    threads = 1, tree.locks = 0; /* all again without locks */
  }
  switched(&tree);
  pthread_cond_signal(&changed);
  return tree.locks;
}
