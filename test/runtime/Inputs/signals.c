/* SPDX-License-Identifier: MIT
 *
 * signals CASE: signals that arrive while sections run with their callers' identities in other
 * threads. RELOCK_LOCKS says by which algorithm.
 */
#define _GNU_SOURCE
#include <relock/relock.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

enum { THREADS = 4 };
static pthread_t thread[THREADS];
static __thread int own_tid; /* 0: a thread that the test has not started */
static __thread pthread_t own_self;
static __thread long noted;

static atomic_bool over;
static atomic_int ready, wrong, handled;
static long under_lock; /* counted by sections */

static int tid(void) { return (int)syscall(SYS_gettid); }

static void spin(int turns) {
  for (volatile int i = 0; i < turns; i++)
    continue;
}

static unsigned long delegated(void) {
  relock_statistics_t statistics;
  relock_class_statistics(RELOCK_CLASS(busy), &statistics);
  return statistics.delegated;
}

static void install(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

/* Whom a handler takes itself for. Servers are threads that the test has not started. */
static void look_at_identity(int number) {
  (void)number;
  if (own_tid && (own_tid != tid() || own_self != pthread_self()))
    wrong++;
  handled++;
}

/* --- a section that lasts, in another thread than its caller ---------------------------------- */

static pthread_t runner, client;
static atomic_int client_tid, runner_tid; /* the second: once the section runs */
static atomic_bool may_end;
static void (*while_it_lasts)(void);

static int nothing(void *context) {
  (void)context;
  return 0;
}

static bool has_server(void) {
  const char *locks = getenv("RELOCK_LOCKS");
  return locks && strstr(locks, "rcl");
}

static int last_elsewhere(void *context) {
  (void)context;
  const int here = tid();
  if (here == client_tid && has_server())
    return 0;
  runner_tid = here;
  while (!may_end && here != client_tid)
    while_it_lasts();
  return 1;
}

static void begin(void) {
  own_tid = tid();
  own_self = pthread_self();
}

/* Its section comes before the other's in the queue. */
static void *run_others(void *argument) {
  begin();
  relock_execute(&mutex, nothing, argument);
  return NULL;
}

/* Again until the server is up. */
static void *ask(void *has_server) {
  begin();
  client_tid = own_tid;
  while (!relock_execute(&mutex, last_elsewhere, NULL) && has_server)
    continue;
  return NULL;
}

/* A holder, and behind it somebody who will run others' sections, and the client. */
static void start_section(void (*work)(void)) {
  while_it_lasts = work;
  for (int trial = 0; trial < 100; trial++) {
    const long server = has_server();
    may_end = false;
    runner_tid = 0;
    if (!server) {
      relock_mutex_lock(&mutex);
      pthread_create(&runner, NULL, run_others, NULL);
      usleep(20000);
    }
    pthread_create(&client, NULL, ask, (void *)server);
    if (!server) {
      usleep(20000);
      relock_mutex_unlock(&mutex);
    }
    while (!runner_tid)
      usleep(100);
    if (runner_tid != client_tid)
      return;
    pthread_join(client, NULL);
    if (!server)
      pthread_join(runner, NULL);
  }
  puts("the section always ran in its caller");
  exit(1);
}

static void end_section(void) {
  may_end = true;
  pthread_join(client, NULL);
  if (!has_server())
    pthread_join(runner, NULL);
}

/* Waits until the handler has run. */
static void send(pthread_t to, int number) {
  const int before = handled;
  pthread_kill(to, number);
  while (handled == before)
    usleep(100);
}

static void send_both(int number) {
  for (int i = 0; i < 10; i++) {
    send(client, number);
    if (!has_server()) /* a server blocks the program's signals */
      send(runner, number);
  }
}

/* --- identity: of handlers that were installed before the first switch, and later ------------- */

static void look(void) { wrong += own_tid != client_tid; }

static void identity(void) {
  install(SIGUSR1, look_at_identity);
  start_section(look);
  send_both(SIGUSR1);
  install(SIGUSR2, look_at_identity);
  send_both(SIGUSR2);
  signal(SIGUSR1, look_at_identity);
  send_both(SIGUSR1);
  end_section();
}

/* --- errno: a handler on the client that saves and restores it -------------------------------- */

static atomic_bool in_handler;

static void save_errno(int number) {
  (void)number;
  in_handler = own_tid == client_tid;
  const int saved = errno;
  usleep(1000);
  errno = saved;
  in_handler = false;
  handled++;
}

/* Sees no handler of its caller, or sets errno in its middle. */
static void use_errno(void) {
  static int last;
  errno = ++last;
  spin(1000);
  if (in_handler)
    errno = ++last;
  while (in_handler)
    continue;
  wrong += errno != last;
}

static void keep_errno(void) {
  install(SIGUSR1, save_errno);
  start_section(use_errno);
  send_both(SIGUSR1);
  end_section();
}

/* --- setuid: every thread has the new rights, soon -------------------------------------------- */

/* The effective user of a thread of this process, as the kernel has it. */
static int user_of(const char *task) {
  char path[64], text[2048];
  snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
  const int file = open(path, O_RDONLY);
  if (file < 0)
    return -1;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  int user = -1;
  const char *line = strstr(text, "\nUid:");
  if (line)
    sscanf(line, "\nUid: %*d %d", &user);
  return user;
}

static int threads_of_others(int user) {
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));)
    if (task->d_name[0] != '.' && user_of(task->d_name) != user)
      found++;
  closedir(tasks);
  return found;
}

static void change_user(void) {
  start_section(look);
  for (int round = 0; round < 100; round++) {
    const uid_t user = round % 2 ? 0 : 1;
    if (seteuid(user) != 0)
      abort();
    wrong += threads_of_others((int)user);
  }
  end_section();
}

/* --- awaited: the section sleeps until its caller's handler has run --------------------------- */

static sem_t released;

static void sleep_until_released(void) {
  while (sem_wait(&released) != 0)
    continue;
}

static void awaited_handler(void) {
  install(SIGUSR1, look_at_identity);
  sem_init(&released, 0, 0);
  start_section(sleep_until_released);
  send(client, SIGUSR1);
  may_end = true;
  sem_post(&released);
  end_section();
}

/* --- again: the section's runner is signalled again, and its caller's handler waits for that ----
 */

static atomic_int handled_by_runner;
static atomic_bool handled_by_client, may_leave;

static void wait_for_runner_again(int number) {
  look_at_identity(number);
  if (own_tid == client_tid) {
    handled_by_client = true;
    while (handled_by_runner < 2)
      sched_yield();
  } else if (++handled_by_runner == 1) {
    while (!may_leave)
      sched_yield();
  }
}

static void signal_again(void) {
  install(SIGUSR1, wait_for_runner_again);
  start_section(look);
  pthread_kill(runner, SIGUSR1);
  while (handled_by_runner < 1)
    usleep(100);
  pthread_kill(client, SIGUSR1);
  while (!handled_by_client)
    usleep(100);
  pthread_kill(runner, SIGUSR1);
  may_leave = true;
  end_section();
}

/* --- threads that hammer ---------------------------------------------------------------------- */

/* Has its caller's identity from its beginning to its end, and its errno for itself. */
static int section(void *context) {
  const long number = *(long *)context;
  errno = 1000 + (int)number;
  noted++;
  under_lock++;
  spin(100);
  if (errno != 1000 + (int)number)
    wrong++;
  return 0;
}

static void *hammer(void *argument) {
  long number = (long)argument;
  own_tid = tid();
  own_self = pthread_self();
  ready++;
  long done = 0;
  for (; !over; done++)
    relock_execute(&mutex, section, &number);
  if (noted != done)
    wrong++;
  return NULL;
}

static void start_hammering(void) {
  for (long i = 0; i < THREADS; i++)
    pthread_create(&thread[i], NULL, hammer, (void *)i);
  while (ready < THREADS)
    usleep(1000);
}

static void stop_hammering(void) {
  over = true;
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  over = false;
  ready = 0;
}

/* The next round comes when the last is over, so that no signal is merged with the one before. */
static void signal_all(int number, int rounds) {
  for (int round = 0; round < rounds; round++) {
    const int before = handled;
    for (int i = 0; i < THREADS; i++)
      pthread_kill(thread[i], number);
    while (handled - before < THREADS)
      usleep(20);
  }
}

/* --- hammer: all of this as it comes ---------------------------------------------------------- */

static void torture(void) {
  install(SIGUSR1, look_at_identity);
  start_hammering();
  signal_all(SIGUSR1, 200);
  install(SIGUSR2, save_errno);
  signal_all(SIGUSR2, 200);
  stop_hammering();
}

/* --- stop: the world stops, as for a garbage collection --------------------------------------- */

static atomic_int stopped;
static atomic_bool goes_on;

static void stop_here(int number) {
  (void)number;
  look_at_identity(number);
  stopped++;
  while (!goes_on)
    sched_yield();
  stopped--;
}

static void stop_the_world(void) {
  install(SIGUSR1, stop_here);
  start_hammering();
  for (int round = 0; round < 100; round++) {
    goes_on = false;
    for (int i = 0; i < THREADS; i++)
      pthread_kill(thread[i], SIGUSR1);
    while (stopped < THREADS)
      usleep(20);
    volatile long *counter = &under_lock;
    const long before = *counter;
    spin(20000);
    if (*counter != before)
      wrong++; /* a section went on */
    goes_on = true;
    while (stopped > 0)
      usleep(20);
  }
  stop_hammering();
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"identity", identity},       {"errno", keep_errno},   {"setuid", change_user},
               {"awaited", awaited_handler}, {"again", signal_again}, {"hammer", torture},
               {"stop", stop_the_world}};
  alarm(100);
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
    if (strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      printf("delegated: %s\nwrong: %d\n", delegated() ? "yes" : "no", wrong);
      return 0;
    }
  return 2;
}
