// SPDX-License-Identifier: MIT
// Each signal ends the program as it would without the profiler, with its profile up to there;
// those that end no program, or stop it for a while, leave it whole.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %python %S/Inputs/every-signal.py %relock %t
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *visit(void *argument) {
  for (int i = 0; i < 499; i++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

/* A stopped program goes on when somebody lets it. */
static void let_go_on(int number) {
  pid_t program = getpid();
  if (number != SIGSTOP && number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
    return;
  if (fork() == 0) {
    usleep(20 * 1000);
    kill(program, SIGCONT);
    _exit(0);
  }
}

int main(int count, char **words) {
  int number = count > 1 ? atoi(words[1]) : 0;
  struct rlimit no_core = {0, 0};
  pthread_t thread;
  setrlimit(RLIMIT_CORE, &no_core);
  pthread_create(&thread, NULL, visit, NULL);
  visit(NULL);
  pthread_join(thread, NULL);
  let_go_on(number);
  kill(getpid(), number);
  usleep(1000);
  visit(NULL);
  return 0;
}
