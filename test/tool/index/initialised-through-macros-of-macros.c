// SPDX-License-Identifier: MIT
// A macro that initialises mutexes of several classes, and the macros that use it, get a parameter
// for the class; text that no unit compiles goes on to use the old names. Behind the comment that
// ends a definition; beside a name that the macro makes a string of; in the argument of a macro.
// Where a macro initialises two locks, its body names the class of each.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=CLASSES
// RUN: %rewritten %s | FileCheck %s
// CLASSES:    cache.lock {{.*}}: convert
// CLASSES:    pair.first {{.*}}: convert
// CLASSES:    queue.lock {{.*}}: convert
// CLASSES:    table.lock {{.*}}: convert
// CHECK:      #define os_mutex_init_class(mp, lock_class) {{ *}}\
// CHECK-NEXT: {
// CHECK-NEXT:   int err = relock_mutex_init(mp, NULL, lock_class);
// CHECK-NEXT:   CHECK(pthread_mutex_init, err);
// CHECK-NEXT: }
// CHECK-NEXT: #define os_mutex_init(mp) os_mutex_init_class(mp, NULL)
// CHECK-NEXT: # define my_init_class(mp, lock_class) os_mutex_init_class(mp, lock_class) /* of all
// CHECK-NEXT:    locks */
// CHECK-NEXT: # define my_init(mp) my_init_class(mp, NULL)
// CHECK-NEXT: #define START_CLASS(f, lock_class)
// CHECK:      my_init_class( &(f)->lock, lock_class );
// CHECK:      #define START(f) START_CLASS(f, NULL)
// CHECK:      #define LockInitClass(l, lock_class) CHECK(init, relock_mutex_init(l, NULL, lock_class))
// CHECK-NEXT: #define LockInit(l) LockInitClass(l, NULL)
// CHECK:      CHECK(first, relock_mutex_init(&(p)->first, NULL, RELOCK_CLASS(pair_first)));
// CHECK-NEXT: CHECK(second, relock_mutex_init(&(p)->second, NULL, RELOCK_CLASS(pair_second)));
// CHECK:      my_init_class(&cache.lock, RELOCK_CLASS(cache_lock));
// CHECK-NEXT: TWICE(my_init_class(&queue.lock, RELOCK_CLASS(queue_lock)));
// CHECK-NEXT: START_CLASS(&table, RELOCK_CLASS(table_lock));
// CHECK-NEXT: LockInitClass(&left, RELOCK_CLASS(left)); LockInitClass(&right, RELOCK_CLASS(right));
// CHECK-NEXT: PAIR(&pair);
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what, e)                                                                             \
  do {                                                                                             \
    if ((e) != 0) {                                                                                \
      puts(#what);                                                                                 \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)
#define os_mutex_init(mp)                                                                          \
  {                                                                                                \
    int err = pthread_mutex_init(mp, NULL);                                                        \
    CHECK(pthread_mutex_init, err);                                                                \
  }
# define my_init(mp) os_mutex_init(mp) /* of all
   locks */
#define START(f)                                                                                   \
  do {                                                                                             \
    my_init( &(f)->lock );                                                                         \
    (f)->n = 0;                                                                                    \
  } while (0)
#define LockInit(l) CHECK(init, pthread_mutex_init(l, NULL))
#define PAIR(p)                                                                                    \
  do {                                                                                             \
    CHECK(first, pthread_mutex_init(&(p)->first, NULL));                                           \
    CHECK(second, pthread_mutex_init(&(p)->second, NULL));                                         \
  } while (0)
#define TWICE(text)                                                                                \
  text;                                                                                            \
  text

struct cache {
  pthread_mutex_t lock;
  int n;
};
struct queue {
  pthread_mutex_t lock;
  int n;
};
struct table {
  pthread_mutex_t lock;
  int n;
};
struct pair {
  pthread_mutex_t first, second;
  int n;
};
static struct cache cache;
static struct queue queue;
static struct table table;
static struct pair pair;
static pthread_mutex_t left, right;

int main(void) {
  my_init(&cache.lock);
  TWICE(my_init(&queue.lock));
  START(&table);
  LockInit(&left); LockInit(&right);
  PAIR(&pair);
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&cache.lock);
    cache.n += i;
    pthread_mutex_unlock(&cache.lock);
    pthread_mutex_lock(&queue.lock);
    queue.n += 2 * i;
    pthread_mutex_unlock(&queue.lock);
    pthread_mutex_lock(&table.lock);
    table.n += 3 * i;
    pthread_mutex_unlock(&table.lock);
    pthread_mutex_lock(&pair.first);
    pair.n++;
    pthread_mutex_unlock(&pair.first);
    pthread_mutex_lock(&pair.second);
    pair.n++;
    pthread_mutex_unlock(&pair.second);
    pthread_mutex_lock(&left);
    cache.n++;
    pthread_mutex_unlock(&left);
    pthread_mutex_lock(&right);
    queue.n++;
    pthread_mutex_unlock(&right);
  }
  printf("%d %d %d %d\n", cache.n, queue.n, table.n, pair.n);
  return 0;
}
