// SPDX-License-Identifier: MIT
// A lock that a variable releases when its scope ends is a section up to there: what it returns is evaluated under
// the lock, and what is cleaned up in it is cleaned up under the lock.
// RUN: %check_rewrite %s --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// The function's own text, where it returns an int:
// CHECK:      static int take_section(void *context) {
// CHECK:        if (n > total)
// CHECK-NEXT:     return -1; // too many
// CHECK-NEXT:   total -= n;
// CHECK-NEXT:   return total;
// CHECK-NEXT: }
// CHECK:      static int take(int n) {
// CHECK-NEXT:   struct take_section section = {.n = n};
// CHECK-NEXT:   return relock_execute_any_thread(&lock, take_section, &section);
// CHECK-NEXT: }
// CHECK:      static bool any(void) {
// CHECK-NEXT:   return relock_execute_any_thread(&lock, any_section, NULL);
// CHECK-NEXT: }
// Through the context, where it returns something else:
// CHECK:      struct find_section {
// CHECK-NEXT:   int key;
// CHECK-NEXT:   struct item *result;
// CHECK-NEXT: };
// CHECK:        for (int i = 0; i < 3; i++)
// CHECK-NEXT:     if (items[i].key == key) {
// CHECK-NEXT:       section->result = &items[i];
// CHECK-NEXT:       return 0;
// CHECK-NEXT:     }
// CHECK-NEXT:   if (key == 9) {
// CHECK-NEXT:     section->result = items;
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   }
// CHECK-NEXT:   else {
// CHECK-NEXT:     missed++;
// CHECK-NEXT:   }
// CHECK-NEXT:   section->result = NULL;
// CHECK-NEXT:   return 0; /* nothing */
// CHECK:      static struct item *find(int key) {
// CHECK-NEXT:   struct find_section section = {.key = key};
// CHECK-NEXT:   relock_execute{{.*}}(&lock, find_section, &section);
// CHECK-NEXT:   return section.result;
// CHECK-NEXT: }
// The caller leaves:
// CHECK:        if (n < 0)
// CHECK-NEXT:     return 0;
// CHECK:      static void put(
// CHECK-NEXT:   struct put_section section = {.n = n};
// CHECK-NEXT:   relock_execute{{.*}}(&lock, put_section, &section);
// CHECK-NEXT: }
// CHECK:          int taken = relock_execute{{.*}}(&lock, rounds_section, &section);
// CHECK-NEXT:     if (taken == 1) {
// CHECK-NEXT:       continue;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 2) {
// CHECK-NEXT:       break;
// VERDICT:      delegate straight take
// VERDICT:      delegate straight any
// VERDICT:      delegate early-exit find
// VERDICT:      delegate early-exit put
// VERDICT:      delegate early-exit rounds
// VERDICT:      delegate straight copies
// VERDICT:      delegate waiting until
// VERDICT:      delegate straight both
// VERDICT:      delegate early-exit partly
// VERDICT:      9 lock sites: 9 delegate
// COUNTS:       stats: lock held=0
// COUNTS:       check-rewrite: ok
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void unlock(pthread_mutex_t **mutex) {
  int r = pthread_mutex_unlock(*mutex);
  assert(!r);
  (void)r;
}
#define UNIQUE(name, line) UNIQUE_1(name, line)
#define UNIQUE_1(name, line) name##line
#define LOCK_SCOPE(mutex) LOCK_SCOPE_1((mutex), UNIQUE(guard, __LINE__))
#define LOCK_SCOPE_1(mutex, guard) \
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = mutex; \
  do { \
    int r = pthread_mutex_lock(guard); \
    assert(!r); \
    (void)r; \
  } while (0)

struct item {
  int key, count;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item items[3] = {{1, 0}, {2, 0}, {3, 0}};
static int total, missed, cleaned;

static int take(int n) {
  LOCK_SCOPE(&lock);
  if (n > total)
    return -1; // too many
  total -= n;
  return total;
}

static bool any(void) {
  LOCK_SCOPE(&lock);
  return total & 0x100;
}

static struct item *find(int key) {
  LOCK_SCOPE(&lock);
  for (int i = 0; i < 3; i++)
    if (items[i].key == key) return &items[i];
  if (key == 9)
    return items;
  else {
    missed++;
  }
  return NULL; /* nothing */
}

static void put(int n) {
  LOCK_SCOPE(&lock);
  if (n < 0)
    return;
  total += n;
}

// `seen` keeps its value from round to round.
static int rounds(int n) {
  int seen = 0;
  for (;;) {
    LOCK_SCOPE(&lock);
    seen++;
    if (seen % 2)
      continue;
    total++;
    if (seen >= n)
      break;
  }
  return n;
}

static void freed(char **text) {
  assert(pthread_mutex_trylock(&lock) != 0);
  cleaned += strlen(*text);
  free(*text);
}

static size_t copies(const char *from) {
  size_t length = 0;
  {
    LOCK_SCOPE(&lock);
    __attribute__((cleanup(freed))) char *text = strdup(from);
    text[0] = 'x';
    length = strlen(text);
  }
  return length;
}

static void until(int n) {
  LOCK_SCOPE(&lock);
  while (total < n)
    pthread_cond_wait(&changed, &lock);
}

// Without a macro; the lock is named as such.
static int both(int n) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(&lock);
  total += n;
  return total;
}

static const char *partly(int n) {
  if (n > 2) {
    LOCK_SCOPE(&lock);
    if (n > total)
      return strchr("more", 'm');
    total--;
  }
  return "done";
}

static void *add(void *unused) {
  (void)unused;
  pthread_cond_broadcast(&changed);
  return NULL;
}

int main(void) {
  pthread_t thread;
  put(700);
  put(-1);
  printf("%d\n", take(1000));
  printf("%d\n", take(5));
  printf("%d %d %d\n", any(), find(2)->key, find(9)->key);
  if (!find(7))
    printf("%d\n", missed);
  printf("%d\n", rounds(8));
  printf("%zu\n", copies("four"));
  printf("%d %d\n", both(3), cleaned);
  puts(partly(1));
  puts(partly(3));
  puts(partly(100000));
  pthread_create(&thread, NULL, add, NULL);
  until(700);
  pthread_join(thread, NULL);
  printf("%d\n", total);
  return 0;
}
