// Teams for race detectors to watch: what members write before they send something is read by those
// that got it. Without an argument there is no race in it; "race": a member changes what it has sent
// while others read it.
#include <pthread.h>
#include <relock/teams.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 4, OPERATIONS = 30, COUNT = 700 };

struct job {
  long value;
};

static relock_team_t team;
static long total[MEMBERS];
static int with_race;

static void add(void *into, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((long *)into)[i] += ((const long *)from)[i];
}

static void *work(void *arg) {
  const unsigned me = (unsigned)(unsigned long)arg;
  for (unsigned i = 0; i < OPERATIONS; i++) {
    const unsigned root = i % MEMBERS;
    struct job *job = NULL;
    if (me == root) {
      job = malloc(sizeof *job);
      job->value = i;
    }
    relock_team_broadcast(&team, me, root, &job, sizeof job);
    if (with_race && me == root)
      job->value = i;
    // In one piece, and in two.
    long numbers[COUNT] = {job->value};
    numbers[COUNT - 1] = job->value;
    relock_team_reduce(&team, me, root, numbers, 2, sizeof *numbers, add);
    if (me == root) {
      total[me] += numbers[0];
      free(job);
    }
    relock_team_reduce_all(&team, me, numbers, COUNT, sizeof *numbers, add);
    total[me] += numbers[COUNT - 1];
    relock_team_t own;
    relock_team_init(&own, 1 + me);
    relock_team_destroy(&own);
  }
  return NULL;
}

int main(int argc, char **argv) {
  with_race = argc > 1 && strcmp(argv[1], "race") == 0;
  pthread_t threads[MEMBERS];
  relock_team_init(&team, MEMBERS);
  for (unsigned long i = 0; i < MEMBERS; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  long sum = 0;
  for (int i = 0; i < MEMBERS; i++) {
    pthread_join(threads[i], NULL);
    sum += total[i];
  }
  relock_team_destroy(&team);
  printf("sum %ld\n", sum);
  return 0;
}
