/* SPDX-License-Identifier: MIT
 * A pthread program to be converted and watched. Its sections reach into their callers' stacks,
 * which another thread does for them, allocate, free, and wait. Without an argument nothing is
 * wrong in it: heap      a section writes behind a block stack     one writes behind its caller's
 * array freed     one writes where it has freed overflow  one adds beyond the largest int unset one
 * decides by what was never set */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 200, WORDS = 8 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;

struct entry {
  struct entry *next;
  long value;
  char name[WORDS];
};
static struct entry *table;
static int queue[4], queue_length;
static long total;
static int fault;

/* In a section: they find the lock taken, and have it run theirs. */
static void let_others_come(long turn) {
  if (turn % 4 == 0)
    sched_yield();
}

static void insert(long value, const char *name) {
  struct entry *entry = malloc(sizeof *entry);
  entry->value = value;
  pthread_mutex_lock(&table_lock);
  let_others_come(value);
  strcpy(entry->name, name);
  entry->next = table;
  table = entry;
  if (fault == 1)
    entry->name[WORDS + value % 2] = 1;
  pthread_mutex_unlock(&table_lock);
}

static long remove_first(void) {
  long value = 0;
  pthread_mutex_lock(&table_lock);
  struct entry *first = table;
  if (first) {
    value = first->value;
    table = first->next;
    free(first);
    if (fault == 3)
      first->value = 0;
  }
  pthread_mutex_unlock(&table_lock);
  return value;
}

static void put(int item) {
  pthread_mutex_lock(&queue_lock);
  while (queue_length == 4)
    pthread_cond_wait(&queue_changed, &queue_lock);
  queue[queue_length++] = item;
  pthread_cond_broadcast(&queue_changed);
  pthread_mutex_unlock(&queue_lock);
}

static int take(void) {
  int item;
  pthread_mutex_lock(&queue_lock);
  while (queue_length == 0)
    pthread_cond_wait(&queue_changed, &queue_lock);
  item = queue[--queue_length];
  pthread_cond_broadcast(&queue_changed);
  pthread_mutex_unlock(&queue_lock);
  return item;
}

static void sum_up(int last, int largest) {
  int words[WORDS];
  long sum = 0;
  int added = largest, *decides = malloc(sizeof *decides);
  if (fault != 5)
    *decides = 0;
  for (int i = 0; i < WORDS; i++)
    words[i] = last + i;
  pthread_mutex_lock(&total_lock);
  let_others_come(last);
  for (int i = 0; i < WORDS; i++)
    sum += words[i];
  words[fault == 2 ? WORDS + last % 2 : 0] = 0;
  if (fault == 4)
    added += 1;
  if (*decides > 0)
    let_others_come(*decides);
  total += sum;
  pthread_mutex_unlock(&total_lock);
  free(decides);
}

static void *worker(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    insert(i, "entry");
    remove_first();
    sum_up(i, 2147483647);
    if ((long)number % 2)
      put(i);
    else
      take();
  }
  return NULL;
}

int main(int argc, char **argv) {
  static const char *const faults[] = {"", "heap", "stack", "freed", "overflow", "unset"};
  pthread_t thread[THREADS];
  for (int i = 1; argc > 1 && i < 6; i++)
    fault = strcmp(argv[1], faults[i]) == 0 ? i : fault;
  for (long i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, worker, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  printf("total %ld, left %d %s\n", total, queue_length, table ? "entries" : "none");
  return 0;
}
