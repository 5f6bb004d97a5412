/* SPDX-License-Identifier: MIT
 *
 * What the files of the program `servers` share: the locks, which are spread over the servers
 * under test, sections that a server has run for certain, and the list of cases.
 */
#ifndef RELOCK_TEST_SERVERS_H
#define RELOCK_TEST_SERVERS_H

#define _GNU_SOURCE
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SERVERS = 4, LOCKS = 8 };

/* How the servers get their processors. Each mode has its own promises. */
enum mode { FLOATING, SHARED, REALTIME };

/* Of this run. */
extern int servers;
extern enum mode mode;
extern uint64_t seed;

/* Locks of server k + 1 are locks[k]; each has a lock class of its own, and two locks in a row
 * share one. The value is guarded by the mutex. */
struct lock {
  _Alignas(128) relock_mutex_t mutex;
  relock_cond_t cond;
  long value;
  int inside; /* plain: two at a time are seen by CHECK, or by ThreadSanitizer */
};
extern struct lock locks[MAX_SERVERS][LOCKS];
enum { CLASSES = MAX_SERVERS * LOCKS / 2 };
extern relock_class_t classes[CLASSES];

static inline relock_class_t *class_of(int set, int lock) {
  return &classes[set * (LOCKS / 2) + lock / 2];
}

/* Gives the lock a class that is served by its server. */
void init_lock(struct lock *lock, int set, int number);

/* Numbers that depend on the seed and a thread's number only. */
struct chance {
  uint64_t state;
};
struct chance chance_of(uint64_t number);
uint32_t pick(struct chance *chance, uint32_t below);

void sleep_ms(long milliseconds);

/* Fewer rounds where each takes longer. */
#ifdef __SANITIZE_THREAD__
enum { SLOWNESS = 5 };
#else
enum { SLOWNESS = 1 };
#endif

/* Some result of a section is exact only if nobody else was inside. */
void enter(struct lock *lock, long amount);

/* A section that adds to a lock's value and notes whether another thread has run it. */
struct add {
  struct lock *lock;
  long amount;
  pid_t client;
  bool elsewhere;
};
int add(void *add);

/* Adds by a section. True: another thread ran it. */
bool add_once(struct lock *lock, long amount);

/* Runs body(context) as a section that no other thread than the server's runs: where the caller
 * runs it itself, as servers leave it to do at times, nothing happens but another try. */
int on_server(struct lock *lock, relock_section_t body, void *context);

/* The same, with the caller's identity; runs it itself where identity cannot be switched. */
int on_server_as_client(struct lock *lock, relock_section_t body, void *context);

/* The same, but after many tries the caller runs it in the server's place. True: the server did. */
bool on_server_or_here(struct lock *lock, relock_section_t body, void *context);

/* Demands that the server runs a section sooner or later. What it ran meanwhile is up to the kernel:
 * on a busy machine, its clients may have had to do all themselves. */
void demand_service(int set);

/* Waits until the condition is true. Not a substitute for time limits: fails after 20 seconds. */
#define AWAIT(condition)                                                                           \
  do {                                                                                             \
    double await_end = check_seconds() + 20;                                                       \
    while (!(condition)) {                                                                         \
      CHECK(check_seconds() < await_end && #condition);                                            \
      usleep(200);                                                                                 \
    }                                                                                              \
  } while (0)

/* Runs a scene for every server at the same time, each in a thread of its own. */
void on_each_server(void (*scene)(int set));

relock_server_statistics_t statistics_of(int set);

/* Standard error goes to a file between the first and the last call; the texts stay until the next
 * call. */
void capture_messages(void);
const char *messages_so_far(void);
const char *captured_messages(void);

/* A figure or remark for the line that is printed about the case. */
__attribute__((format(printf, 1, 2))) void remark(const char *format, ...);

/* The servers' processors in a case: the mode's; or the process may use two, of which each is given
 * to a server; or it may use one, and server 1 is given another. */
enum placing { BY_MODE, EACH_OF_TWO, FORBIDDEN };

/* A case runs in a process of its own. */
struct test_case {
  const char *name;
  void (*run)(void);
  const char *tune; /* RELOCK_TUNE, besides the mode's */
  enum placing placing;
};

extern const struct test_case section_cases[], client_cases[], life_cases[]; /* end: a null name */

#endif
