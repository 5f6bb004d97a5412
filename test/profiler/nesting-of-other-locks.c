// SPDX-License-Identifier: MIT
// rwlocks and spinlocks, taken inside others and around them, are counted exactly, those for reading
// apart. Two orders are a finding where a thread of each can wait for the other: not where they
// read what the other one reads.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'inside("tree", "mutex") == 2 * 31 and read_inside("tree", "mutex") == [31, 0, 0]' \
// RUN:   'inside("mutex", "tree") == 2 * 7 and read_inside("mutex", "tree") == [0, 7, 0]' \
// RUN:   'inside("spun", "tree") == 2 * 5 and read_inside("spun", "tree") == [0, 5, 0]' \
// RUN:   'inside("tree", "tree") == 0' \
// RUN:   'inside("leaf", "root") == 13 and read_inside("leaf", "root") == [0, 0, 13]' \
// RUN:   'inside("root", "leaf") == 17 and read_inside("root", "leaf") == [0, 0, 17]' \
// RUN:   'read_inside("east", "west") == [3, 0, 0] and read_inside("west", "east") == [0, 3, 0]' \
// RUN:   'read_inside("up", "down") == [0, 0, 3] and read_inside("down", "up") == [0, 3, 0]' \
// RUN:   'inside("tried", "kept") == 19 and read_inside("tried", "kept") == [0, 0, 0]' \
// RUN:   'inside("tried", "kept", "tried_inside") == 19' \
// RUN:   'inside("waited", "spun") == 1 and read_inside("waited", "spun") == [1, 0, 0]' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: Taken in both orders:
// CHECK: tree inside mutex 62 times, mutex inside tree 14 times
// CHECK-NOT: {{inside}}
// CHECK: --explain
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define RWLOCK(name) static pthread_rwlock_t name = PTHREAD_RWLOCK_INITIALIZER
RWLOCK(tree);
RWLOCK(root);
RWLOCK(leaf);
RWLOCK(east);
RWLOCK(west);
RWLOCK(up);
RWLOCK(down);
RWLOCK(tried);
RWLOCK(kept);
RWLOCK(waited);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spun;
static atomic_int about_to;

typedef int take(pthread_rwlock_t *);

static void both(take *first, pthread_rwlock_t *outer, take *then, pthread_rwlock_t *inner,
                 int times) {
  for (int i = 0; i < times; i++) {
    first(outer);
    then(inner);
    pthread_rwlock_unlock(outer); /* not in the order of the locks */
    pthread_rwlock_unlock(inner);
  }
}

static void with_mutex(take *how) {
  for (int i = 0; i < 31; i++) {
    pthread_mutex_lock(&mutex);
    how(&tree);
    pthread_rwlock_unlock(&tree);
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < 7; i++) {
    how(&tree);
    if (how == pthread_rwlock_rdlock) /* once more is no order */
      how(&tree);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (how == pthread_rwlock_rdlock)
      pthread_rwlock_unlock(&tree);
    if (i < 5) {
      pthread_spin_lock(&spun);
      pthread_spin_unlock(&spun);
    }
    pthread_rwlock_unlock(&tree);
  }
}

static void *wait_inside(void *argument) {
  pthread_spin_lock(&spun);
  atomic_store(&about_to, 1);
  pthread_rwlock_rdlock(&waited);
  pthread_rwlock_unlock(&waited);
  pthread_spin_unlock(&spun);
  return argument;
}

int main(void) {
  take *read = pthread_rwlock_rdlock, *write = pthread_rwlock_wrlock;
  pthread_t thread;
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  with_mutex(read);
  with_mutex(write);
  both(read, &root, read, &leaf, 13);
  both(read, &leaf, read, &root, 17);
  both(write, &west, read, &east, 3); /* waits for a writer of east, of whom there is none */
  both(read, &east, write, &west, 3);
  both(read, &down, read, &up, 3); /* who has up waits for down, but this one need not wait */
  both(read, &up, write, &down, 3);
  both(write, &kept, pthread_rwlock_tryrdlock, &tried, 19);
  both(write, &tried, write, &kept, 1);
  pthread_rwlock_wrlock(&waited);
  pthread_create(&thread, NULL, wait_inside, NULL);
  while (!atomic_load(&about_to))
    usleep(1000);
  usleep(20 * 1000);
  pthread_rwlock_unlock(&waited);
  return pthread_join(thread, NULL);
}
