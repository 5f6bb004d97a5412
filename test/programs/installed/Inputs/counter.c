// SPDX-License-Identifier: MIT
//
// A user's program: a counter under a lock, from a holder and from a section.
#include <relock/relock.h>
#include <stdio.h>

RELOCK_LOCK_CLASS(counter_lock, "counter_lock", "mcs");

static relock_mutex_t counter_lock = RELOCK_MUTEX_INITIALIZER(counter_lock);
static long counter;

static int add_section(void *context) {
  counter += *(long *)context;
  return 0;
}

static void *work(void *unused) {
  (void)unused;
  for (long i = 0; i < 1000; i++) {
    long two = 2;
    relock_execute(&counter_lock, add_section, &two);
    relock_mutex_lock(&counter_lock);
    counter++;
    relock_mutex_unlock(&counter_lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("counter: %ld\n", counter);
  return 0;
}
