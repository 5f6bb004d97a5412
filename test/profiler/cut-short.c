// SPDX-License-Identifier: MIT
// Records that end anywhere, or are damaged, are read as far as they can be; a profile that ends
// anywhere is refused. The tool never crashes.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %python %S/Inputs/cut-short.py %relock %t
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *visit(void *argument) {
  pthread_mutex_t on_stack = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 101; i++) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    pthread_mutex_lock(&on_stack);
    pthread_mutex_unlock(&on_stack);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
  }
  return argument;
}

/* Of the records of this process, before it dies. */
static void damage(long length, unsigned seed) {
  char path[600];
  struct stat status;
  snprintf(path, sizeof path, "%s/%d.0.records", getenv("RELOCK_PROFILE_DIR"), (int)getpid());
  int file = open(path, O_RDWR);
  if (file < 0 || fstat(file, &status))
    _exit(9);
  for (int i = 0; seed && i < 200; i++) {
    uint64_t value = i % 3 ? (uint64_t)rand_r(&seed) : UINT64_MAX >> rand_r(&seed) % 64;
    off_t at = 16 + rand_r(&seed) % length;
    if (pwrite(file, &value, (size_t)(1 + rand_r(&seed) % 8), at) < 0)
      _exit(8);
  }
  if (!seed && ftruncate(file, length))
    _exit(7);
  kill(getpid(), SIGKILL);
}

/* LENGTH: cut there. LENGTH SEED: damage what lies before it. CHILDREN STEP SEED: the same in that
 * many children, each STEP further. */
int main(int count, char **words) {
  pthread_t thread;
  pthread_create(&thread, NULL, visit, NULL);
  visit(NULL);
  pthread_join(thread, NULL);
  if (count < 4)
    damage(atol(words[1]), count > 2 ? (unsigned)atoi(words[2]) : 0);
  for (int i = 0; i < atoi(words[1]); i++) {
    pid_t child = fork();
    if (child == 0) {
      visit(NULL);
      damage(1 + i * atol(words[2]), (unsigned)atoi(words[3]) * (unsigned)(i + 1));
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}
