// SPDX-License-Identifier: MIT
// An initialisation names its class. A macro that serves several classes, and does more than to
// initialise, gets a parameter for that: the classes stay apart, and the check stays. Where it also
// serves a lock that is not converted, its use is written out instead.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=CLASSES
// RUN: %rewritten %s | FileCheck %s
// RUN: %rewritten %s --lock log.lock=mcs | FileCheck %s --check-prefix=ONE
// CLASSES:    cache.lock
// CLASSES:    log.lock
// CLASSES:    queue.lock
// CHECK:      #define lock_init_class(lock, lock_class) CHECKED(relock_mutex_init(lock, NULL, lock_class))
// CHECK-NEXT: #define lock_init(lock) lock_init_class(lock, NULL)
// CHECK-NEXT: #define lock_take(lock) CHECKED(relock_mutex_lock(lock))
// CHECK:      lock_init_class(&cache->lock, RELOCK_CLASS(cache_lock));
// CHECK:      lock_init_class(&queues[n % 2].lock, RELOCK_CLASS(queue_lock));
// CHECK:      SETUP_CLASS(&log.lock, RELOCK_CLASS(log_lock));
// ONE:        #define SETUP(lock) do { if (pthread_mutex_init(lock, NULL)) return 1; } while (0)
// ONE:        do { if (relock_mutex_init(&log.lock, NULL, RELOCK_CLASS(log_lock))) return 1; } while (0);
// ONE-NEXT:   SETUP(&trace.lock);
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
#define SETUP(lock) do { if (pthread_mutex_init(lock, NULL)) return 1; } while (0)

struct cache { pthread_mutex_t lock; int hits; };
struct queue { pthread_mutex_t lock; int length; };
static struct queue queues[2];
static struct log { pthread_mutex_t lock; int lines; } log;
static struct trace { pthread_mutex_t lock; int lines; } trace;

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
  SETUP(&log.lock);
  SETUP(&trace.lock);
  for (int i = 0; i < 9; i++) {
    lock_take(&cache.lock);
    cache.hits += i;
    lock_leave(&cache.lock);
    lock_take(&queues[i % 2].lock);
    queues[i % 2].length++;
    lock_leave(&queues[i % 2].lock);
    pthread_mutex_lock(&log.lock);
    log.lines++;
    pthread_mutex_unlock(&log.lock);
    pthread_mutex_lock(&trace.lock);
    trace.lines++;
    pthread_mutex_unlock(&trace.lock);
  }
  printf("%d %d %d %d\n", cache.hits, queues[0].length, queues[1].length, log.lines + trace.lines);
  return 0;
}
