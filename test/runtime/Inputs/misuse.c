/* SPDX-License-Identifier: MIT
 * misuse wait|relock: stops with a message. */
#include <relock/relock.h>
#include <string.h>
static relock_mutex_t mutex;
static relock_mutex_t checked = {.relock_private = {.kind = RELOCK_TYPE_ERRORCHECK}};
static relock_cond_t cond;

static int wait_inside(void *context) {
  (void)context;
  return relock_cond_wait(&cond, &mutex);
}

static int nothing(void *context) { return context != NULL; }

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "wait") == 0)
    return relock_execute(&mutex, wait_inside, NULL);
  relock_mutex_lock(&checked);
  return relock_execute(&checked, nothing, NULL);
}
