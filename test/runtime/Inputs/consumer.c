/* SPDX-License-Identifier: MIT */
#include <relock/relock.h>
#include <stdio.h>
RELOCK_LOCK_CLASS(consumer_lock, "consumer_lock", "ccsynch");
static relock_mutex_t mutex = RELOCK_MUTEX_INITIALIZER(consumer_lock);
static int answer(void *context) { return *(int *)context + 1; }
int main(void) {
  int value = 41;
  printf("answer %d\n", relock_execute(&mutex, answer, &value));
  return 0;
}
