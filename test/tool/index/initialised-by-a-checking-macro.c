// An initialisation names its class. Where a macro that serves several classes does more than to
// initialise, its use is written out: the classes stay apart, and the check stays.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=CLASSES
// RUN: %rewritten %s | FileCheck %s
// CLASSES:    cache.lock
// CLASSES:    queue.lock
// CHECK:      #define lock_init(lock) CHECKED(relock_mutex_init(lock, NULL, NULL))
// CHECK-NEXT: #define lock_take(lock) CHECKED(relock_mutex_lock(lock))
// CHECK:      CHECKED(relock_mutex_init(&cache->lock, NULL, RELOCK_CLASS(cache_lock)));
// CHECK:      CHECKED(relock_mutex_init(&queues[n % 2].lock, NULL, RELOCK_CLASS(queue_lock)));
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CHECKED(call) do { \
    int error; \
    if ((error = (call)) != 0) \
      fprintf(stderr, "%s\n", strerror(error)); \
  } while (0)
#define lock_init(lock) CHECKED(pthread_mutex_init(lock, NULL))
#define lock_take(lock) CHECKED(pthread_mutex_lock(lock))
#define lock_leave(lock) CHECKED(pthread_mutex_unlock(lock))

struct cache { pthread_mutex_t lock; int hits; };
struct queue { pthread_mutex_t lock; int length; };
static struct queue queues[2];

static void make_cache(struct cache *cache) {
  lock_init(&cache->lock);
  cache->hits = 0;
}

static void make_queue(int n) {
  lock_init(&queues[n % 2].lock);
}

int main(void) {
  struct cache cache;
  make_cache(&cache);
  make_queue(0), make_queue(1);
  for (int i = 0; i < 9; i++) {
    lock_take(&cache.lock);
    cache.hits += i;
    lock_leave(&cache.lock);
    lock_take(&queues[i % 2].lock);
    queues[i % 2].length++;
    lock_leave(&queues[i % 2].lock);
  }
  printf("%d %d %d\n", cache.hits, queues[0].length, queues[1].length);
  return 0;
}
