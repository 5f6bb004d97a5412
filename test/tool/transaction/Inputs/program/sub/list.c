#include "../shared.h"
void append(struct list *l) {
  pthread_mutex_lock(&l->lock);
  l->length++;
  pthread_mutex_unlock(&l->lock);
}
