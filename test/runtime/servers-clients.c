/* SPDX-License-Identifier: MIT
 *
 * Whatever becomes of clients, servers serve the others, and every operation on a served mutex is
 * exact.
 */
#include "servers.h"

#include <semaphore.h>
#include <sys/wait.h>

/* --- clients that are stopped ---------------------------------------------------------------- */

static _Atomic int stopped;
static int gate[2]; /* a pipe: a byte lets one stopped thread go on */

static void stop_here(int signal) {
  (void)signal;
  int saved = errno;
  stopped++;
  char byte;
  while (read(gate[0], &byte, 1) != 1)
    continue;
  stopped--;
  errno = saved;
}

struct client {
  int set, lock;
  _Atomic bool ends;
  _Atomic long added;
};

static void *add_until_end(void *context) {
  struct client *client = context;
  while (!client->ends) {
    add_once(&locks[client->set][client->lock], 1);
    client->added++;
    if (client->added % 8 == 0)
      sched_yield(); /* ThreadSanitizer delivers signals here */
  }
  return NULL;
}

enum { STOPS = 40 };

/* One client after the other is stopped wherever it is, often with a request posted; the others,
 * under other mutexes of the same servers, go on meanwhile. */
static void clients_are_stopped_by_signals(void) {
  struct client clients[2 * MAX_SERVERS];
  pthread_t threads[2 * MAX_SERVERS];
  struct chance chance = chance_of(0);
  struct sigaction action = {.sa_handler = stop_here, .sa_flags = SA_RESTART};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQUAL(pipe(gate), 0);
  for (int i = 0; i < 2 * servers; i++) {
    clients[i] = (struct client){.set = i % servers, .lock = 2 * (i / servers)};
    threads[i] = check_start(add_until_end, &clients[i]);
  }
  /* One that is stopped while it begins may hold what all need to begin. */
  for (int i = 0; i < 2 * servers; i++)
    AWAIT(clients[i].added > 0);
  for (int i = 0; i < STOPS; i++) {
    usleep(pick(&chance, 3000));
    int victim = (int)pick(&chance, 2 * (uint32_t)servers);
    CHECK_EQUAL(pthread_kill(threads[victim], SIGUSR1), 0);
    AWAIT(stopped);
    long before[2 * MAX_SERVERS];
    for (int k = 0; k < 2 * servers; k++)
      before[k] = clients[k].added;
    for (int k = 0; k < 2 * servers; k++)
      if (k != victim)
        AWAIT(clients[k].added >= before[k] + 200);
    CHECK_EQUAL(clients[victim].added, before[victim]);
    CHECK_EQUAL(write(gate[1], "x", 1), 1);
    AWAIT(!stopped);
  }
  for (int i = 0; i < 2 * servers; i++)
    clients[i].ends = true;
  for (int i = 0; i < 2 * servers; i++) {
    check_join(threads[i]);
    CHECK_EQUAL(locks[clients[i].set][clients[i].lock].value, clients[i].added);
  }
  for (int i = 0; i < servers; i++)
    demand_service(i);
}

/* The request of a stopped client is served all the same, and the next section under that mutex
 * too: here the client is stopped while its own section runs. */
struct stopping {
  struct lock *lock;
  pthread_t client;
  _Atomic int inside, leave;
};

static int stay_inside(void *context) {
  struct stopping *stopping = context;
  stopping->inside = 1;
  while (!stopping->leave)
    usleep(100);
  enter(stopping->lock, 1);
  return 0;
}

static void *stay_on_server(void *context) {
  struct stopping *stopping = context;
  on_server(stopping->lock, stay_inside, stopping);
  sched_yield();
  return NULL;
}

static void stop_client_of_running_section(void) {
  struct sigaction action = {.sa_handler = stop_here, .sa_flags = SA_RESTART};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQUAL(pipe(gate), 0);
  for (int set = 0; set < servers; set++)
    for (int i = 1; i <= 5; i++) {
      struct stopping stopping = {.lock = &locks[set][0]};
      stopping.client = check_start(stay_on_server, &stopping);
      AWAIT(stopping.inside);
      CHECK_EQUAL(pthread_kill(stopping.client, SIGUSR1), 0);
#ifndef __SANITIZE_THREAD__ /* delivers the signal when the section is over */
      AWAIT(stopped);
#endif
      stopping.leave = 1;
      for (int k = 0; k < 20; k++)
        add_once(stopping.lock, 1); /* the first waits for the client's section */
      CHECK_EQUAL(relock_mutex_lock(&stopping.lock->mutex), 0);
      CHECK_EQUAL(stopping.lock->value, 21 * i);
      CHECK_EQUAL(relock_mutex_unlock(&stopping.lock->mutex), 0);
      CHECK_EQUAL(write(gate[1], "x", 1), 1);
      check_join(stopping.client);
    }
}

/* The whole process, by a child. */
static void process_is_stopped(void) {
  pid_t parent = getpid();
  struct chance chance = chance_of(1);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (int i = 0; i < 10; i++) {
      usleep(10000 + pick(&chance, 20000));
      kill(parent, SIGSTOP);
      usleep(1000 + pick(&chance, 20000));
      kill(parent, SIGCONT);
    }
    _exit(0);
  }
  struct client clients[3 * MAX_SERVERS];
  pthread_t threads[3 * MAX_SERVERS];
  for (int i = 0; i < 3 * servers; i++) {
    clients[i] = (struct client){.set = i % servers, .lock = i / servers};
    threads[i] = check_start(add_until_end, &clients[i]);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  long before[3 * MAX_SERVERS];
  for (int i = 0; i < 3 * servers; i++)
    before[i] = clients[i].added;
  for (int i = 0; i < 3 * servers; i++) {
    AWAIT(clients[i].added > before[i] + 10);
    clients[i].ends = true;
  }
  for (int i = 0; i < 3 * servers; i++) {
    check_join(threads[i]);
    CHECK_EQUAL(locks[clients[i].set][clients[i].lock].value, clients[i].added);
  }
}

/* --- clients that end ------------------------------------------------------------------------ */

enum { SHORT_LIVES = 3000 / SLOWNESS };
static _Atomic long ended, delegated_sections;

static void *live_for_one_section(void *context) {
  long number = (long)context;
  delegated_sections += add_once(&locks[number % servers][number / servers % 3], 1);
  ended++;
  return NULL;
}

static long sum_of_values(void) {
  long sum = 0;
  for (int set = 0; set < MAX_SERVERS; set++)
    for (int i = 0; i < LOCKS; i++)
      sum += locks[set][i].value;
  return sum;
}

static void clients_end_after_their_section(void) {
  struct chance chance = chance_of(2);
  struct client steady = {.set = 0, .lock = 4}; /* keeps a server awake */
  pthread_t steady_thread = check_start(add_until_end, &steady);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (long started = 0; started < SHORT_LIVES;) {
    pthread_t threads[16];
    int count = 0, wanted = 1 + (int)pick(&chance, 16);
    for (int i = 0; i < wanted && started < SHORT_LIVES; i++, started++) {
      if (pick(&chance, 2))
        CHECK_EQUAL(pthread_create(&threads[15], &detached, live_for_one_section, (void *)started),
                    0);
      else if (count < 15)
        threads[count++] = check_start(live_for_one_section, (void *)started);
      else
        live_for_one_section((void *)started);
    }
    for (int i = 0; i < count; i++)
      check_join(threads[i]);
    AWAIT(ended == started);
  }
  steady.ends = true;
  check_join(steady_thread);
  CHECK_EQUAL(sum_of_values(), SHORT_LIVES + steady.added);
  AWAIT(statistics_of(0).clients <= 1); /* this thread; detached ones are about to end */
}

/* Waves of threads that live at the same time, with 64 slots. */
enum { SLOTS = 64 };

struct wave {
  pthread_barrier_t line_up;
  int sections;
};

static void *ride_wave(void *context) {
  struct wave *wave = context;
  struct chance chance = chance_of((uint64_t)kernel_thread());
  pthread_barrier_wait(&wave->line_up);
  for (int i = 0; i < wave->sections; i++)
    delegated_sections += add_once(&locks[pick(&chance, (uint32_t)servers)][pick(&chance, 3)], 1);
  pthread_barrier_wait(&wave->line_up); /* so that all keep their slots until here */
  return NULL;
}

static void roll(int threads, int sections) {
  struct wave wave = {.sections = sections};
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  CHECK_EQUAL(pthread_barrier_init(&wave.line_up, NULL, (unsigned)threads + 1), 0);
  for (int i = 0; i < threads; i++)
    CHECK_EQUAL(pthread_create(&thread[i], &small, ride_wave, &wave), 0);
  pthread_barrier_wait(&wave.line_up);
  pthread_barrier_wait(&wave.line_up);
  CHECK(statistics_of(0).clients <= SLOTS);
  for (int i = 0; i < threads; i++)
    check_join(thread[i]);
  pthread_barrier_destroy(&wave.line_up);
  free(thread);
}

static void ten_thousand_clients_in_64_slots(void) {
  enum { WAVES = 42 / SLOWNESS, IN_WAVE = 200, IN_FLOOD = 1600 / SLOWNESS };
  long sections = 0;
  for (int i = 0; i < WAVES; i++, sections += IN_WAVE * 4)
    roll(IN_WAVE, 4);
  roll(IN_FLOOD, 10);
  sections += IN_FLOOD * 10;
  CHECK_EQUAL(sum_of_values(), sections);
  CHECK(statistics_of(0).clients <= 1 + (unsigned)servers);
  /* Those that come later find slots again. */
  for (int set = 0; set < servers; set++) {
    struct add one = {&locks[set][0], 1, kernel_thread(), false};
    on_server(&locks[set][0], add, &one);
  }
  remark("%ld of %ld sections delegated", delegated_sections, sections);
}

/* --- clients that are cancelled -------------------------------------------------------------- */

struct cancelled {
  int set;
  _Atomic int inside, leave, survived;
  int finished; /* guarded by lock 0 */
  bool behind;  /* its request waits behind another one's section */
};

static int linger(void *context) {
  struct cancelled *cancelled = context;
  cancelled->inside = 1;
  while (!cancelled->leave)
    usleep(100);
  enter(&locks[cancelled->set][0], 1);
  return 0;
}

static int finish(void *context) {
  struct cancelled *cancelled = context;
  sleep_ms(1); /* a cancellation point */
  enter(&locks[cancelled->set][0], 1);
  cancelled->finished++;
  return 0;
}

/* In no frame: nobody tells AddressSanitizer of those that a cancellation leaves. And not pause():
 * ThreadSanitizer sees no synchronisation of a thread that was cancelled in it. */
static const struct timespec one_second = {.tv_sec = 1};

static void *run_to_be_cancelled(void *context) {
  struct cancelled *cancelled = context;
  if (cancelled->behind)
    relock_execute_any_thread(&locks[cancelled->set][0].mutex, finish, cancelled);
  else
    on_server(&locks[cancelled->set][0], linger, cancelled);
  cancelled->survived = 1;
  for (;;)
    clock_nanosleep(CLOCK_MONOTONIC, 0, &one_second, NULL); /* here it acts */
  return NULL;
}

static void *linger_on_server(void *context) {
  struct cancelled *cancelled = context;
  on_server(&locks[cancelled->set][0], linger, cancelled);
  return NULL;
}

static void check_cancelled(pthread_t thread) {
  void *result;
  CHECK_EQUAL(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED);
}

static void cancel_clients(int set) {
  struct chance chance = chance_of((uint64_t)set);
  long expected = 0;
  for (int i = 0; i < 10; i++) {
    /* While its section runs. */
    struct cancelled running = {.set = set};
    pthread_t client = check_start(run_to_be_cancelled, &running);
    AWAIT(running.inside);
    CHECK_EQUAL(pthread_cancel(client), 0);
    usleep(pick(&chance, 3000));
    CHECK_EQUAL(running.survived, 0);
    running.leave = 1;
    check_cancelled(client);
    CHECK_EQUAL(running.survived, 1);

    /* While its request waits behind another section under the same mutex. */
    struct cancelled first = {.set = set}, second = {.set = set, .behind = true};
    pthread_t before = check_start(linger_on_server, &first);
    AWAIT(first.inside);
    client = check_start(run_to_be_cancelled, &second);
    usleep(pick(&chance, 3000));
    CHECK_EQUAL(pthread_cancel(client), 0);
    usleep(pick(&chance, 3000));
    first.leave = 1;
    check_join(before);
    check_cancelled(client);
    CHECK_EQUAL(second.survived, 1);
    CHECK_EQUAL(second.finished, 1);
    expected += 3;
    CHECK_EQUAL(locks[set][0].value, expected);
    add_once(&locks[set][0], 1); /* the mutex is not left locked, nor the slot used */
    expected++;
  }
}

static void cancelled_clients_get_their_sections(void) { on_each_server(cancel_clients); }

/* --- holders and sections -------------------------------------------------------------------- */

enum { MIXERS = 8, MIXES = 20000 / SLOWNESS };

struct mixer {
  int number;
  long added[MAX_SERVERS][2];
  long delegated;
};

static bool hold(struct lock *lock, uint32_t way) {
  struct timespec soon;
  switch (way) {
  case 0:
    return relock_mutex_lock(&lock->mutex) == 0;
  case 1:
    return relock_mutex_trylock(&lock->mutex) == 0;
  case 2:
    soon = check_deadline(CLOCK_REALTIME, 1);
    return relock_mutex_timedlock(&lock->mutex, &soon) == 0;
  default:
    soon = check_deadline(CLOCK_MONOTONIC, 2);
    return relock_mutex_clocklock(&lock->mutex, CLOCK_MONOTONIC, &soon) == 0;
  }
}

static void *mix(void *context) {
  struct mixer *mixer = context;
  struct chance chance = chance_of((uint64_t)mixer->number);
  for (int i = 0; i < MIXES; i++) {
    int set = (int)pick(&chance, (uint32_t)servers), number = (int)pick(&chance, 2);
    struct lock *lock = &locks[set][number];
    if (pick(&chance, 8) < 6) { /* mostly sections, so that words are kept by the server */
      mixer->delegated += add_once(lock, 1);
    } else {
      if (!hold(lock, pick(&chance, 4)))
        continue;
      enter(lock, 1);
      CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
    }
    mixer->added[set][number]++;
  }
  return NULL;
}

static void holders_and_sections_exclude_each_other(void) {
  static struct mixer mixers[MIXERS];
  pthread_t threads[MIXERS];
  for (int i = 0; i < MIXERS; i++) {
    mixers[i].number = i;
    threads[i] = check_start(mix, &mixers[i]);
  }
  long expected[MAX_SERVERS][2] = {{0}}, delegated = 0;
  for (int i = 0; i < MIXERS; i++) {
    check_join(threads[i]);
    delegated += mixers[i].delegated;
    for (int k = 0; k < 2 * MAX_SERVERS; k++)
      expected[k / 2][k % 2] += mixers[i].added[k / 2][k % 2];
  }
  for (int k = 0; k < 2 * MAX_SERVERS; k++) {
    struct lock *lock = &locks[k / 2][k % 2];
    CHECK_EQUAL(lock->value, expected[k / 2][k % 2]);
    CHECK_EQUAL(relock_mutex_trylock(&lock->mutex), 0); /* nobody uses it any more */
    CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
    CHECK_EQUAL(relock_mutex_destroy(&lock->mutex), 0);
  }
  for (int set = 0; set < servers; set++)
    demand_service(set);
  remark("%ld delegated", delegated);
}

/* A mutex that only one thread uses is free for it whenever none of its operations is going on,
 * although the server keeps its word. */
struct alone {
  int number;
  long delegated;
};

static void *use_alone(void *context) {
  struct alone *alone = context;
  struct chance chance = chance_of((uint64_t)alone->number);
  int set = alone->number % servers;
  struct lock *lock = NULL;
  long expected = 0;
  for (int i = 0; i < MIXES; i++) {
    if (!lock) {
      lock = aligned_alloc(_Alignof(struct lock), sizeof *lock);
      init_lock(lock, set, alone->number % LOCKS);
      expected = 0;
    }
    alone->delegated += add_once(lock, 1);
    expected++;
    switch (pick(&chance, 6)) {
    case 0:
      CHECK_EQUAL(relock_mutex_trylock(&lock->mutex), 0);
      CHECK_EQUAL(lock->value, expected);
      CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
      break;
    case 1: {
      struct timespec past = {0, 0};
      CHECK_EQUAL(relock_mutex_clocklock(&lock->mutex, CLOCK_MONOTONIC, &past), 0);
      CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
      break;
    }
    case 2: /* its memory is used for something else at once */
      CHECK_EQUAL(relock_mutex_destroy(&lock->mutex), 0);
      memset(lock, 0xa5, sizeof *lock);
      free(lock);
      lock = NULL;
      break;
    }
  }
  free(lock);
  return NULL;
}

static void a_mutex_is_free_after_the_own_section(void) {
  struct alone alones[MIXERS];
  pthread_t threads[MIXERS];
  long delegated = 0;
  for (int i = 0; i < MIXERS; i++) {
    alones[i] = (struct alone){i, 0};
    threads[i] = check_start(use_alone, &alones[i]);
  }
  for (int i = 0; i < MIXERS; i++) {
    check_join(threads[i]);
    delegated += alones[i].delegated;
  }
  for (int set = 0; set < servers; set++)
    demand_service(set);
  remark("%ld delegated", delegated);
}

const struct test_case client_cases[] = {
    {.name = "clients-stopped", .run = clients_are_stopped_by_signals},
    {.name = "client-stopped-in-section", .run = stop_client_of_running_section},
    {.name = "process-stopped", .run = process_is_stopped},
    {.name = "clients-end", .run = clients_end_after_their_section},
    {.name = "ten-thousand-clients",
     .run = ten_thousand_clients_in_64_slots,
     .tune = "server_slots=64"},
    {.name = "clients-cancelled", .run = cancelled_clients_get_their_sections},
    {.name = "holders-and-sections", .run = holders_and_sections_exclude_each_other},
    {.name = "free-after-section", .run = a_mutex_is_free_after_the_own_section},
    {0},
};
