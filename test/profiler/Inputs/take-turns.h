/* SPDX-License-Identifier: MIT
 *
 * Two threads that take a lock in turns, on one processor or on two: so many hand-overs, exactly.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>

static int processors[2];
static sem_t turns[2];

/* False: there is one processor only. */
static bool find_processors(void) {
  cpu_set_t allowed;
  int found = 0;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
    if (CPU_ISSET(i, &allowed))
      processors[found++] = i;
  return found == 2;
}

static void run_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processors[processor], &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set))
    abort();
}

struct player {
  int first, processor, turns;
  void (*visit)(void *);
  void *lock;
};

static void *play(void *argument) {
  const struct player *player = argument;
  run_on(player->processor);
  for (int i = player->first; i < player->turns; i += 2) {
    sem_wait(&turns[player->first]);
    player->visit(player->lock);
    sem_post(&turns[!player->first]);
  }
  return NULL;
}

/* One holder more than there are to be hand-overs. */
static void pass_on(void (*visit)(void *), void *lock, int handovers, int other_processor) {
  struct player players[2] = {{0, 0, handovers + 1, visit, lock},
                              {1, other_processor, handovers + 1, visit, lock}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    sem_init(&turns[i], 0, i == 0);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, play, &players[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}
