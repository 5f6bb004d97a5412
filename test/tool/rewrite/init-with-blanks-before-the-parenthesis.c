// The class follows the last argument directly, whatever stands before the parenthesis.
// RUN: %rewritten %s | FileCheck %s
// CHECK: pthread_mutexattr_init( &attributes );
// CHECK: relock_mutex_init( &boxes[0].lock, &attributes, RELOCK_CLASS(box_lock) );
// CHECK: relock_mutex_init( &boxes[1].lock, NULL, RELOCK_CLASS(box_lock) );
// CHECK: relock_mutex_init(&boxes[2].lock, 0, RELOCK_CLASS(box_lock) /* the default */);
#include <pthread.h>
#include <stddef.h>
struct box {
  pthread_mutex_t lock;
  int value;
} boxes[3];
void start( void ) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init( &attributes );
  pthread_mutex_init( &boxes[0].lock, &attributes );
  pthread_mutex_init( &boxes[1].lock, NULL );
  pthread_mutex_init(&boxes[2].lock, 0 /* the default */);
}
void add( int n ) {
  pthread_mutex_lock( &boxes[0].lock );
  boxes[0].value += n;
  pthread_mutex_unlock( &boxes[0].lock );
}
