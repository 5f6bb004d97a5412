/* SPDX-License-Identifier: MIT
 *
 * nested EXECUTE: a section on one server asks another server for a section, which calls reached().
 * EXECUTE: "as-client" or "any-thread". Until both were delegated. */
#define _GNU_SOURCE
#include <relock/relock.h>
#include <string.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(outer, "outer", "rcl");
RELOCK_LOCK_CLASS(inner, "inner", "rcl:2");
static relock_mutex_t outer_lock = RELOCK_MUTEX_INITIALIZER(outer);
static relock_mutex_t inner_lock = RELOCK_MUTEX_INITIALIZER(inner);
static int (*execute)(relock_mutex_t *, relock_section_t, void *) = relock_execute;

__attribute__((noinline)) void reached(void) { __asm__ volatile(""); }

static int inner_section(void *asker) {
  if (gettid() != *(int *)asker)
    reached();
  return 0;
}

static int outer_section(void *asker) {
  int runner = gettid();
  if (runner != *(int *)asker)
    execute(&inner_lock, inner_section, &runner);
  return 0;
}

static int nothing(void *unused) { return unused != NULL; }

/* Keeps both locks in demand: a client that is alone may run its sections itself for ever. */
static void *rival(void *unused) {
  for (;;) {
    execute(&outer_lock, nothing, NULL);
    execute(&inner_lock, nothing, NULL);
  }
  return unused;
}

static void *client(void *unused) {
  int tid = gettid();
  for (;; usleep(100))
    execute(&outer_lock, outer_section, &tid);
  return unused;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "any-thread") == 0)
    execute = relock_execute_any_thread;
  pthread_t asker, rivals[2];
  pthread_create(&asker, NULL, client, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_create(&rivals[i], NULL, rival, NULL);
  pthread_join(asker, NULL);
  return 0;
}
