// Every way to use a lock, from several threads, for race detectors to watch. Without an argument
// there is no race in it; "race": one write without the lock; "order": two locks in both orders;
// "threads": threads that several others create, which Helgrind takes for races of the C library.
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 60, ITEMS = 40 };

RELOCK_LOCK_CLASS(adaptive, "adaptive", "adaptive");
RELOCK_LOCK_CLASS(ccsynch, "ccsynch", "ccsynch");
RELOCK_LOCK_CLASS(rcl, "rcl", "rcl");
RELOCK_LOCK_CLASS(mcs, "mcs", "mcs");
RELOCK_LOCK_CLASS(posix, "posix", "posix");
RELOCK_LOCK_CLASS(flat, "flat", "flat_combining");

struct account {
  relock_mutex_t *lock;
  long sum;
};

static relock_mutex_t locks[] = {
    RELOCK_MUTEX_INITIALIZER(adaptive),          RELOCK_MUTEX_INITIALIZER(ccsynch),
    RELOCK_MUTEX_INITIALIZER(rcl),               RELOCK_MUTEX_INITIALIZER(mcs),
    RELOCK_MUTEX_INITIALIZER(posix),             RELOCK_MUTEX_INITIALIZER(flat),
    RELOCK_RECURSIVE_MUTEX_INITIALIZER(ccsynch), RELOCK_RECURSIVE_MUTEX_INITIALIZER(rcl),
    RELOCK_ERRORCHECK_MUTEX_INITIALIZER(mcs),    RELOCK_DEFAULT_MUTEX_INITIALIZER,
};
enum { LOCKS = sizeof locks / sizeof *locks, FIRST_RECURSIVE = 6, LAST_RECURSIVE = 7 };
static struct account accounts[LOCKS];
static int with_race, with_order, with_threads;

struct deposit {
  struct account *account;
  long amount;
};

static int deposit_section(void *context) {
  struct deposit *deposit = context;
  deposit->account->sum += deposit->amount;
  return 0;
}

/* --- a bounded queue, one end by holders, the other by sections that wait --- */

static struct queue {
  relock_mutex_t lock;
  relock_cond_t changed;
  int item[4];
  unsigned put, taken;
} queues[] = {{.lock = RELOCK_MUTEX_INITIALIZER(adaptive), .changed = RELOCK_COND_INITIALIZER},
              {.lock = RELOCK_MUTEX_INITIALIZER(rcl), .changed = RELOCK_COND_INITIALIZER},
              {.lock = RELOCK_MUTEX_INITIALIZER(ccsynch), .changed = RELOCK_COND_INITIALIZER}};
enum { QUEUES = sizeof queues / sizeof *queues };

static void put(struct queue *queue, int item) {
  relock_mutex_lock(&queue->lock);
  while (queue->put - queue->taken == 4)
    relock_cond_wait(&queue->changed, &queue->lock);
  queue->item[queue->put++ % 4] = item;
  relock_cond_broadcast(&queue->changed);
  relock_mutex_unlock(&queue->lock);
}

struct take_section {
  struct queue *queue;
  int item;
  relock_resume_t resume;
};

static int take_section(void *context) {
  struct take_section *section = context;
  struct queue *queue = section->queue;
  switch (section->resume.at) {
  case 0:
    while (queue->put == queue->taken) {
      RELOCK_COND_WAIT(&section->resume, &queue->changed, 1);
    }
    section->item = queue->item[queue->taken++ % 4];
    relock_cond_broadcast(&queue->changed);
  }
  return 0;
}

static int take(struct queue *queue) {
  struct take_section section = {.queue = queue};
  relock_execute_resumable(&queue->lock, take_section, &section, &section.resume);
  return section.item;
}

static void *producer(void *arg) {
  for (int i = 0; i < ITEMS; i++)
    for (int k = 0; k < QUEUES; k++)
      put(&queues[k], i);
  return arg;
}

static void *consumer(void *arg) {
  long sum = 0;
  for (int i = 0; i < ITEMS; i++)
    for (int k = 0; k < QUEUES; k++)
      sum += take(&queues[k]);
  *(long *)arg = sum;
  return NULL;
}

/* --- all ways to a lock --- */

static struct timespec soon(long ms) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_nsec += ms * 1000000;
  now.tv_sec += now.tv_nsec / 1000000000;
  now.tv_nsec %= 1000000000;
  return now;
}

static void hold(struct account *account) {
  relock_mutex_lock(account->lock);
  account->sum++;
  relock_mutex_unlock(account->lock);
}

static void try_to_hold(struct account *account) {
  while (relock_mutex_trylock(account->lock) != 0)
    nanosleep(&(struct timespec){0, 1000}, NULL);
  account->sum++;
  relock_mutex_unlock(account->lock);
}

static void hold_in_time(struct account *account) {
  struct timespec deadline = soon(0);
  if (relock_mutex_timedlock(account->lock, &deadline) != 0) {
    deadline = soon(1000000);
    relock_mutex_timedlock(account->lock, &deadline);
  }
  account->sum++;
  relock_mutex_unlock(account->lock);
}

static void hold_twice(struct account *account) {
  relock_mutex_lock(account->lock);
  relock_mutex_lock(account->lock);
  account->sum++;
  relock_mutex_unlock(account->lock);
  account->sum++;
  relock_mutex_unlock(account->lock);
}

static void execute(struct account *account) {
  struct deposit deposit = {account, 1};
  relock_execute(account->lock, deposit_section, &deposit);
  relock_execute_any_thread(account->lock, deposit_section, &deposit);
  relock_execute_copy(account->lock, deposit_section, &deposit, sizeof deposit);
  relock_execute_copy_any_thread(account->lock, deposit_section, &deposit, sizeof deposit);
  relock_submit(account->lock, deposit_section, &deposit, sizeof deposit);
}

static void *worker(void *arg) {
  for (int i = 0; i < ROUNDS; i++)
    for (int k = 0; k < LOCKS; k++) {
      hold(&accounts[k]);
      try_to_hold(&accounts[k]);
      hold_in_time(&accounts[k]);
      execute(&accounts[k]);
      if (k >= FIRST_RECURSIVE && k <= LAST_RECURSIVE)
        hold_twice(&accounts[k]);
    }
  relock_submitted_wait();
  if (with_race)
    accounts[0].sum++;
  return arg;
}

/* --- memory that is a mutex for a while, threads that take over what others had --- */

static void run(void *(*body)(void *), void *arg) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, arg);
  pthread_join(thread, NULL);
}

static void *short_lived(void *arg) {
  for (int k = 0; k < LOCKS; k++)
    hold(&accounts[k]);
  return arg;
}

static void *reuser(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    struct {
      relock_mutex_t lock;
      relock_cond_t changed;
      long sum;
    } *object = malloc(sizeof *object);
    struct timespec deadline = soon(0);
    relock_mutex_init(&object->lock, NULL, i % 2 ? RELOCK_CLASS(mcs) : NULL);
    relock_cond_init(&object->changed, NULL);
    relock_mutex_lock(&object->lock);
    object->sum = i;
    relock_cond_timedwait(&object->changed, &object->lock, &deadline);
    relock_mutex_unlock(&object->lock);
    relock_cond_destroy(&object->changed);
    relock_mutex_destroy(&object->lock);
    memset(object, 0, sizeof *object);
    free(object);
    if (with_threads && i % 4 == 0)
      run(short_lived, NULL);
  }
  return arg;
}

static void *in_order(void *arg) {
  static const int order[2][2] = {{0, 1}, {1, 0}};
  const int *mine = order[arg != NULL];
  relock_mutex_lock(&locks[mine[0]]);
  relock_mutex_lock(&locks[mine[1]]);
  relock_mutex_unlock(&locks[mine[1]]);
  relock_mutex_unlock(&locks[mine[0]]);
  return NULL;
}

int main(int argc, char **argv) {
  with_race = argc > 1 && strcmp(argv[1], "race") == 0;
  with_order = argc > 1 && strcmp(argv[1], "order") == 0;
  with_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  for (int k = 0; k < LOCKS; k++)
    accounts[k].lock = &locks[k];
  pthread_t threads[THREADS], producers[2], consumers[2], reusers[2];
  long taken[2], sum = 0;
  for (int i = 0; i < 2; i++) {
    pthread_create(&producers[i], NULL, producer, NULL);
    pthread_create(&consumers[i], NULL, consumer, &taken[i]);
    pthread_create(&reusers[i], NULL, reuser, NULL);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) {
    pthread_join(producers[i], NULL);
    pthread_join(consumers[i], NULL);
    pthread_join(reusers[i], NULL);
  }
  if (with_order)
    for (long i = 0; i < 2; i++)
      run(in_order, (void *)i);
  for (int k = 0; k < LOCKS; k++)
    sum += accounts[k].sum;
  printf("sum %ld taken %ld\n", sum, taken[0] + taken[1]);
  return 0;
}
