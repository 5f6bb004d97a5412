/* SPDX-License-Identifier: MIT
 *
 * Sections that sleep, wait, spin, take other locks or miss pages do not stop a server. Each scene
 * is played on all servers at the same time.
 */
#include "servers.h"

#include <sys/mman.h>

/* --- a section that sleeps in the kernel ----------------------------------------------------- */

enum { SLEEP_MS = 50, SLEEPS = 3, MOST_SLEEPS = 20 };

struct sleeper {
  int set;
  _Atomic int phase; /* odd: inside; negative: the end */
  _Atomic long meanwhile, meanwhile_delegated;
};

static int sleep_inside(void *context) {
  struct sleeper *sleeper = context;
  locks[sleeper->set][0].inside = 1;
  sleeper->phase++;
  sleep_ms(SLEEP_MS);
  sleeper->phase++;
  locks[sleeper->set][0].inside = 0;
  return 0;
}

struct neighbour {
  struct sleeper *sleeper;
  int lock;
  long added;
};

static void *work_beside(void *context) {
  struct neighbour *neighbour = context;
  struct sleeper *sleeper = neighbour->sleeper;
  for (int before; (before = sleeper->phase) >= 0; neighbour->added++) {
    bool delegated = add_once(&locks[sleeper->set][neighbour->lock], 1);
    if (before % 2 == 1 && sleeper->phase == before) { /* began and ended while it slept */
      sleeper->meanwhile++;
      sleeper->meanwhile_delegated += delegated;
    }
  }
  return NULL;
}

static void sleep_on_server(int set) {
  static struct sleeper sleepers[MAX_SERVERS];
  static struct neighbour neighbours[MAX_SERVERS][2];
  struct sleeper *sleeper = &sleepers[set];
  sleeper->set = set;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    neighbours[set][i] = (struct neighbour){sleeper, i + 1, 0};
    threads[i] = check_start(work_beside, &neighbours[set][i]);
  }
  int sleeps = 0;
  do { /* few of the others' sections are delegated where processors are scarce */
    on_server(&locks[set][0], sleep_inside, sleeper);
    sleeps++;
  } while (sleeps < SLEEPS || (sleeper->meanwhile_delegated == 0 && sleeps < MOST_SLEEPS));
  CHECK(sleeper->meanwhile >= sleeps);
  sleeper->phase = -1;
  for (int i = 0; i < 2; i++) {
    check_join(threads[i]);
    CHECK_EQUAL(locks[set][i + 1].value, neighbours[set][i].added);
  }
  CHECK(statistics_of(set).activations > 0);
  CHECK(statistics_of(set).manager_wakes > 0);
  if (set == 0)
    remark("%ld sections meanwhile, %ld on the server", sleeper->meanwhile / sleeps,
           sleeper->meanwhile_delegated / sleeps);
}

static void others_go_on_while_a_section_sleeps(void) { on_each_server(sleep_on_server); }

/* --- a section that reads what follows from another section ---------------------------------- */

struct reader {
  int set;
  int pipe[2];
  _Atomic int inside;
  char byte;
};

static int read_inside(void *context) {
  struct reader *reader = context;
  reader->inside = 1;
  return (int)read(reader->pipe[0], &reader->byte, 1);
}

static void *read_on_server(void *context) {
  struct reader *reader = context;
  CHECK_EQUAL(on_server(&locks[reader->set][0], read_inside, reader), 1);
  return NULL;
}

static void write_after_section(int set) {
  for (int i = 0; i < 5; i++) {
    struct reader reader = {.set = set};
    CHECK_EQUAL(pipe(reader.pipe), 0);
    pthread_t thread = check_start(read_on_server, &reader);
    AWAIT(reader.inside);
    struct add one = {&locks[set][1], 1, kernel_thread(), false};
    on_server(&locks[set][1], add, &one);
    CHECK_EQUAL(write(reader.pipe[1], "x", 1), 1);
    check_join(thread);
    CHECK_EQUAL(reader.byte, 'x');
    close(reader.pipe[0]);
    close(reader.pipe[1]);
  }
  CHECK_EQUAL(locks[set][1].value, 5);
}

static void section_reads_what_another_leads_to(void) { on_each_server(write_after_section); }

/* --- sections that wait on condition variables ----------------------------------------------- */

enum { WAITERS = 24 }; /* more than a server's pool */

struct queue {
  struct lock *lock;
  long tokens, waiting, taken; /* guarded by the lock */
};

static int wait_for_token(void *context) {
  struct queue *queue = context;
  queue->waiting++;
  while (queue->tokens == 0)
    CHECK_EQUAL(relock_cond_wait(&queue->lock->cond, &queue->lock->mutex), 0);
  enter(queue->lock, 1);
  queue->waiting--;
  queue->tokens--;
  queue->taken++;
  return 0;
}

static int give_token(void *context) {
  struct queue *queue = context;
  queue->tokens++;
  return relock_cond_signal(&queue->lock->cond);
}

static int give_to_all(void *context) {
  struct queue *queue = context;
  queue->tokens += queue->waiting;
  return relock_cond_broadcast(&queue->lock->cond);
}

static int read_waiting(void *context) { return (int)((struct queue *)context)->waiting; }

static long count_waiting(struct queue *queue) {
  return relock_execute_any_thread(&queue->lock->mutex, read_waiting, queue);
}

struct waiter {
  struct queue *queue;
  bool delegated;
};

static void *wait_in_section(void *context) {
  struct waiter *waiter = context;
  waiter->delegated = on_server_or_here(waiter->queue->lock, wait_for_token, waiter->queue);
  return NULL;
}

static void *wait_in_section_as_client(void *context) {
  struct waiter *waiter = context;
  on_server_as_client(waiter->queue->lock, wait_for_token, waiter->queue);
  waiter->delegated = true;
  return NULL;
}

static void start_waiters(struct queue *queue, int count, void *(*run)(void *),
                          struct waiter waiters[], pthread_t threads[]) {
  for (int i = 0; i < count; i++) {
    waiters[i] = (struct waiter){queue, false};
    threads[i] = check_start(run, &waiters[i]);
  }
  AWAIT(count_waiting(queue) == count);
}

static int join_waiters(int count, const struct waiter waiters[], const pthread_t threads[]) {
  int delegated = 0;
  for (int i = 0; i < count; i++) {
    check_join(threads[i]);
    delegated += waiters[i].delegated;
  }
  return delegated;
}

/* Fewer than the pool: whoever gives the tokens is served, too. */
static void few_wait(int set) {
  struct waiter waiters[WAITERS];
  pthread_t threads[WAITERS];
  struct queue queue = {.lock = &locks[set][0]};
  start_waiters(&queue, 4, wait_in_section_as_client, waiters, threads);
  for (int i = 0; i < 2; i++)
    on_server(queue.lock, give_token, &queue);
  on_server(queue.lock, give_to_all, &queue);
  while (count_waiting(&queue) > 0) /* tokens may be left over, or taken by the first two */
    on_server(queue.lock, give_to_all, &queue);
  join_waiters(4, waiters, threads);
  CHECK_EQUAL(queue.taken, 4);
  CHECK_EQUAL(queue.lock->value, 4);
}

/* More than the pool: the rest help themselves, and so does whoever gives the tokens. */
static void many_wait(int set) {
  struct waiter waiters[WAITERS];
  pthread_t threads[WAITERS];
  struct queue queue = {.lock = &locks[set][1]};
  demand_service(set);
  start_waiters(&queue, WAITERS, wait_in_section, waiters, threads);
  long others = 0; /* other mutexes of the server meanwhile */
  for (; others < 100; others++)
    add_once(&locks[set][2], 1);
  struct chance chance = chance_of((uint64_t)set);
  long given = 0;
  for (; given < WAITERS; given++) {
    on_server_or_here(queue.lock, give_token, &queue);
    if (pick(&chance, 2))
      sleep_ms(1);
  }
  int delegated = join_waiters(WAITERS, waiters, threads);
  CHECK_EQUAL(queue.taken, WAITERS);
  CHECK_EQUAL(queue.tokens, 0);
  CHECK_EQUAL(queue.lock->value, WAITERS);
  CHECK_EQUAL(locks[set][2].value, others);
  if (set == 0)
    remark("%d of %d waited on the server", delegated, WAITERS);
}

static void play_waiting(int set) {
  few_wait(set);
  many_wait(set);
}

static void sections_wait_on_conditions(void) { on_each_server(play_waiting); }

struct timed {
  struct lock *lock;
  bool own_clock;
  _Atomic int waits; /* 1: it does; 2: no more */
  double waited;
};

static int wait_in_vain(void *context) {
  struct timed *timed = context;
  double start = check_seconds();
  struct timespec deadline =
      check_deadline(timed->own_clock ? CLOCK_REALTIME : CLOCK_MONOTONIC, 30);
  timed->waits = 1;
  int error = timed->own_clock
                  ? relock_cond_timedwait(&timed->lock->cond, &timed->lock->mutex, &deadline)
                  : relock_cond_clockwait(&timed->lock->cond, &timed->lock->mutex, CLOCK_MONOTONIC,
                                          &deadline);
  timed->waits = 2;
  timed->waited = check_seconds() - start;
  enter(timed->lock, 1);
  return error;
}

static void *wait_timed(void *context) {
  struct timed *timed = context;
  CHECK_EQUAL(on_server(timed->lock, wait_in_vain, timed), ETIMEDOUT);
  return NULL;
}

static void time_out_on_server(int set) {
  struct lock *lock = &locks[set][0];
  long added = 0;
  for (int i = 0; i < 6; i++) {
    struct timed timed = {.lock = lock, .own_clock = i % 2};
    pthread_t thread = check_start(wait_timed, &timed);
    AWAIT(timed.waits);
    while (timed.waits == 1) { /* the mutex is not held meanwhile */
      add_once(lock, 1);
      added++;
    }
    check_join(thread);
    CHECK(timed.waited >= 0.0299);
    added++;
  }
  CHECK_EQUAL(lock->value, added);
}

static void sections_wait_with_deadlines(void) { on_each_server(time_out_on_server); }

/* --- sections that spin ---------------------------------------------------------------------- */

struct flag {
  int set;
  _Atomic int spins, raised, waits, go;
};

static int spin_inside(void *context) {
  struct flag *flag = context;
  flag->spins = 1;
  while (!flag->raised)
    continue;
  enter(&locks[flag->set][1], 1);
  return 0;
}

static int raise_flag(void *context) {
  struct flag *flag = context;
  flag->raised = 1;
  enter(&locks[flag->set][2], 1);
  return 0;
}

static void *spin_on_server(void *context) {
  struct flag *flag = context;
  on_server(&locks[flag->set][1], spin_inside, flag);
  return NULL;
}

static void spin_until_raised(int set) {
  for (int i = 1; i <= 5; i++) {
    struct flag flag = {.set = set};
    pthread_t spinner = check_start(spin_on_server, &flag);
    AWAIT(flag.spins);
    on_server(&locks[set][2], raise_flag, &flag);
    check_join(spinner);
    CHECK_EQUAL(locks[set][1].value, i);
    CHECK_EQUAL(locks[set][2].value, i);
  }
}

static void section_spins_on_another_ones_flag(void) { on_each_server(spin_until_raised); }

static int wait_inside(void *context) {
  struct flag *flag = context;
  struct lock *lock = &locks[flag->set][0];
  flag->waits = 1;
  while (!flag->go)
    CHECK_EQUAL(relock_cond_wait(&lock->cond, &lock->mutex), 0);
  enter(lock, 1);
  return 0;
}

static int end_wait(void *context) {
  struct flag *flag = context;
  flag->go = 1;
  return relock_cond_signal(&locks[flag->set][0].cond);
}

static void *wait_on_server(void *context) {
  struct flag *flag = context;
  on_server(&locks[flag->set][0], wait_inside, flag);
  return NULL;
}

/* The worst case of figure 4.3 of Lozi's thesis: the first section waits on a condition, the
 * second, in a second thread of the server, spins until the third, in a third thread, has run. */
static void one_waits_one_spins(int set) {
  for (int i = 1; i <= 5; i++) {
    struct flag flag = {.set = set};
    pthread_t waiter = check_start(wait_on_server, &flag);
    AWAIT(flag.waits);
    pthread_t spinner = check_start(spin_on_server, &flag);
    AWAIT(flag.spins);
    on_server(&locks[set][2], raise_flag, &flag);
    check_join(spinner);
    on_server(&locks[set][0], end_wait, &flag);
    check_join(waiter);
    CHECK_EQUAL(locks[set][0].value, i);
    CHECK_EQUAL(locks[set][1].value, i);
  }
}

static void one_section_waits_one_spins_one_releases(void) { on_each_server(one_waits_one_spins); }

/* --- a section that takes a pthread mutex of a client ---------------------------------------- */

struct outside {
  int set;
  pthread_mutex_t mutex;
  long value;
  _Atomic int inside;
};

static int take_outside(void *context) {
  struct outside *outside = context;
  outside->inside = 1;
  CHECK_EQUAL(pthread_mutex_lock(&outside->mutex), 0);
  outside->value++;
  CHECK_EQUAL(pthread_mutex_unlock(&outside->mutex), 0);
  enter(&locks[outside->set][0], 1);
  return 0;
}

static void *take_on_server(void *context) {
  struct outside *outside = context;
  on_server(&locks[outside->set][0], take_outside, outside);
  return NULL;
}

static void hold_while_executing(int set) {
  struct outside outside = {.set = set, .mutex = PTHREAD_MUTEX_INITIALIZER};
  for (int i = 1; i <= 10; i++) {
    CHECK_EQUAL(pthread_mutex_lock(&outside.mutex), 0);
    outside.inside = 0;
    pthread_t taker = check_start(take_on_server, &outside);
    AWAIT(outside.inside);
    struct add one = {&locks[set][1], 1, kernel_thread(), false};
    on_server(&locks[set][1], add, &one);
    outside.value++;
    CHECK_EQUAL(pthread_mutex_unlock(&outside.mutex), 0);
    check_join(taker);
    CHECK_EQUAL(outside.value, 2 * i);
    CHECK_EQUAL(locks[set][0].value, i);
    CHECK_EQUAL(locks[set][1].value, i);
  }
}

static void section_takes_a_clients_mutex(void) { on_each_server(hold_while_executing); }

/* --- sections in sections -------------------------------------------------------------------- */

/* A level of a nest of sections, which are under lock 0, 1, ... of the server `set`. Whatever the
 * servers are, locks of a lower number are taken first. */
struct level {
  int set[LOCKS], depth, at;
  bool as_client, holds;
  pid_t client; /* the thread that asks */
  _Atomic long *delegated;
};

static int descend(void *context) {
  struct level *level = context, next = *level;
  struct lock *lock = &locks[level->set[level->at]][level->at];
  pid_t here = kernel_thread();
  CHECK_EQUAL(lock->inside, 0);
  lock->inside = 1;
  if (here != level->client)
    ++level->delegated[level->at];
  next.at++;
  next.client = here;
  if (next.at < next.depth) {
    struct lock *inner = &locks[next.set[next.at]][next.at];
    int result;
    if (level->holds && next.at % 2) {
      next.client = here;
      CHECK_EQUAL(relock_mutex_lock(&inner->mutex), 0);
      result = descend(&next);
      CHECK_EQUAL(relock_mutex_unlock(&inner->mutex), 0);
    } else {
      result = level->as_client ? relock_execute(&inner->mutex, descend, &next)
                                : relock_execute_any_thread(&inner->mutex, descend, &next);
    }
    CHECK_EQUAL(result, next.at);
  }
  lock->value++;
  lock->inside = 0;
  return level->at;
}

struct nester {
  int number;
  bool one_server; /* all locks are the first set's */
  bool ring;       /* the next level is at the next server; else at any */
  _Atomic long delegated[LOCKS];
  long expected[MAX_SERVERS][LOCKS];
};

enum { NESTERS = 6, NESTS = 20000 / SLOWNESS };

static void *nest(void *context) {
  struct nester *nester = context;
  struct chance chance = chance_of((uint64_t)nester->number);
  for (int i = 0; i < NESTS; i++) {
    struct level first = {.depth = 2 + (int)pick(&chance, 3),
                          .as_client = pick(&chance, 2),
                          .holds = pick(&chance, 4) == 0,
                          .client = kernel_thread(),
                          .delegated = nester->delegated};
    int set = (int)pick(&chance, (uint32_t)servers);
    for (int k = 0; k < first.depth; k++) {
      first.set[k] = nester->one_server ? 0 : set;
      set = nester->ring ? (set + 1) % servers : (int)pick(&chance, (uint32_t)servers);
      nester->expected[first.set[k]][k]++;
    }
    struct lock *lock = &locks[first.set[0]][0];
    int result = first.as_client ? relock_execute(&lock->mutex, descend, &first)
                                 : relock_execute_any_thread(&lock->mutex, descend, &first);
    CHECK_EQUAL(result, 0);
  }
  return NULL;
}

struct inner_add {
  struct lock *lock;
  struct add add;
};

static int add_on_other_server(void *context) {
  struct inner_add *inner = context;
  inner->add = (struct add){inner->lock, 1, kernel_thread(), false};
  return on_server(inner->lock, add, &inner->add);
}

/* Each server runs a section sooner or later in which another one runs one. As in demand_service(),
 * the sections before may all have been the clients' to run. */
static void demand_nested_service(void) {
  for (int set = 0; set < servers; set++) {
    struct lock *lock = &locks[(set + 1) % servers][1];
    struct inner_add inner = {.lock = lock};
    long before = lock->value;
    if (servers > 1)
      on_server(&locks[set][0], add_on_other_server, &inner);
    else
      demand_service(set);
    CHECK_EQUAL(lock->value, before + (servers > 1));
  }
}

static void play_nests(bool one_server, bool ring) {
  struct nester *nesters = calloc(NESTERS, sizeof *nesters);
  pthread_t threads[NESTERS];
  long expected[MAX_SERVERS][LOCKS] = {{0}}, delegated[LOCKS] = {0};
  for (int i = 0; i < NESTERS; i++) {
    nesters[i].number = i;
    nesters[i].one_server = one_server;
    nesters[i].ring = ring;
    threads[i] = check_start(nest, &nesters[i]);
  }
  for (int i = 0; i < NESTERS; i++) {
    check_join(threads[i]);
    for (int set = 0; set < MAX_SERVERS; set++)
      for (int k = 0; k < LOCKS; k++)
        expected[set][k] += nesters[i].expected[set][k];
    for (int k = 0; k < LOCKS; k++)
      delegated[k] += nesters[i].delegated[k];
  }
  for (int set = 0; set < MAX_SERVERS; set++)
    for (int k = 0; k < LOCKS; k++)
      CHECK_EQUAL(locks[set][k].value, expected[set][k]);
  free(nesters);
  demand_nested_service();
  remark("%ld of %d outer sections on a server, %ld inner ones on another", delegated[0],
         NESTERS * NESTS, delegated[1] + delegated[2] + delegated[3]);
}

static void nested_sections_of_one_server(void) { play_nests(true, false); }

/* With servers >= 2 every server is a client of the next one and the last of the first. */
static void nested_sections_in_a_ring_of_servers(void) { play_nests(false, true); }

static void nested_sections_of_any_servers(void) { play_nests(false, false); }

/* Two sections that have begun wait for each other's servers. */
struct crossing {
  _Atomic int inside[2];
  int done[2];
};

struct crosser {
  struct crossing *crossing;
  int side; /* whose server is entered first */
};

static int cross_inner(void *context) {
  struct crosser *crosser = context;
  crosser->crossing->done[crosser->side]++;
  return 0;
}

static int cross(void *context) {
  struct crosser *crosser = context;
  crosser->crossing->inside[crosser->side] = 1;
  while (!crosser->crossing->inside[!crosser->side])
    usleep(100);
  struct lock *inner = &locks[crosser->side ? 0 : 1][1 + crosser->side];
  return relock_execute_any_thread(&inner->mutex, cross_inner, crosser);
}

static void *cross_over(void *context) {
  struct crosser *crosser = context;
  on_server(&locks[crosser->side][3 + crosser->side], cross, crosser);
  return NULL;
}

static void servers_wait_for_each_other(void) {
  for (int i = 0; i < 10; i++) {
    struct crossing crossing = {.done = {0, 0}};
    struct crosser crossers[2] = {{&crossing, 0}, {&crossing, 1}};
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
      threads[k] = check_start(cross_over, &crossers[k]);
    for (int k = 0; k < 2; k++)
      check_join(threads[k]);
    CHECK_EQUAL(crossing.done[0] + crossing.done[1], 2);
  }
}

/* The same server runs an inner section in the place of the outer one. */
struct inline_section {
  int set;
  relock_mutex_t *recursive;
  pid_t outer;
  int depth;
  bool as_client;
};

static int run_inline(void *context) {
  struct inline_section *section = context;
  CHECK_EQUAL(kernel_thread(), section->outer);
  enter(&locks[section->set][1], 1);
  return 5;
}

static int run_recursive(void *context) {
  struct inline_section *section = context;
  if (section->outer)
    CHECK_EQUAL(kernel_thread(), section->outer);
  section->outer = kernel_thread();
  if (--section->depth > 0)
    CHECK_EQUAL(relock_execute(section->recursive, run_recursive, section), 0);
  return 0;
}

static int contain(void *context) {
  struct inline_section *section = context;
  section->outer = kernel_thread();
  relock_mutex_t *inner = &locks[section->set][1].mutex;
  CHECK_EQUAL(section->as_client ? relock_execute(inner, run_inline, section)
                                 : relock_execute_any_thread(inner, run_inline, section),
              5);
  return 0;
}

static void run_in_place(int set) {
  static relock_mutex_t recursive[MAX_SERVERS];
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  CHECK_EQUAL(relock_mutex_init(&recursive[set], &attributes, class_of(set, 2)), 0);
  for (int i = 1; i <= 200; i++) {
    struct inline_section section = {set, &recursive[set], 0, 4, i % 2};
    if (i % 2)
      on_server_as_client(&locks[set][0], contain, &section);
    else
      on_server(&locks[set][0], contain, &section);
    section.outer = 0;
    CHECK_EQUAL(relock_execute(&recursive[set], run_recursive, &section), 0);
    CHECK_EQUAL(section.depth, 0);
    CHECK_EQUAL(locks[set][1].value, i);
    CHECK_EQUAL(relock_mutex_trylock(&recursive[set]), 0);
    CHECK_EQUAL(relock_mutex_unlock(&recursive[set]), 0);
  }
}

static void inner_sections_run_in_place(void) { on_each_server(run_in_place); }

/* --- page faults ----------------------------------------------------------------------------- */

enum { PAGES = 64 };

struct region {
  struct lock *lock;
  unsigned char *memory;
  size_t page;
  long touched;
};

static int touch_pages(void *context) {
  struct region *region = context;
  CHECK_EQUAL(region->lock->inside, 0);
  region->lock->inside = 1;
  CHECK_EQUAL(madvise(region->memory, PAGES * region->page, MADV_DONTNEED), 0);
  for (int i = 0; i < PAGES; i++)
    region->touched += ++region->memory[(size_t)i * region->page];
  region->lock->inside = 0;
  return 0;
}

static void *fault_in_sections(void *context) {
  struct region *region = context;
  for (int i = 0; i < 50; i++)
    on_server(region->lock, touch_pages, region);
  return NULL;
}

static void fault_on_server(int set) {
  struct region regions[2];
  pthread_t threads[2];
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < 2; i++) {
    void *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    regions[i] = (struct region){&locks[set][i], memory, page, 0};
    threads[i] = check_start(fault_in_sections, &regions[i]);
  }
  for (int i = 0; i < 2; i++) {
    check_join(threads[i]);
    CHECK_EQUAL(regions[i].touched, 50 * PAGES);
    munmap(regions[i].memory, PAGES * page);
  }
}

static void sections_miss_pages(void) { on_each_server(fault_on_server); }

const struct test_case section_cases[] = {
    {.name = "section-sleeps", .run = others_go_on_while_a_section_sleeps},
    {.name = "section-reads", .run = section_reads_what_another_leads_to},
    {.name = "sections-wait", .run = sections_wait_on_conditions},
    {.name = "sections-wait-timed", .run = sections_wait_with_deadlines},
    {.name = "section-spins", .run = section_spins_on_another_ones_flag},
    {.name = "one-waits-one-spins", .run = one_section_waits_one_spins_one_releases},
    {.name = "section-takes-mutex", .run = section_takes_a_clients_mutex},
    {.name = "nested-in-place", .run = inner_sections_run_in_place},
    {.name = "nested-one-server", .run = nested_sections_of_one_server},
    {.name = "nested-ring", .run = nested_sections_in_a_ring_of_servers},
    {.name = "nested-any", .run = nested_sections_of_any_servers},
    {.name = "servers-cross", .run = servers_wait_for_each_other},
    {.name = "page-faults", .run = sections_miss_pages},
    {0},
};
