/* SPDX-License-Identifier: MIT
 *
 * One thread holds a lock until another one waits for it, however slow the machine is: the waiter
 * calls about_to_wait() before it asks, the holder until_it_waits(thread) before it releases.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int waiter_id;

static inline void about_to_wait(void) { __atomic_store_n(&waiter_id, gettid(), __ATOMIC_RELEASE); }

static inline bool is_asleep(int id) {
  char name[64], text[256];
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", id);
  int file = open(name, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (length < 0)
    abort();
  close(file);
  text[length] = 0;
  const char *state = strrchr(text, ')'); /* "ID (name) state ..." */
  return state && state[1] == ' ' && state[2] == 'S';
}

/* It sleeps, or, since waiters of some locks never do, it has computed for longer than it takes to
 * ask. */
static inline void until_it_waits(pthread_t thread) {
  int id;
  while (!(id = __atomic_load_n(&waiter_id, __ATOMIC_ACQUIRE)))
    usleep(1000);
  clockid_t clock;
  struct timespec before, now;
  if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &before))
    abort();
  do {
    usleep(1000);
    clock_gettime(clock, &now);
  } while (!is_asleep(id) &&
           (now.tv_sec - before.tv_sec) * 1000000000L + now.tv_nsec - before.tv_nsec < 5000000);
  usleep(100 * 1000); /* so long it waits at least */
  waiter_id = 0;
}
