/* SPDX-License-Identifier: MIT
 *
 * In each of many rounds a thread goes to sleep for a mutex that has just been taken: the first
 * that does so, and so the one that makes all threads pass a barrier.
 */
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 300 };
static relock_mutex_t mutex;
static pthread_barrier_t turn;
static long waiter;

static void *wait_often(void *unused) {
  waiter = syscall(SYS_gettid);
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&turn); /* the other one has it */
    relock_mutex_lock(&mutex);
    relock_mutex_unlock(&mutex);
    pthread_barrier_wait(&turn);
  }
  return unused;
}

/* Not at the barrier: it has left that already, or is about to. */
static int waits_for_mutex(void) {
  char name[64], state = ' ';
  snprintf(name, sizeof name, "/proc/self/task/%ld/stat", waiter);
  FILE *file = fopen(name, "r");
  const int found = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  if (file)
    fclose(file);
  return found && state == 'S';
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&thread, NULL, wait_often, NULL);
  for (int i = 0; i < ROUNDS; i++) {
    relock_mutex_lock(&mutex);
    pthread_barrier_wait(&turn);
    usleep(200);
    while (!waits_for_mutex())
      usleep(100);
    relock_mutex_unlock(&mutex);
    pthread_barrier_wait(&turn);
  }
  pthread_join(thread, NULL);
  return 0;
}
