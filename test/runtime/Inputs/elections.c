// Three sections on a server's processor with SCHED_FIFO that spin until there have been some
// elections: the manager has to elect every one of them again and again, whatever it counts to.
#include "server/server.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { SECTIONS = 3, ELECTIONS = 60, START = 2 };

RELOCK_LOCK_CLASS(spins, "spins", "rcl");
static relock_mutex_t locks[SECTIONS] = {RELOCK_MUTEX_INITIALIZER(spins),
                                         RELOCK_MUTEX_INITIALIZER(spins),
                                         RELOCK_MUTEX_INITIALIZER(spins)};
static uint32_t begun[SECTIONS];

static uint64_t elections(void) { return relock_load_relaxed(&relock_servers[0].elections); }

/* Since the counter was set to START before the last number of 32 bits. */
static bool are_over(void) { return (uint32_t)elections() - (UINT32_MAX - START) >= ELECTIONS; }

static bool all_have_begun(void) {
  for (int i = 0; i < SECTIONS; i++)
    if (!__atomic_load_n(&begun[i], __ATOMIC_ACQUIRE))
      return false;
  return true;
}

struct step {
  uint32_t *mine;
  pthread_t client;
};

/* False: it is not a server's thread that runs this. */
static int spin(void *context) {
  const struct step *step = context;
  if (pthread_equal(pthread_self(), step->client))
    return 0;
  __atomic_store_n(step->mine, 1, __ATOMIC_RELEASE);
  while (!all_have_begun() || !are_over())
    continue;
  return 1;
}

static void *client(void *context) {
  struct step step = {context, pthread_self()};
  while (!relock_execute_any_thread(&locks[step.mine - begun], spin, &step))
    continue;
  return NULL;
}

/* Whether each thread that has run a section was elected lately. */
static bool all_were_elected(void) {
  const struct relock_server *server = &relock_servers[0];
  for (uint32_t i = 0; i < server->places; i++)
    if (server->servicer[i].sections &&
        server->elections - server->servicer[i].elected > ELECTIONS / 2)
      return false;
  return true;
}

int main(void) {
  alarm(100);
  relock_servers[0].elections = UINT32_MAX - START;
  pthread_t threads[SECTIONS];
  for (int i = 0; i < SECTIONS; i++) {
    pthread_create(&threads[i], NULL, client, &begun[i]);
    while (!__atomic_load_n(&begun[i], __ATOMIC_ACQUIRE))
      usleep(1000);
  }
  for (int i = 0; i < SECTIONS; i++)
    pthread_join(threads[i], NULL);
  printf("sections of each thread were elected: %s\n", all_were_elected() ? "yes" : "no");
  return 0;
}
