/* SPDX-License-Identifier: MIT
 *
 * A thread goes through the runtime's rare paths, and another one forks beside it, once at each of
 * its instructions in the runtime; the child must get through the same paths. Prints how many did
 * not. To be linked with librelock.a.
 *
 * The instructions are found by going there once with the processor's trap flag set; after that,
 * each is replaced by a breakpoint once.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <relock/relock.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, BREAKPOINT = 0xcc, TEXT_SIZE = 1 << 20, PATIENCE_NS = 3000000 };

RELOCK_LOCK_CLASS(busy_class, "busy", "adaptive");
static relock_mutex_t busy = RELOCK_MUTEX_INITIALIZER(busy_class);
static relock_cond_t condition = RELOCK_COND_INITIALIZER;

extern unsigned char __executable_start[], etext[];
static char seen[TEXT_SIZE];
static unsigned char *place, replaced; /* where the breakpoint is, and what it replaces */
static __thread int is_watched;
static volatile int stopped, forked, finished; /* by the two threads, for each other */

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A fork may have to wait for what this thread is in the middle of. */
static void trapped(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  (void)number, (void)info;
  if (!place) {
    size_t at = (size_t)((uintptr_t)registers[REG_RIP] - (uintptr_t)__executable_start);
    if (at < TEXT_SIZE)
      seen[at] = 1;
    return;
  }
  registers[REG_RIP]--;
  *place = replaced;
  if (!is_watched)
    return;
  stopped = 1;
  for (long end = now_ns() + PATIENCE_NS; !forked && now_ns() < end;)
    ;
}

static int add(void *sum) { return ++*(long *)sum; }

/* As the first in this process, and the first use of a mutex that a fork has copied. */
static void use(relock_mutex_t *mutex) {
  struct timespec soon;
  long sum = 0;
  mutex->relock_private.generation += 1000;
  if (relock_mutex_trylock(mutex) == 0)
    relock_mutex_unlock(mutex);
  relock_mutex_lock(mutex);
  clock_gettime(CLOCK_REALTIME, &soon);
  relock_cond_timedwait(&condition, mutex, &soon);
  relock_mutex_unlock(mutex);
  relock_execute(mutex, add, &sum);
}

static void use_own(void) {
  relock_mutex_t own;
  relock_mutex_init(&own, NULL, RELOCK_CLASS(busy_class));
  use(&own);
  relock_mutex_destroy(&own);
}

static void *watched(void *unused) {
  is_watched = 1;
  if (!place)
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "memory", "cc");
  use_own();
  use(&busy); /* which is held first */
  __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
  finished = 1;
  return unused;
}

static void *use_other(void *other) {
  use(other);
  return other;
}

/* The thread that is watched may hold `busy`, and does not exist here. */
static void in_child(void) {
  static relock_mutex_t other = RELOCK_MUTEX_INITIALIZER(busy_class);
  pthread_t thread;
  use_own();
  relock_mutex_lock(&other);
  pthread_create(&thread, NULL, use_other, &other);
  usleep(300);
  relock_mutex_unlock(&other);
  pthread_join(thread, NULL);
}

static int child_fails(void) {
  pid_t child = fork();
  if (child == 0) {
    alarm(5);
    in_child();
    _exit(0);
  }
  forked = 1;
  int status = -1;
  waitpid(child, &status, 0);
  return status != 0;
}

static int await_stop(long ns) {
  for (long end = now_ns() + ns; !stopped && !finished && now_ns() < end;)
    usleep(20);
  return stopped;
}

/* Returns whether the child failed. A thread that is about to wait for the mutex gets it. */
static int fork_at(unsigned char *at) {
  pthread_t thread;
  int fails = 0;
  stopped = forked = finished = 0;
  relock_mutex_lock(&busy);
  place = at;
  if (place) {
    replaced = *place;
    *place = BREAKPOINT;
  }
  pthread_create(&thread, NULL, watched, NULL);
  if (await_stop(at ? PATIENCE_NS : 1000 * (long)PATIENCE_NS))
    fails = child_fails();
  relock_mutex_unlock(&busy);
  if (!forked && await_stop(1000 * (long)PATIENCE_NS))
    fails = child_fails();
  pthread_join(thread, NULL);
  if (place)
    *place = replaced;
  return fails;
}

int main(void) {
  long forks = 0, failed = 0;
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  size_t size = (size_t)(etext - __executable_start);
  if (size > TEXT_SIZE ||
      mprotect(__executable_start, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return 2;
  fork_at(NULL);
  for (size_t i = 0; i < TEXT_SIZE; i++)
    if (seen[i]) {
      failed += fork_at(__executable_start + i);
      forks += forked;
    }
  printf("forks beside %s instructions: %ld children failed\n", forks > 500 ? "many" : "few",
         failed);
  return failed != 0;
}
