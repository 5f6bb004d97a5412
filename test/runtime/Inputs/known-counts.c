/* SPDX-License-Identifier: MIT
 * Contention with known numbers: the statistics must show exactly these. */
#define _GNU_SOURCE
#include <relock/relock.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

static int waiter; /* the thread that is about to wait */

/* Returns when it sleeps: the next one comes behind it. */
static void await_sleep(void) {
  char name[64], state = 0;
  while (state != 'S') {
    usleep(100000);
    const int id = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
    if (!id)
      continue;
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", id);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
      state = 0;
    if (file)
      fclose(file);
  }
  __atomic_store_n(&waiter, 0, __ATOMIC_RELAXED);
}

static int nothing(void *context) { return context != NULL; }

static void *execute(void *context) {
  __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  relock_execute_any_thread(&mutex, nothing, context);
  return NULL;
}

static void *hold(void *context) {
  __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
  return context;
}

int main(void) {
  pthread_t thread[5];
  relock_mutex_lock(&mutex);
  for (int i = 0; i < 5; i++) {
    pthread_create(&thread[i], NULL, i < 3 ? execute : hold, NULL);
    await_sleep();
  }
  relock_mutex_unlock(&mutex);
  for (int i = 0; i < 5; i++)
    pthread_join(thread[i], NULL);
  if (relock_mutex_trylock(&mutex) == 0)
    relock_mutex_unlock(&mutex);
  return 0;
}
