/* SPDX-License-Identifier: MIT */
#include <pthread.h>

struct box {
  int n;
  pthread_mutex_t lock;
};
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t robust;
int total;

void init(void) {
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&robust, &attr);
}

void add(struct box *box) {
  pthread_mutex_lock(&a);
  total++;
  pthread_mutex_unlock(&a);
  pthread_mutex_lock(&b);
  total++;
  pthread_mutex_unlock(&b);
  pthread_mutex_lock(&c);
  total++;
  pthread_mutex_unlock(&c);
  pthread_mutex_lock(&box->lock);
  box->n++;
  pthread_mutex_unlock(&box->lock);
  pthread_mutex_lock(&robust);
  total++;
  pthread_mutex_unlock(&robust);
}
