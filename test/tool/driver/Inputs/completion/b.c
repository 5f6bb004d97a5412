// SPDX-License-Identifier: MIT
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
extern int n;
void add_more(void) {
  pthread_mutex_lock(&lock);
  n++;
  pthread_mutex_unlock(&lock);
}
