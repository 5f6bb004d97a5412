// SPDX-License-Identifier: MIT
#include <pthread.h>
struct conn { pthread_mutex_t lock; int n; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int n;
void add(struct conn *c) {
  pthread_mutex_lock(&c->lock);
  c->n++;
  pthread_mutex_unlock(&c->lock);
  pthread_mutex_lock(&lock);
  n++;
  pthread_mutex_unlock(&lock);
}
