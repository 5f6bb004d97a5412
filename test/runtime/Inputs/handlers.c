/* SPDX-License-Identifier: MIT
 *
 * What a program sees of its signal handlers, printed: before and after the first section has run
 * with its caller's identity elsewhere. With -DPLAIN there are no such sections, and no librelock:
 * the output has to be the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

sighandler_t bsd_signal(int, sighandler_t); /* <signal.h> has forgotten them */
sighandler_t ssignal(int, sighandler_t);
sighandler_t sysv_signal(int, sighandler_t);

#ifdef PLAIN
static void switch_once(void) {}
#else
#include <relock/relock.h>

RELOCK_LOCK_CLASS(busy, "busy", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(busy);

static int nothing(void *context) { return context != NULL; }

static void *ask(void *context) {
  relock_execute(&mutex, nothing, context);
  return NULL;
}

static void switch_once(void) {
  relock_statistics_t statistics = {0};
  for (int trial = 0; statistics.delegated == 0 && trial < 100; trial++) {
    pthread_t thread[2];
    relock_mutex_lock(&mutex);
    for (int i = 0; i < 2; i++) {
      pthread_create(&thread[i], NULL, ask, NULL);
      usleep(20000);
    }
    relock_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
      pthread_join(thread[i], NULL);
    relock_class_statistics(RELOCK_CLASS(busy), &statistics);
  }
  if (statistics.delegated == 0)
    puts("no section was delegated");
}
#endif

static char alternate[65536];

static bool is_blocked(int number) {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  return sigismember(&blocked, number);
}

static void state(int number) {
  char here;
  const bool there = &here >= alternate && &here < alternate + sizeof alternate;
  printf("  signal %d: alternate stack %d, blocks itself %d, USR2 %d\n", number, there,
         is_blocked(number), is_blocked(SIGUSR2));
}

static void one(int number) {
  printf("one\n");
  state(number);
}

static void two(int number, siginfo_t *info, void *context) {
  printf("two, value %d, code %d, context %d\n", info->si_value.sival_int, info->si_code,
         context != NULL);
  state(number);
}

static struct sigaction before_chain;
static void chain(int number) {
  printf("chain\n");
  before_chain.sa_handler(number);
}

static const char *name_of(sighandler_t handler) {
  return handler == SIG_DFL               ? "default"
         : handler == SIG_IGN             ? "ignored"
         : handler == SIG_ERR             ? "error"
         : handler == SIG_HOLD            ? "held"
         : handler == one                 ? "one"
         : handler == chain               ? "chain"
         : (void *)handler == (void *)two ? "two"
                                          : "somebody else's";
}

static void show(int number) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) {
    printf("sigaction of %d: %s\n", number, strerrorname_np(errno));
    return;
  }
  printf("%d has %s, flags %#x, blocks USR2 %d, itself %d\n", number, name_of(action.sa_handler),
         (unsigned)action.sa_flags, sigismember(&action.sa_mask, SIGUSR2),
         sigismember(&action.sa_mask, number));
}

static void put(int number, int flags, sighandler_t handler, bool blocks) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
  sigemptyset(&action.sa_mask);
  if (blocks)
    sigaddset(&action.sa_mask, SIGUSR2);
  const int result = sigaction(number, &action, &old);
  printf("put: %d, before %s %#x\n", result, result ? "-" : name_of(old.sa_handler),
         result ? 0 : (unsigned)old.sa_flags);
  show(number);
}

static void queue(int number, int value) {
  sigqueue(getpid(), number, (union sigval){.sival_int = value});
}

static void flags(void) {
  put(SIGUSR1, 0, one, true);
  raise(SIGUSR1);
  put(SIGUSR1, SA_SIGINFO | SA_ONSTACK, (sighandler_t)(void *)two, false);
  queue(SIGUSR1, 42);
  put(SIGUSR1, SA_NODEFER | SA_RESTART, one, false);
  raise(SIGUSR1);
  put(SIGUSR1, (int)SA_RESETHAND, one, false);
  raise(SIGUSR1);
  show(SIGUSR1);
  put(SIGCHLD, SA_NOCLDWAIT | SA_NOCLDSTOP, one, false);
  if (fork() == 0)
    _exit(3);
  const int waited = wait(NULL);
  printf("wait: %d, %s\n", waited, strerrorname_np(errno));
  put(SIGCHLD, 0, SIG_DFL, false);
  put(SIGRTMIN + 3, SA_SIGINFO, (sighandler_t)(void *)two, true);
  queue(SIGRTMIN + 3, 7);
  put(SIGRTMIN + 3, 0, SIG_IGN, false);
  queue(SIGRTMIN + 3, 8);
  put(SIGRTMIN + 3, 0, SIG_DFL, false);
}

static void errors(void) {
  put(SIGKILL, 0, one, false);
  put(SIGSTOP, 0, SIG_IGN, false);
  put(0, 0, one, false);
  put(32, 0, one, false);
  put(33, 0, one, false);
  put(65, 0, one, false);
  printf("signal: %s\n", name_of(signal(SIGKILL, one)));
  printf("signal: %s %s\n", name_of(signal(99, one)), strerrorname_np(errno));
  printf("signal: %s %s\n", name_of(signal(SIGUSR1, SIG_ERR)), strerrorname_np(errno));
  printf("sigset: %s\n", name_of(sigset(33, one)));
}

static void others(void) {
  static sighandler_t (*const function[])(int, sighandler_t) = {signal, bsd_signal, ssignal,
                                                                sysv_signal, sigset};
  for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
    printf("function %zu: %s, ", i, name_of(function[i](SIGUSR1, one)));
    show(SIGUSR1);
    raise(SIGUSR1);
    show(SIGUSR1);
    printf("again: %s\n", name_of(function[i](SIGUSR1, SIG_IGN)));
    raise(SIGUSR1);
  }
  siginterrupt(SIGUSR1, 1);
  signal(SIGUSR1, one);
  show(SIGUSR1);
  siginterrupt(SIGUSR1, 0);
  show(SIGUSR1);
  signal(SIGUSR1, one);
  show(SIGUSR1);
  printf("sigset: %s\n", name_of(sigset(SIGUSR1, SIG_HOLD)));
  raise(SIGUSR1);
  printf("sigset: %s\n", name_of(sigset(SIGUSR1, one)));
  sigignore(SIGUSR1);
  show(SIGUSR1);
}

static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }

static void chains(void) {
  put(SIGUSR1, 0, one, true);
  struct sigaction action = {.sa_handler = chain};
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, &before_chain);
  show(SIGUSR1);
  raise(SIGUSR1);
  struct sigaction *volatile same = &before_chain;
  sigaction(SIGUSR1, same, &before_chain); /* the same memory for both */
  show(SIGUSR1);
  printf("and %s\n", name_of(before_chain.sa_handler));
  raise(SIGUSR1);
  signal(SIGUSR2, jump);
  for (volatile int i = 0; i < 3; i++)
    if (sigsetjmp(back, 1) == 0)
      raise(SIGUSR2);
  printf("jumped, USR2 %d\n", is_blocked(SIGUSR2));
}

static void children(void) {
  put(SIGUSR1, 0, one, true);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    put(SIGUSR1, 0, chain, false);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  show(SIGUSR1);
  /* It shares memory with its parent, and has signals of its own. */
  child = vfork();
  if (child == 0) {
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR1, chain);
    _exit(signal(SIGUSR1, SIG_IGN) == chain ? 5 : 6);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child: %d\n", WEXITSTATUS(status));
  show(SIGUSR1);
  raise(SIGUSR1);
  printf("system: %d\n", system("exit 4") >> 8);
  show(SIGINT);
}

static void all(void) {
  flags();
  errors();
  others();
  chains();
  children();
}

int main(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  sigaltstack(&stack, NULL);
  alarm(100);
  all();
  signal(SIGINT, one);
  switch_once();
  show(SIGINT); /* it was there before */
  all();
  return 0;
}
