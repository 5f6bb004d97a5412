/* SPDX-License-Identifier: MIT
 *
 * The first thread ends by pthread_exit while a server exists; the process must end with its last
 * thread, with status 0 and after its exit handlers. */
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(shared, "shared", "rcl");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(shared);
static int sections;

static int count(void *context) {
  (void)context;
  return ++sections;
}
static void use(void) { relock_execute_any_thread(&mutex, count, NULL); }

static void say(const char *text) {
  puts(text);
  fflush(stdout);
}
static void at_exit(void) { printf("exit handler: %d sections\n", sections); }

static void start(void *(*run)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_detach(thread) != 0)
    abort();
}

/* Longer than it takes an idle server to retire. */
static void pause_long(void) { usleep(100000); }

static void *idle(void *unused) {
  pause_long();
  say("the idle thread ends");
  return unused;
}

static void *user(void *unused) {
  for (int i = 0; i < 5; i++) {
    pause_long();
    use();
  }
  say("the user ends");
  return unused;
}

static void *starter(void *unused) {
  pause_long();
  use();
  start(user);
  return unused;
}

static void *child(void *unused) {
  use();
  pause_long();
  say("the child's thread ends");
  return unused;
}

static void *parent(void *unused) {
  pause_long();
  use();
  pid_t pid = fork();
  if (pid < 0)
    abort();
  if (pid == 0) {
    use();
    start(child);
    pthread_exit(NULL);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid)
    abort();
  printf("the child ended: %s %d\n", WIFEXITED(status) ? "status" : "signal",
         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  fflush(stdout);
  return unused;
}

int main(int argc, char **argv) {
  atexit(at_exit);
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "unused") != 0)
    use();
  if (strcmp(how, "idle") == 0)
    start(idle);
  else if (strcmp(how, "starter") == 0 || strcmp(how, "unused") == 0)
    start(starter);
  else if (strcmp(how, "fork") == 0)
    start(parent);
  else if (strcmp(how, "child") == 0 && fork() == 0)
    use();
  pthread_exit(NULL);
}
