#include "shared.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
int main(void) {
  static struct list l = {PTHREAD_MUTEX_INITIALIZER, 0};
  append(&l);
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
  return 0;
}
