/* SPDX-License-Identifier: MIT
 * resumable-misuse execute|inside|unnamed: stops with a message. */
#include <relock/relock.h>
#include <string.h>

RELOCK_LOCK_CLASS(any, "any", "ccsynch");
static relock_mutex_t mutex = RELOCK_RECURSIVE_MUTEX_INITIALIZER(any);
static relock_cond_t cond = RELOCK_COND_INITIALIZER;

static int wait_once(void *context) {
  relock_resume_t *resume = context;
  switch (resume->at) {
  case 0:
    RELOCK_COND_WAIT(resume, &cond, 1);
  }
  return 0;
}

static int wait_inside(void *resume) {
  return relock_execute_resumable(&mutex, wait_once, resume, resume);
}

static int wait_elsewhere(void *context) {
  static relock_resume_t other;
  (void)context;
  return wait_once(&other);
}

int main(int argc, char **argv) {
  relock_resume_t resume = {0};
  if (argc != 2)
    return 2;
  if (strcmp(argv[1], "execute") == 0)
    return relock_execute(&mutex, wait_once, &resume);
  if (strcmp(argv[1], "inside") == 0)
    return relock_execute(&mutex, wait_inside, &resume);
  return relock_execute_resumable(&mutex, wait_elsewhere, NULL, &resume);
}
