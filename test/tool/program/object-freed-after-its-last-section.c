// SPDX-License-Identifier: MIT
// The last user of an object frees it, lock included, directly after its section: nobody touches
// the lock any more.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        if (relock_execute_any_thread(&o->lock, drop_section, o)) {
// CHECK-NEXT:     return;
// CHECK-NEXT:   }
// CHECK-NEXT:   relock_mutex_destroy(&o->lock);
// CHECK-NEXT:   memset(o, 255, sizeof(*o));
// CHECK-NEXT:   free(o);
// CHECK:          relock_mutex_init(&o->lock, NULL, RELOCK_CLASS(object_lock));
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
  pthread_mutex_t lock;
  int users, dropped;
};

static void drop(struct object *o) {
  pthread_mutex_lock(&o->lock);
  o->dropped++;
  if (--o->users > 0) {
    pthread_mutex_unlock(&o->lock);
    return;
  }
  pthread_mutex_unlock(&o->lock);
  pthread_mutex_destroy(&o->lock);
  memset(o, 255, sizeof(*o));
  free(o);
}

static void *work(void *objects) {
  for (int i = 0; i < 500; i++)
    drop(((struct object **)objects)[i]);
  return NULL;
}

int main(void) {
  static struct object *objects[500];
  pthread_t threads[4];
  for (int i = 0; i < 500; i++) {
    struct object *o = calloc(1, sizeof(*o));
    pthread_mutex_init(&o->lock, NULL);
    o->users = 4;
    objects[i] = o;
  }
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, objects);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
