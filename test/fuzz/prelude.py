# SPDX-License-Identifier: MIT
"""The text that all generated programs share: a header, and the file with main."""

HEADER = r"""#ifndef COMMON_H
#define COMMON_H
#define restrict __restrict
#include <alloca.h>
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum color { RED, GREEN, BLUE, BLACK };
struct pair {
  unsigned first, second;
};
union word {
  unsigned whole;
  unsigned char bytes[4];
};
struct me {
  unsigned id, own[4];
  struct pair pair;
  pthread_t self;
};
struct guarded {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned long long sum[2];
  unsigned ticks;
};
typedef unsigned (*operation)(unsigned);
extern pthread_mutex_t lock0, lock3, locks[2], recursive;
extern struct guarded table[3];
extern unsigned long long sum7[2], published[64];
extern _Atomic unsigned long long atomic_sum;
extern pthread_cond_t changed0, changed3;
extern struct guarded guarded;
extern struct guarded *pointed;
extern unsigned long long sum0[2], sum3[2], sums[2][2];
extern unsigned ticks0, ticks3;
unsigned mix(unsigned *value, unsigned other);
unsigned twice(unsigned value);
unsigned thrice(unsigned value);
unsigned gather(unsigned count, ...);
void clean(unsigned **value);
extern __thread unsigned mine, own_notes;
extern unsigned long long notes[8];
extern int asked; /* there are threads */
void give_up(const char *what, const char *function, int line) __attribute__((noreturn));
struct timespec far(void);
#define LOCK(m) do { pthread_mutex_lock(m); } while (0)
#define UNLOCK(m) do { pthread_mutex_unlock(m); } while (0)
#define BRACED_LOCK(m) {pthread_mutex_lock(&(m));}
#define BRACED_UNLOCK(m) {pthread_mutex_unlock(&(m));}
#define LOCK_VALUE(m) ({ pthread_mutex_lock(m); })
#define UNLOCK_VALUE(m) ({ pthread_mutex_unlock(m); })
#define LEAVE(m, value) do { pthread_mutex_unlock(m); return (value); } while (0)
#define SKIP_UNLESS(condition, label) if (!(condition)) goto label
#define ADD_LOCKED(m, to, x) \
  do { \
    pthread_mutex_lock(m); \
    (to) += (x); \
    pthread_mutex_unlock(m); \
  } while (0)
#define GUARDED(m) GUARDED_AT(m, __LINE__)
#define GUARDED_AT(m, line) GUARDED_BY(m, line)
#define GUARDED_BY(m, line) \
  for (unsigned guard_##line = 0; \
       guard_##line ? (pthread_mutex_unlock(m), 0) : (pthread_mutex_lock(m), 1); \
       guard_##line = 1) \
    for (unsigned inner_##line = 0; !inner_##line; inner_##line = 1)
#define SCOPED(m) SCOPED_AT(m, __LINE__)
#define SCOPED_AT(m, line) SCOPED_BY(m, line)
#define SCOPED_BY(m, line) \
  __attribute__((cleanup(unlock_scope))) pthread_mutex_t *scope_##line = (m); \
  pthread_mutex_lock(scope_##line)
#define TALLY (tally * 3u)
#define COUNT(x) (tally += (x))
#define COUNT_OF(x) ((unsigned)(sizeof(x) / sizeof((x)[0])))
#define REQUIRE(condition) ((condition) ? (void)0 : give_up(#condition, __func__, __LINE__))
#ifdef NDEBUG
#define TRACE(x, y)
#else
#define TRACE(x, y) (mine += (unsigned)(x) ^ (unsigned)(y))
#endif
#define LENGTH(x) ((unsigned)sizeof #x)
#define JOIN(a, b) a##b
#define BUMP(x) ((x) += 3u)
#define LARGER(x, y) ({ __typeof__(x) larger = (x); __typeof__(y) other = (y); larger > other ? larger : other; })
#define SWAP(a, b) do { unsigned swap = (a); (a) = (b); (b) = swap; } while (0)
static inline void unlock_scope(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }
static inline void lock_three(void) { pthread_mutex_lock(&lock3); }
static inline void unlock_three(void) { pthread_mutex_unlock(&lock3); }
static inline void noted_lock(pthread_mutex_t *m, unsigned lock, unsigned value) {
  own_notes += lock;
  pthread_mutex_lock(m);
  notes[lock] += value;
}
static inline void noted_unlock(pthread_mutex_t *m, unsigned lock) {
  notes[lock] += 2u;
  if (pthread_mutex_unlock(m) != 0)
    abort();
  own_notes += 3u;
}
static inline int asked_lock(pthread_mutex_t *m, unsigned lock) {
  if (m == NULL)
    return -1;
  if (!asked) {
    own_notes += lock;
    return 0;
  }
  return pthread_mutex_lock(m);
}
static inline int asked_unlock(pthread_mutex_t *m, unsigned lock) {
  int error = 0;
  if (!m)
    return -1;
  if (asked)
    error = pthread_mutex_unlock(m);
  else
    own_notes += lock;
  return error;
}
static inline void nested_lock_three(void) { lock_three(); }
static inline void nested_unlock_three(void) { unlock_three(); }
static inline unsigned add_to_five(unsigned value) {
  unsigned result = value * 3u;
  pthread_mutex_lock(&locks[1]);
  sums[1][0] += value;
  result ^= value >> 2;
  pthread_mutex_unlock(&locks[1]);
  return result;
}
static inline unsigned add_again(unsigned value) {
  pthread_mutex_lock(&recursive);
  sum7[1] += value;
  pthread_mutex_unlock(&recursive);
  return value ^ 5u;
}
static inline bool take_pair(struct pair *restrict from, const unsigned *step) {
  bool odd;
  pthread_mutex_lock(&locks[1]);
  odd = from->first & 1u;
  if (!odd) {
    sums[1][1] += *step;
    pthread_mutex_unlock(&locks[1]);
    return false;
  }
  from->second += *step;
  pthread_mutex_unlock(&locks[1]);
  return odd;
}
#endif
"""

MAIN = r"""#include "common.h"
pthread_mutex_t lock0 = PTHREAD_MUTEX_INITIALIZER, lock3 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_cond_t changed0 = PTHREAD_COND_INITIALIZER, changed3 = PTHREAD_COND_INITIALIZER;
struct guarded guarded = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
struct guarded *pointed;
unsigned long long sum0[2], sum3[2], sums[2][2], sum7[2], published[64];
pthread_mutex_t recursive;
struct guarded table[3] = {{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
                           [2].lock = PTHREAD_MUTEX_INITIALIZER};
_Atomic unsigned long long atomic_sum;
unsigned ticks0, ticks3;
__thread unsigned mine, own_notes;
unsigned long long notes[8];
int asked = 1;
static int ended;

void give_up(const char *what, const char *function, int line) {
  fprintf(stderr, "%s, line %d: %s\n", function, line, what);
  abort();
}
unsigned mix(unsigned *value, unsigned other) {
  *value = *value * 33u ^ other;
  return *value >> 3;
}
unsigned twice(unsigned value) { return value * 2u; }
unsigned thrice(unsigned value) { return value * 3u; }
void clean(unsigned **value) { **value += 7u; }
unsigned gather(unsigned count, ...) {
  unsigned sum = 0;
  va_list list;
  va_start(list, count);
  pthread_mutex_lock(&locks[1]);
  while (count--)
    sum = sum * 3u + va_arg(list, unsigned);
  sums[1][0] += sum;
  pthread_mutex_unlock(&locks[1]);
  va_end(list);
  return sum;
}
struct timespec far(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 600;
  return deadline;
}

@DECLARATIONS@
static unsigned long long result[16];

static void *work(void *argument) {
  struct me me = {.id = (unsigned)(size_t)argument, .self = pthread_self()};
  unsigned long long hash = 1469598103u;
  unsigned round;
  int i;
  for (round = 0; round < @ROUNDS@; round++) {
@CALLS@
  }
  for (i = 0; i < 4; i++)
    hash = hash * 1099511u + me.own[i];
  result[me.id] = (hash * 1099511u + me.pair.first * 7u + me.pair.second) ^ own_notes;
  return NULL;
}

/* Waiters wait for a tick: there is always one more. */
static void *tick(void *unused) {
  while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
    pthread_mutex_lock(&lock0);
    ticks0++;
    pthread_cond_broadcast(&changed0);
    pthread_mutex_unlock(&lock0);
    lock_three();
    ticks3++;
    pthread_cond_signal(&changed3);
    pthread_cond_broadcast(&changed3);
    unlock_three();
    pthread_mutex_lock(&pointed->lock);
    pointed->ticks++;
    pthread_mutex_unlock(&pointed->lock);
    pthread_cond_broadcast(&pointed->changed);
    pthread_mutex_lock(&guarded.lock);
    guarded.ticks++;
    pthread_cond_broadcast(&guarded.changed);
    pthread_mutex_unlock(&guarded.lock);
    sched_yield();
  }
  return unused;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t threads[16], ticker;
  pthread_mutexattr_t kind;
  int i;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &kind);
  pointed = calloc(1, sizeof *pointed);
  pthread_mutex_init(&pointed->lock, NULL);
  pthread_cond_init(&pointed->changed, NULL);
  pthread_create(&ticker, NULL, tick, NULL);
  for (i = 0; i < count; i++)
    pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  for (i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
  pthread_join(ticker, NULL);
  for (i = 0; i < count; i++)
    printf("thread %d: %llx\n", i, result[i]);
  for (i = 0; i < 2; i++)
    printf("sums %llx %llx %llx %llx %llx %llx\n", sum0[i], guarded.sum[i], pointed->sum[i],
           sum3[i], sums[0][i], sums[1][i]);
  for (i = 0; i < 3; i++)
    printf("table %llx %llx\n", table[i].sum[0], table[i].sum[1]);
  for (i = 0; i < 8; i++)
    printf("noted %llx\n", notes[i]);
  printf("recursive %llx %llx atomic %llx\n", sum7[0], sum7[1], (unsigned long long)atomic_sum);
@SUMS@
  for (i = 0; i < 64; i++)
    printf("%llx%s", published[i], i < 63 ? " " : "\n");
  return 0;
}
"""

# How each lock is named, its accumulators, its condition and ticks (locks 4 to 7 have none). A
# thread takes locks in this order. Lock 6 is one of three, and lock 7
# recursive.
LOCK = ["&lock0", "&guarded.lock", "&pointed->lock", "&lock3", "&locks[0]", "&locks[1]",
        None, "&recursive"]
SUM = ["sum0", "guarded.sum", "pointed->sum", "sum3", "sums[0]", "sums[1]", None, "sum7"]
CONDITION = ["&changed0", "&guarded.changed", "&pointed->changed", "&changed3"]
TICKS = ["ticks0", "guarded.ticks", "pointed->ticks", "ticks3"]

# What takes a lock where it is used.
MACROS = ["LOCK", "LOCK_VALUE", "BRACED_LOCK", "lock_three", "nested_lock_three", "ADD_LOCKED", "GUARDED", "SCOPED"]
