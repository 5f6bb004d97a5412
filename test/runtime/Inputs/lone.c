/* SPDX-License-Identifier: MIT
 *
 * Sections of rcl, and whether a server runs them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static relock_class_t shared_lock = {.name = "shared_lock", .algorithm = "rcl"};
static relock_mutex_t mutex = {.relock_private = {.lock_class = &shared_lock}};

static pid_t ran_by;

static int section(void *context) {
  (void)context;
  ran_by = (pid_t)syscall(SYS_gettid);
  return 0;
}

/* Whether another thread ran it. */
static int asks(void) {
  relock_execute_any_thread(&mutex, section, NULL);
  return ran_by != (pid_t)syscall(SYS_gettid);
}

static int threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks));)
    count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Sections until the server runs one, at most so many; 0: it does not. */
static int until_served(void) {
  for (int i = 1; i < 1000000; i++)
    if (asks())
      return i;
  return 0;
}

static void alone(void) {
  const int before = threads(); /* an emulator has one of its own */
  int elsewhere = 0;
  for (int i = 0; i < 200000; i++)
    elsewhere += asks();
  printf("started: %d, elsewhere: %d\n", threads() - before, elsewhere);
}

enum { TURNS = 2000 };

static void *ask_once(void *context) {
  (void)context;
  asks();
  return NULL;
}

static void ask_in_another_thread(void) {
  pthread_t other;
  pthread_create(&other, NULL, ask_once, NULL);
  pthread_join(other, NULL);
}

/* One section of another thread is enough. */
static void in_turn(void) {
  asks();
  ask_in_another_thread();
  puts(until_served() ? "the server runs them" : "the server runs none");
}

/* And many of this one. The last of them are not the server's for any other reason. */
static void again(void) {
  asks();
  ask_in_another_thread();
  if (!until_served())
    puts("the server runs none");
  int own = 0;
  for (int i = 0; i < 1000000 && own < TURNS; i++)
    own = asks() ? 0 : own + 1;
  puts(own == TURNS ? "its own again" : "the server's for ever");
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "alone") == 0)
    alone();
  else if (argc == 2 && strcmp(argv[1], "in-turn") == 0)
    in_turn();
  else
    again();
  return 0;
}
