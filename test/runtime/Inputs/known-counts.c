/* SPDX-License-Identifier: MIT
 * Contention with known numbers: the statistics must show exactly these. */
#include <relock/relock.h>
#include <unistd.h>
RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

static int nothing(void *context) { return context != NULL; }

static void *execute(void *context) {
  relock_execute_any_thread(&mutex, nothing, context);
  return NULL;
}

static void *hold(void *context) {
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
  return context;
}

int main(void) {
  pthread_t thread[5];
  relock_mutex_lock(&mutex);
  for (int i = 0; i < 5; i++) {
    pthread_create(&thread[i], NULL, i < 3 ? execute : hold, NULL);
    usleep(100000); /* in this order, and asleep */
  }
  relock_mutex_unlock(&mutex);
  for (int i = 0; i < 5; i++)
    pthread_join(thread[i], NULL);
  if (relock_mutex_trylock(&mutex) == 0)
    relock_mutex_unlock(&mutex);
  return 0;
}
