/* SPDX-License-Identifier: MIT
 * A section that waits twice, signalled twice by sections. */
#include <relock/relock.h>

#include <stdio.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(counted, "counted", "posix");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(counted);
static relock_cond_t cond = RELOCK_COND_INITIALIZER;
static int waits;

static int wait_twice(void *context) {
  relock_resume_t *resume = context;
  switch (resume->at) {
  case 0:
    waits = 1;
    RELOCK_COND_WAIT(resume, &cond, 1);
    waits = 2;
    RELOCK_COND_WAIT(resume, &cond, 2);
  }
  return 0;
}

static void *run(void *unused) {
  relock_resume_t resume;
  relock_execute_resumable(&mutex, wait_twice, &resume, &resume);
  return unused;
}

/* Signals once the wait of that number has begun. */
static int signal_wait(void *number) {
  if (waits == *(int *)number)
    return relock_cond_signal(&cond);
  return 1;
}

int main(void) {
  pthread_t thread;
  int vain = 0;
  pthread_create(&thread, NULL, run, NULL);
  for (int number = 1; number <= 2; number++)
    while (relock_execute(&mutex, signal_wait, &number)) {
      vain++;
      usleep(1000);
    }
  pthread_join(thread, NULL);
  /* The section's three parts and the two signals. */
  fprintf(stderr, "executed should be %d\n", 5 + vain);
  return 0;
}
