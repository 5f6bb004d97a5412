/* SPDX-License-Identifier: MIT
 *
 * Where servers run, what they cost, and what becomes of them: sections that never end, lost
 * processors, forks, classes that move between servers.
 */
#include "servers.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- processors ------------------------------------------------------------------------------ */

static int count_of(const char *text, const char *word) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
    count++;
  return count;
}

struct place {
  struct lock *lock;
  cpu_set_t processors;
  int policy;
};

static int note_place(void *context) {
  struct place *place = context;
  CHECK_EQUAL(sched_getaffinity(0, sizeof place->processors, &place->processors), 0);
  place->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  enter(place->lock, 1);
  return 0;
}

static struct place place_of_server(int set) {
  struct place place = {.lock = &locks[set][0]};
  on_server(place.lock, note_place, &place);
  return place;
}

static void check_places(const cpu_set_t *all) {
  int processors = CPU_COUNT(all);
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (int set = 0; set < servers; set++) {
    struct place place = place_of_server(set);
    AWAIT(statistics_of(set).sections > 0); /* it counts after it has answered */
    relock_server_statistics_t statistics = statistics_of(set);
    bool own = mode != FLOATING && set + 1 < processors;
    bool realtime = own && mode == REALTIME;
    CHECK_EQUAL(CPU_COUNT(&place.processors), own ? 1 : processors);
    CHECK_EQUAL(place.policy, realtime ? SCHED_FIFO : SCHED_OTHER);
    CHECK_EQUAL(statistics.realtime, realtime);
    if (!own) {
      CHECK_EQUAL(statistics.cpu, -1);
      continue;
    }
    CHECK(CPU_ISSET(statistics.cpu, &place.processors));
    CHECK(!CPU_ISSET(statistics.cpu, &taken));
    CPU_SET(statistics.cpu, &taken);
  }
}

static void servers_run_where_they_belong(void) {
  cpu_set_t all;
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  capture_messages();
  check_places(&all);
  CHECK_EQUAL(count_of(captured_messages(), "relock"), 0);
}

static void *start_servers_from_one_processor(void *context) {
  cpu_set_t *all = context, one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, all)) {
      CPU_SET(i, &one);
      break;
    }
  CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
  check_places(all);
  return NULL;
}

/* It does not matter who asks first. */
static void servers_do_not_inherit_a_clients_processor(void) {
  cpu_set_t all;
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  check_join(check_start(start_servers_from_one_processor, &all));
}

static int start_other_servers(void *context) {
  (void)context;
  for (int set = 1; set < servers; set++)
    add_once(&locks[set][1], 1);
  return 0;
}

/* Nor does it if that is a section on another server. */
static void servers_do_not_inherit_a_servers_place(void) {
  cpu_set_t all;
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  on_server(&locks[0][0], start_other_servers, NULL);
  check_places(&all);
}

/* A filter of system calls may forbid threads to be bound, or unbound: servers run all the same. */
static void servers_start_where_they_may_not_be_bound(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
  for (int set = 0; set < servers; set++)
    demand_service(set);
}

static void *add_a_lot(void *context) {
  long set = (long)context;
  for (int i = 0; i < 5000 / SLOWNESS; i++)
    add_once(&locks[set][i % 2], 1);
  return NULL;
}

/* RELOCK_SERVERS gives each of two processors to a server. */
static void too_few_processors_are_refused(void) {
  capture_messages();
  pthread_t threads[8];
  for (long i = 0; i < 8; i++)
    threads[i] = check_start(add_a_lot, (void *)(i % servers));
  for (int i = 0; i < 8; i++)
    check_join(threads[i]);
  const char *messages = captured_messages();
  int refused = 0;
  for (int set = 0; set < servers; set++) {
    CHECK_EQUAL(locks[set][0].value + locks[set][1].value, 8 / servers * (5000 / SLOWNESS));
    refused += statistics_of(set).sections == 0 && statistics_of(set).threads == 0;
  }
  /* Which of the two depends on which was asked first. */
  CHECK_EQUAL(refused, servers >= 2);
  CHECK_EQUAL(count_of(messages, "[server-refused]"), refused);
  CHECK_EQUAL(count_of(messages, "no processor would be left for the program; its lock classes are "
                                 "combined instead"),
              refused);
}

/* RELOCK_SERVERS names a processor that the process may not use, or that does not exist. */
static void forbidden_processors_are_refused(void) {
  capture_messages();
  pthread_t threads[8];
  for (long i = 0; i < 8; i++)
    threads[i] = check_start(add_a_lot, (void *)(i % servers));
  for (int i = 0; i < 8; i++)
    check_join(threads[i]);
  const char *messages = captured_messages();
  for (int set = 0; set < servers; set++)
    CHECK_EQUAL(locks[set][0].value + locks[set][1].value, 8 / servers * (5000 / SLOWNESS));
  CHECK_EQUAL(statistics_of(0).sections, 0);
  CHECK_EQUAL(count_of(messages, "[server-refused]"), 1);
  CHECK(strstr(messages, "relock: server 1: processor "));
  CHECK(strstr(messages, " is not given to it: this process may not use it, or it does not exist"));
}

/* Puts every thread of the servers on these processors; returns how many there are. */
static int move_servers(const cpu_set_t *to) {
  DIR *folder = opendir("/proc/self/task");
  struct dirent *entry;
  int moved = 0;
  CHECK(folder);
  while ((entry = readdir(folder))) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *stream = fopen(path, "r");
    if (stream && !fgets(name, sizeof name, stream))
      name[0] = '\0';
    if (stream)
      fclose(stream);
    if (strncmp(name, "relock-", 7) == 0 &&
        sched_setaffinity(atoi(entry->d_name), sizeof *to, to) == 0)
      moved++;
  }
  closedir(folder);
  return moved;
}

struct busy {
  int set, lock;
  _Atomic bool ends;
  _Atomic long added;
};

static void *keep_busy(void *context) {
  struct busy *busy = context;
  while (!busy->ends) {
    add_once(&locks[busy->set][busy->lock], 1);
    busy->added++;
  }
  return NULL;
}

enum { CLIENTS = 2 * MAX_SERVERS };
static struct busy busy[CLIENTS];
static pthread_t busy_threads[CLIENTS];

static void start_busy_clients(void) {
  for (int i = 0; i < 2 * servers; i++) {
    busy[i].set = i % servers;
    busy[i].lock = i / servers;
    busy[i].ends = false;
    busy[i].added = 0;
    busy_threads[i] = check_start(keep_busy, &busy[i]);
  }
}

/* Every client gets on. */
static void await_progress(void) {
  long before[CLIENTS];
  for (int i = 0; i < 2 * servers; i++)
    before[i] = busy[i].added;
  for (int i = 0; i < 2 * servers; i++)
    AWAIT(busy[i].added > before[i] + 100);
}

static void stop_busy_clients(void) {
  for (int i = 0; i < 2 * servers; i++)
    busy[i].ends = true;
  for (int i = 0; i < 2 * servers; i++) {
    check_join(busy_threads[i]);
    CHECK_EQUAL(locks[busy[i].set][busy[i].lock].value, busy[i].added);
  }
}

/* As when a processor goes offline or a container is moved: the kernel puts the threads elsewhere.
 */
static void servers_lose_their_processors(void) {
  struct chance chance = chance_of(0);
  cpu_set_t all, one;
  int allowed[CPU_SETSIZE], count = 0;
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &all))
      allowed[count++] = i;
  start_busy_clients();
  await_progress();
  for (int i = 0; i < 20; i++) {
    CPU_ZERO(&one);
    CPU_SET(allowed[pick(&chance, (uint32_t)count)], &one);
    CHECK(move_servers(&one) >= servers);
    await_progress();
    usleep(pick(&chance, 10000));
  }
  stop_busy_clients();
  for (int set = 0; set < servers; set++)
    demand_service(set);
}

/* --- a section that never ends --------------------------------------------------------------- */

/* How it is asked for. Each wraps it once more, and the message names it all the same. */
enum { RECURSIVE = 1, RESUMABLE = 2, WAYS = 4 };

struct endless {
  relock_mutex_t *mutex;
  int way;
  bool spins;
  _Atomic int inside;
  _Atomic pid_t client;
};

/* Not static, so that the message has its name. */
int section_that_never_ends(void *context);
int section_that_never_ends(void *context) {
  struct endless *endless = context;
  if (kernel_thread() == endless->client)
    return 1;
  endless->inside = 1;
  while (endless->spins)
    continue;
  for (;;)
    pause();
}

static int ask_for(struct endless *endless) {
  relock_resume_t resume;
  if (endless->way & RESUMABLE)
    return relock_execute_resumable_any_thread(endless->mutex, section_that_never_ends, endless,
                                               &resume);
  return relock_execute_any_thread(endless->mutex, section_that_never_ends, endless);
}

static void *never_return(void *context) {
  struct endless *endless = context;
  endless->client = kernel_thread();
  while (ask_for(endless))
    continue;
  return NULL;
}

static void init_recursive(relock_mutex_t *mutex, relock_class_t *lock_class) {
  pthread_mutexattr_t recursive;
  CHECK_EQUAL(pthread_mutexattr_init(&recursive), 0);
  CHECK_EQUAL(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE), 0);
  CHECK_EQUAL(relock_mutex_init(mutex, &recursive, lock_class), 0);
  CHECK_EQUAL(pthread_mutexattr_destroy(&recursive), 0);
}

static bool section_of_set_is_named(const char *messages, int set, const struct endless *endless) {
  char begin[80], middle[120], end[80];
  snprintf(begin, sizeof begin, "relock: server %d has run one section for ", set + 1);
  snprintf(middle, sizeof middle, " seconds: section_that_never_ends (");
  snprintf(end, sizeof end, ", of lock class '%s', mutex %p, asked for by thread %d; ",
           class_of(set, 0)->name, (void *)&locks[set][0].mutex, (int)endless->client);
  const char *at = strstr(messages, begin);
  return at && (at = strstr(at, middle)) && (at = strstr(at, end)) && strstr(at, "[section-lasts]");
}

/* One server may be named a second time before another's watchdog gets a processor. */
static bool each_set_is_named(const char *messages, const struct endless *endless) {
  for (int set = 0; set < servers; set++)
    if (!section_of_set_is_named(messages, set, &endless[set]))
      return false;
  return true;
}

/* Returns with these sections still running: the process ends all the same. */
static void sections_that_never_end_are_named(void) {
  static struct endless endless[MAX_SERVERS];
  struct chance chance = chance_of(0);
  capture_messages();
  for (int set = 0; set < servers; set++) {
    endless[set].mutex = &locks[set][0].mutex;
    endless[set].way = set % WAYS;
    if (endless[set].way & RECURSIVE)
      init_recursive(endless[set].mutex, class_of(set, 0));
    endless[set].spins = pick(&chance, 2);
    check_start(never_return, &endless[set]);
    AWAIT(endless[set].inside);
  }
  double start = check_seconds();
  for (int set = 0; set < servers; set++) {
    struct add one = {&locks[set][1], 1, kernel_thread(), false};
    on_server(&locks[set][1], add, &one); /* the same class */
    one.lock = &locks[set][2];
    on_server(&locks[set][2], add, &one);
    CHECK_EQUAL(relock_mutex_trylock(&locks[set][0].mutex), EBUSY);
  }
  double told = 0;
  while ((told = check_seconds() - start) < 30 && !each_set_is_named(messages_so_far(), endless))
    sleep_ms(10);
  const char *messages = captured_messages();
  for (int set = 0; set < servers; set++)
    CHECK(section_of_set_is_named(messages, set, &endless[set]));
  remark("told after %.2f s", told);
}

/* --- forks ----------------------------------------------------------------------------------- */

/* The forking thread's own mutex, whose word the server may keep; and others of the busy classes.
 */
static void use_in_child(struct lock *own, long value) {
  for (int set = 0; set < servers; set++) {
    CHECK_EQUAL(statistics_of(set).sections, 0);
    CHECK_EQUAL(statistics_of(set).threads, 0);
  }
  CHECK_EQUAL(relock_mutex_trylock(&own->mutex), 0);
  CHECK_EQUAL(own->value, value);
  CHECK_EQUAL(relock_mutex_unlock(&own->mutex), 0);
#ifndef __SANITIZE_THREAD__ /* which cannot start threads in the child of a threaded process */
  for (int set = 0; set < servers; set++) {
    struct add one = {&locks[set][2], 1, kernel_thread(), false};
    on_server(&locks[set][2], add, &one);
  }
  struct add again = {own, 1, kernel_thread(), false};
  on_server(own, add, &again);
  CHECK_EQUAL(own->value, value + 1);
  pthread_t threads[8];
  for (int set = 0; set < servers; set++) /* those that the parent's clients use */
    for (int i = 0; i < 2; i++)
      init_lock(&locks[set][i], set, i);
  for (long i = 0; i < 8; i++)
    threads[i] = check_start(add_a_lot, (void *)(i % servers));
  for (int i = 0; i < 8; i++)
    check_join(threads[i]);
  for (int set = 0; set < servers; set++) {
    CHECK_EQUAL(locks[set][0].value + locks[set][1].value, 8 / servers * 5000);
    demand_service(set);
  }
#endif
}

static void children_have_servers_of_their_own(void) {
  struct chance chance = chance_of(0);
  long value = 0;
  struct lock *own = &locks[0][4];
  start_busy_clients();
  await_progress();
  for (int i = 0; i < 10; i++) {
    for (uint32_t k = 1 + pick(&chance, 300); k > 0; k--, value++)
      add_once(own, 1);
    usleep(pick(&chance, 2000));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(30);
      use_in_child(own, value);
      _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    await_progress();
  }
  stop_busy_clients();
  CHECK_EQUAL(own->value, value);
}

/* --- moving classes -------------------------------------------------------------------------- */

static _Atomic bool end_of_moves;
static _Atomic long moves;

static void *move_classes(void *unused) {
  struct chance chance = chance_of(99);
  char name[20];
  for (; !end_of_moves; moves++) {
    unsigned server = 1 + pick(&chance, (uint32_t)servers);
    switch (pick(&chance, 5)) {
    case 0:
      snprintf(name, sizeof name, "adaptive");
      break;
    case 1:
      snprintf(name, sizeof name, "adaptive_rcl:%u", server);
      break;
    default:
      snprintf(name, sizeof name, "rcl:%u", server);
    }
    CHECK_EQUAL(relock_class_move(class_of(0, (int)pick(&chance, 4)), name), 0);
    const unsigned own = pick(&chance, (uint32_t)servers + 1);
    CHECK_EQUAL(relock_mutex_set_server(&locks[0][pick(&chance, 4)].mutex, own), 0);
    if (pick(&chance, 2))
      usleep(pick(&chance, 300));
  }
  return unused;
}

enum { MOVED = 4, MOVED_CLIENTS = 6, MOVED_ROUNDS = 20000 / SLOWNESS, FEWEST_MOVES = 100 };

struct moved {
  int number;
  long added[MOVED], delegated;
};

struct copied {
  struct lock *lock;
  long amount;
};

static int add_copied(void *context) {
  struct copied *copied = context;
  enter(copied->lock, copied->amount);
  copied->amount++;
  return 0;
}

/* A section that waits for somebody else's, 5 ms at most. */
struct resumable {
  struct lock *lock;
  struct timespec deadline;
  relock_resume_t resume;
};

static int wait_resumable(void *context) {
  struct resumable *section = context;
  switch (section->resume.at) {
  case 0:
    enter(section->lock, 1);
    RELOCK_COND_CLOCKWAIT(&section->resume, &section->lock->cond, CLOCK_MONOTONIC,
                          &section->deadline, 1);
    enter(section->lock, 1);
  }
  return 0;
}

static int add_and_signal(void *context) {
  struct lock *lock = context;
  enter(lock, 1);
  return relock_cond_signal(&lock->cond);
}

static void *use_moved(void *context) {
  struct moved *moved = context;
  struct chance chance = chance_of((uint64_t)moved->number);
  /* Where servers take the processors, the thread that moves may seldom run. */
  for (int i = 0; i < MOVED_ROUNDS || moves < FEWEST_MOVES; i++) {
    int number = (int)pick(&chance, MOVED);
    struct lock *lock = &locks[0][number];
    switch (pick(&chance, 200)) {
    case 0: {
      struct resumable section = {.lock = lock, .deadline = check_deadline(CLOCK_MONOTONIC, 5)};
      CHECK_EQUAL(relock_execute_resumable(&lock->mutex, wait_resumable, &section, &section.resume),
                  0);
      moved->added[number] += 2;
      break;
    }
    case 1 ... 20:
      CHECK_EQUAL(relock_execute(&lock->mutex, add_and_signal, lock), 0);
      moved->added[number]++;
      break;
    case 21 ... 50: {
      struct copied copied = {lock, 1};
      CHECK_EQUAL(relock_execute_copy_any_thread(&lock->mutex, add_copied, &copied, sizeof copied),
                  0);
      CHECK_EQUAL(copied.amount, 2);
      moved->added[number]++;
      break;
    }
    case 51 ... 70:
      CHECK_EQUAL(relock_mutex_lock(&lock->mutex), 0);
      enter(lock, 1);
      moved->added[number]++;
      CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
      break;
    case 71 ... 80:
      if (relock_mutex_trylock(&lock->mutex) == 0) {
        enter(lock, 1);
        moved->added[number]++;
        CHECK_EQUAL(relock_mutex_unlock(&lock->mutex), 0);
      }
      break;
    default:
      moved->delegated += add_once(lock, 1);
      moved->added[number]++;
    }
  }
  return NULL;
}

static void classes_move_while_they_are_used(void) {
  static struct moved moved[MOVED_CLIENTS];
  pthread_t threads[MOVED_CLIENTS];
  pthread_t mover = check_start(move_classes, NULL);
  for (int i = 0; i < MOVED_CLIENTS; i++) {
    moved[i].number = i;
    threads[i] = check_start(use_moved, &moved[i]);
  }
  long expected[MOVED] = {0}, delegated = 0;
  for (int i = 0; i < MOVED_CLIENTS; i++) {
    check_join(threads[i]);
    delegated += moved[i].delegated;
    for (int k = 0; k < MOVED; k++)
      expected[k] += moved[i].added[k];
  }
  end_of_moves = true;
  check_join(mover);
  for (int k = 0; k < MOVED; k++) {
    CHECK_EQUAL(locks[0][k].value, expected[k]);
    CHECK_EQUAL(relock_mutex_destroy(&locks[0][k].mutex), 0);
  }
  for (int set = 0; set < servers; set++)
    demand_service(set);
  remark("%ld moves, %ld sections delegated", moves, delegated);
}

/* A class that is moved from server to server while it waits for nothing: each in turn serves. */
static void each_server_serves_what_is_moved_to_it(void) {
  for (int round = 0; round < 5; round++)
    for (int set = 0; set < servers; set++) {
      char name[20];
      snprintf(name, sizeof name, "rcl:%d", set + 1);
      CHECK_EQUAL(relock_class_move(class_of(0, 0), name), 0);
      relock_statistics_t statistics;
      relock_class_statistics(class_of(0, 0), &statistics);
      CHECK_EQUAL(statistics.server, set + 1);
      CHECK_EQUAL(strcmp(statistics.algorithm, "rcl"), 0);
      uint64_t before = statistics_of(set).sections;
      struct add one = {&locks[0][0], 1, kernel_thread(), false};
      on_server(&locks[0][0], add, &one);
      AWAIT(statistics_of(set).sections > before); /* it counts after it has answered */
      CHECK_EQUAL(relock_class_move(class_of(0, 0), "adaptive"), 0);
      before = statistics_of(set).sections;
      for (int i = 0; i < 100; i++)
        CHECK(!add_once(&locks[0][0], 0));
      CHECK_EQUAL(statistics_of(set).sections, before);
    }
  CHECK_EQUAL(locks[0][0].value, 5 * servers);
}

/* The same for a mutex that is given servers of its own, and back to its class's each time. */
static void each_server_serves_a_mutex_of_its_own(void) {
  CHECK_EQUAL(relock_mutex_set_server(&locks[0][0].mutex, RELOCK_MAX_SERVERS + 1), EINVAL);
  for (int round = 0; round < 5; round++)
    for (int set = 0; set < servers; set++) {
      CHECK_EQUAL(relock_mutex_set_server(&locks[0][0].mutex, (unsigned)set + 1), 0);
      uint64_t before = statistics_of(set).sections;
      struct add one = {&locks[0][0], 1, kernel_thread(), false};
      on_server(&locks[0][0], add, &one);
      AWAIT(statistics_of(set).sections > before);
      CHECK_EQUAL(relock_mutex_set_server(&locks[0][0].mutex, 0), 0);
      before = statistics_of(0).sections;
      on_server(&locks[0][0], add, &one);
      AWAIT(statistics_of(0).sections > before);
    }
  CHECK_EQUAL(locks[0][0].value, 2 * 5 * servers);
}

/* --- idle servers ---------------------------------------------------------------------------- */

static double cpu_seconds(void) {
  struct rusage usage;
  CHECK_EQUAL(getrusage(RUSAGE_SELF, &usage), 0);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Share of a processor that the process takes for a second, with a section at every server every
 * so many milliseconds, or none. */
static double load_with_period(long period_ms) {
  double start = check_seconds(), cpu = cpu_seconds();
  while (check_seconds() < start + 1) {
    sleep_ms(period_ms ? period_ms : 1000);
    for (int set = 0; period_ms && set < servers; set++)
      add_once(&locks[set][0], 1);
  }
  return (cpu_seconds() - cpu) / (check_seconds() - start);
}

static void idle_servers_sleep(void) {
  start_busy_clients();
  await_progress();
  stop_busy_clients();
  sleep_ms(200); /* until the managers sleep, too */
  double none = load_with_period(0);
  double few = load_with_period(10);
  CHECK(none < 0.05);
  CHECK(few < 0.05 * (1 + servers) / 2 * SLOWNESS);
  /* On a busy machine each of the yields before a server sleeps may last for a time slice. */
  double start = check_seconds();
  for (int set = 0; set < servers; set++) {
    while (statistics_of(set).sleeps == 0 && check_seconds() < start + 60)
      sleep_ms(10);
    CHECK(statistics_of(set).sleeps > 0);
  }
  remark("%.2f %% of a processor idle, %.2f %% with a section every 10 ms", 100 * none, 100 * few);
}

/* --- wrong arguments ------------------------------------------------------------------------- */

static void wrong_arguments_are_refused(void) {
  static const char *const wrong[] = {"rcl:0",   "rcl:17", "rcl:",           "rcl:1x", "adaptive:2",
                                      "posix:1", "",       "rcl :1",         ":1",     "fast",
                                      "rcl:-1",  "RCL",    "adaptive_rcl:17"};
  relock_class_t *lock_class = class_of(0, 0);
  relock_statistics_t statistics;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK_EQUAL(relock_class_move(lock_class, wrong[i]), EINVAL);
  CHECK_EQUAL(relock_class_move(lock_class, "posix"), ENOTSUP);
  CHECK_EQUAL(relock_class_move(lock_class, "ccsynch"), ENOTSUP);
  relock_class_statistics(lock_class, &statistics); /* as it was */
  CHECK_EQUAL(strcmp(statistics.algorithm, "rcl"), 0);
  CHECK_EQUAL(statistics.server, 1);
  CHECK_EQUAL(relock_class_move(lock_class, "rcl:16"), 0);
  relock_class_statistics(lock_class, &statistics);
  CHECK_EQUAL(statistics.server, 16);
  CHECK_EQUAL(relock_class_move(NULL, "rcl:2"), 0); /* the default class */
  relock_class_statistics(NULL, &statistics);
  CHECK_EQUAL(statistics.server, 2);
  CHECK_EQUAL(relock_class_move(NULL, "adaptive"), 0);
  relock_class_statistics(NULL, &statistics);
  CHECK_EQUAL(statistics.server, 0);

  CHECK_EQUAL(relock_server_place(0, 0), EINVAL);
  CHECK_EQUAL(relock_server_place(RELOCK_MAX_SERVERS + 1, 0), EINVAL);
  CHECK_EQUAL(relock_server_place(9, -2), EINVAL);
  CHECK_EQUAL(relock_server_place(9, RELOCK_MAX_CPUS), EINVAL);
  CHECK_EQUAL(relock_server_place(9, 0), 0);
  CHECK_EQUAL(relock_server_place(9, -1), 0);
  struct add one = {&locks[0][2], 1, kernel_thread(), false};
  on_server(&locks[0][2], add, &one);
  CHECK_EQUAL(relock_server_place(1, -1), EBUSY);

  relock_server_statistics_t of_server;
  CHECK_EQUAL(relock_server_statistics(0, &of_server), EINVAL);
  CHECK_EQUAL(relock_server_statistics(RELOCK_MAX_SERVERS + 1, &of_server), EINVAL);
  CHECK_EQUAL(relock_server_statistics(RELOCK_MAX_SERVERS, &of_server), 0); /* never used */
  CHECK_EQUAL(of_server.sections, 0);
  CHECK_EQUAL(of_server.threads, 0);
  CHECK_EQUAL(of_server.cpu, -1);
}

const struct test_case life_cases[] = {
    {.name = "places", .run = servers_run_where_they_belong},
    {.name = "pinned-client", .run = servers_do_not_inherit_a_clients_processor},
    {.name = "server-starts-servers", .run = servers_do_not_inherit_a_servers_place},
    {.name = "may-not-be-bound", .run = servers_start_where_they_may_not_be_bound},
    {.name = "too-few-processors", .run = too_few_processors_are_refused, .placing = EACH_OF_TWO},
    {.name = "forbidden-processor", .run = forbidden_processors_are_refused, .placing = FORBIDDEN},
    {.name = "processors-lost", .run = servers_lose_their_processors},
    {.name = "section-never-ends",
     .run = sections_that_never_end_are_named,
     .tune = "watchdog_s=1"},
    {.name = "fork", .run = children_have_servers_of_their_own},
    {.name = "classes-move", .run = classes_move_while_they_are_used},
    {.name = "each-server-serves", .run = each_server_serves_what_is_moved_to_it},
    {.name = "own-server", .run = each_server_serves_a_mutex_of_its_own},
    {.name = "idle", .run = idle_servers_sleep},
    {.name = "wrong-arguments", .run = wrong_arguments_are_refused},
    {0},
};
