/* While there are too many barriers a server keeps the word of a mutex that nobody takes back,
 * after a while, but not one that was taken back lately. */
#include <relock/relock.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { SERVED = 4 }; /* RELOCK_WORD_SERVED */

RELOCK_LOCK_CLASS(served, "served", "rcl");
RELOCK_LOCK_CLASS(slept_for, "slept for", "posix");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(served);
static relock_mutex_t other = RELOCK_MUTEX_INITIALIZER(slept_for);
static int counter;

static int add(void *unused) {
  (void)unused;
  return counter++ < 0;
}

static void *lock_other(void *unused) {
  relock_mutex_lock(&other);
  relock_mutex_unlock(&other);
  return unused;
}

static void make_too_many(void) {
  const struct timespec until_it_sleeps = {0, 500000};
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    relock_mutex_lock(&other);
    if (pthread_create(&thread, NULL, lock_other, NULL) != 0)
      return;
    nanosleep(&until_it_sleeps, NULL);
    relock_mutex_unlock(&other);
    pthread_join(thread, NULL);
  }
}

/* The client runs a section itself where the server does not get a processor. */
static int is_kept_in_the_end(void) {
  enum { MOST_SECONDS = 60 };
  const time_t start = time(NULL);
  while (mutex.relock_private.word < SERVED && time(NULL) - start < MOST_SECONDS)
    relock_execute_any_thread(&mutex, add, NULL);
  return mutex.relock_private.word >= SERVED;
}

/* Once it was taken back. */
static int is_left_alone(void) {
  enum { SECTIONS = 1000 };
  relock_mutex_lock(&mutex);
  relock_mutex_unlock(&mutex);
  for (int i = 0; i < SECTIONS; i++) {
    relock_execute_any_thread(&mutex, add, NULL);
    if (mutex.relock_private.word >= SERVED)
      return 0;
  }
  return 1;
}

int main(void) {
  make_too_many();
  puts(is_kept_in_the_end() ? "kept" : "not kept");
  puts(is_left_alone() ? "left alone" : "kept again");
  return 0;
}
