// SPDX-License-Identifier: MIT
// What estimated totals of holds are off lies within what the profile states, for most classes: 40
// of them, taken in random order by a thread so fast that a small part of the holds is timed. The
// program times each hold itself, by which the profile is off a little more (a lock is held for
// some 30 ns longer), and by more where others use the machine: half of the classes are enough, and
// three attempts. Inputs/stated-errors.py prints how many they are.
// RUN: %cc -g -O1 %s -o %t -I%source_root/runtime/profiler -pthread -lm
// RUN: for attempt in 1 2 3 failed; do test $attempt != failed || exit 1; \
// RUN:   %relock profile --sample-interval=1000000 -o %t.profile -- %t > %t.truth || exit 1; \
// RUN:   %python %S/Inputs/stated-errors.py %t.profile %t.truth && break; \
// RUN: done
#include "Inputs/random.h"
#include "layout.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 150000 };
/* Each is a class. */
#define EIGHT(name) name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7
static pthread_mutex_t EIGHT(a), EIGHT(b), EIGHT(c), EIGHT(d), EIGHT(e);
#define LOCK(name) {#name, &name, 0}
#define LOCKS(name)                                                                                \
  LOCK(name##0), LOCK(name##1), LOCK(name##2), LOCK(name##3), LOCK(name##4), LOCK(name##5),        \
      LOCK(name##6), LOCK(name##7)
static struct {
  const char *name;
  pthread_mutex_t *mutex;
  uint64_t held;
} locks[] = {LOCKS(a), LOCKS(b), LOCKS(c), LOCKS(d), LOCKS(e)};
enum { COUNT = sizeof locks / sizeof *locks };

/* Ticks: of some classes much alike, of others most short and few long, of a third kind long for
 * every eighth time that any is taken. */
static uint64_t length(size_t of, int i) {
  if (of % 3 == 0)
    return (uint64_t)(6000 * uniform());
  if (of % 3 == 1)
    return (uint64_t)(-1500 * log(uniform()));
  return i % 8 ? 1000 : 8000;
}

int main(void) {
  for (int i = 0; i < TIMES; i++) {
    size_t of = next() % COUNT;
    uint64_t ticks = length(of, i), start, now;
    pthread_mutex_lock(locks[of].mutex);
    start = relock_ticks();
    while ((now = relock_ticks()) - start < ticks)
      ;
    locks[of].held += now - start;
    pthread_mutex_unlock(locks[of].mutex);
  }
  for (size_t i = 0; i < COUNT; i++)
    printf("%s %" PRIu64 "\n", locks[i].name, locks[i].held);
  return 0;
}
