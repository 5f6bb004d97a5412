/* SPDX-License-Identifier: MIT
 *
 * results lasting      sections that last: each client of a combiner has its result before the
 *                      combiner begins the section after the next
 * results urgent       the same of urgent clients, and sections that do not last
 * results bounded      what a combiner runs for others, if each section lasts longer than a batch
 *
 * Threads arrive while the mutex is held, and go to sleep, so that whoever gets it finds requests.
 * A section that has to wait for another client's return waits here, in vain if that client is
 * woken at the end of the batch only.
 */
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(lock_class, "results", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(lock_class);

enum { CLIENTS = 5, ROUNDS = 2, LONG_US = 5000, LIMIT_MS = 20000 };
static int lasting, urgent, patient = 1;

/* In the order in which their sections were run. */
static struct client {
  long tid;
  int returned;
} *ran[CLIENTS];
static int sections, arrived, late;

static long own_id(void) { return syscall(SYS_gettid); }

static int is_asleep(long tid) {
  char name[64], state = ' ';
  snprintf(name, sizeof name, "/proc/self/task/%ld/stat", tid);
  FILE *file = fopen(name, "r");
  const int found = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  if (file)
    fclose(file);
  return found && state == 'S';
}

static void await_return(const struct client *client) {
  int ms = 0;
  while (!__atomic_load_n(&client->returned, __ATOMIC_ACQUIRE) && ms++ < LIMIT_MS)
    usleep(1000);
  late += ms >= LIMIT_MS;
}

/* Who runs this section cannot have returned from its own; the last one has been told of its end
 * only when this one is certain to be run. */
static int section(void *context) {
  struct client *client = context;
  const long runner = own_id();
  for (int i = 0; patient && i < sections; i++)
    if (ran[i]->tid != runner)
      await_return(ran[i]);
  ran[sections++] = client;
  if (lasting)
    usleep(LONG_US);
  return 0;
}

static void *client(void *context) {
  struct client *self = context;
  /* Who comes first is the combiner, and an urgent one would work for nobody. */
  const int first = arrived++ == 0;
  __atomic_store_n(&self->tid, own_id(), __ATOMIC_RELEASE);
  if (urgent && !first)
    relock_thread_set_urgent(1);
  relock_execute_any_thread(&mutex, section, self);
  __atomic_store_n(&self->returned, 1, __ATOMIC_RELEASE);
  return NULL;
}

static void await_arrival(const struct client *client) {
  long tid;
  while (!(tid = __atomic_load_n(&client->tid, __ATOMIC_ACQUIRE)) || !is_asleep(tid))
    usleep(100);
}

static void one_round(void) {
  struct client clients[CLIENTS];
  pthread_t threads[CLIENTS];
  memset(clients, 0, sizeof clients);
  sections = arrived = 0;
  relock_mutex_lock(&mutex);
  for (int i = 0; i < CLIENTS; i++) {
    if (pthread_create(&threads[i], NULL, client, &clients[i]))
      abort();
    await_arrival(&clients[i]);
  }
  relock_mutex_unlock(&mutex);
  for (int i = 0; i < CLIENTS; i++)
    pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  lasting = strcmp(mode, "urgent") != 0;
  urgent = !lasting;
  patient = strcmp(mode, "bounded") != 0;
  for (int i = 0; i < ROUNDS && !late; i++)
    one_round();
  relock_statistics_t statistics;
  relock_class_statistics(RELOCK_CLASS(lock_class), &statistics);
  printf("%s: delegated %s, late %d\n", mode, statistics.delegated ? "some" : "none", late);
  return 0;
}
