// SPDX-License-Identifier: MIT
// A heap mutex is named by its declaration where the source tells it: a field, an array behind a
// global pointer, a mutex that a wrapper initialises, an unnamed struct. Where it does not, the
// call is the name.
// RUN: %cc -g -O2 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("shard.lock")["acquisitions"] == 31 and lock("shard.lock")["objects"] == 4' \
// RUN:   'lock("shard.lock")["file"].endswith("declared-names.c")' \
// RUN:   'lock("shard.lock")["line"] == 29 and lock("shard.lock")["kind"] == "initialised"' \
// RUN:   'lock("item_locks")["acquisitions"] == 37 and lock("item_locks")["objects"] == 8' \
// RUN:   'lock("bare_t.inside")["acquisitions"] == 41' \
// RUN:   'lock("late.lock")["acquisitions"] == 43 and lock("late.lock")["kind"] == "first-use"' \
// RUN:   'sum("declared-names.c:" in c["name"] and c["acquisitions"] == 47 for c in profile["classes"]) == 1' \
// RUN:   'len(profile["classes"]) == 5'
//
// Without the source the call is the name of all of them.
// RUN: cp %s %t.moved.c
// RUN: %cc -g -O2 %t.moved.c -o %t -pthread
// RUN: rm %t.moved.c
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'all("declared-names.c.tmp.moved.c:" in c["name"] for c in profile["classes"])'
#include <pthread.h>
#include <stdlib.h>

struct shard {
  int size;
  pthread_mutex_t lock;
};
typedef struct {
  struct {
    int other;
    pthread_mutex_t inside;
  };
} bare_t;
struct late {
  pthread_mutex_t lock;
};
#define INIT_LOCK(lock) pthread_mutex_init(lock, NULL)

static pthread_mutex_t *item_locks;

static __attribute__((noinline)) void set_up(pthread_mutex_t *mutex) {
  INIT_LOCK(mutex);
}

static struct shard *new_shard(int size) {
  struct shard *shard = calloc(1, sizeof *shard);
  shard->size = size;
  if (size && pthread_mutex_init(&shard->lock, NULL) != 0)
    return NULL;
  return shard;
}

static __attribute__((noinline)) void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

int main(int count, char **words) {
  struct shard *shards[4];
  bare_t *bare = calloc(1, sizeof *bare);
  struct late *late = calloc(1, sizeof *late);
  pthread_mutex_t *any = malloc(sizeof *any);
  (void)words;
  for (int i = 0; i < 4; i++)
    shards[i] = new_shard(count + i);
  item_locks = calloc(8, sizeof *item_locks);
  for (int i = 0; i < 8; i++)
    INIT_LOCK(&item_locks[i]);
  set_up(&bare->inside);
  set_up(any);
  for (int i = 0; i < 31; i++)
    visit(&shards[i % 4]->lock);
  for (int i = 0; i < 37; i++)
    visit(&item_locks[i % 8]);
  for (int i = 0; i < 41; i++)
    visit(&bare->inside);
  for (int i = 0; i < 43; i++)
    visit(&late->lock);
  for (int i = 0; i < 47; i++)
    visit(any);
  return 0;
}
