// SPDX-License-Identifier: MIT
// A program's own functions for locks initialise by a macro that is used directly, too: both name
// their class. Where not all locks that such functions serve convert, they and the macro stay.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %rewritten %s --lock a.lock=mcs | FileCheck %s --check-prefix=ONE
// CHECK:      #define INIT_CLASS(m, lock_class)
// CHECK:      #define INIT(m) INIT_CLASS(m, NULL)
// CHECK:      void os_init(os_mutex *m) { INIT_CLASS(m, NULL); }
// CHECK:      relock_mutex_init(&a.lock, NULL, RELOCK_CLASS(a_lock));
// CHECK-NEXT: relock_mutex_init(&b.lock, NULL, RELOCK_CLASS(b_lock));
// CHECK-NEXT: INIT_CLASS(&c.lock, RELOCK_CLASS(c_lock));
// ONE:        #define INIT(m)
// ONE:        void os_init(os_mutex *m) { INIT(m); }
// ONE:        relock_mutex_init(&a.lock, NULL, RELOCK_CLASS(a_lock));
// ONE-NEXT:   os_init(&b.lock);
// ONE-NEXT:   INIT(&c.lock);
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define INIT(m) do { if (pthread_mutex_init(m, NULL)) abort(); } while (0)
typedef pthread_mutex_t os_mutex;
void os_init(os_mutex *m) { INIT(m); }
void os_lock(os_mutex *m) { pthread_mutex_lock(m); }
void os_unlock(os_mutex *m) { pthread_mutex_unlock(m); }
struct a { os_mutex lock; int n; };
struct b { os_mutex lock; int n; };
struct c { pthread_mutex_t lock; int n; };
static struct a a; static struct b b; static struct c c;
int main(void) {
  os_init(&a.lock);
  os_init(&b.lock);
  INIT(&c.lock);
  os_lock(&a.lock);
  a.n++;
  os_unlock(&a.lock);
  os_lock(&b.lock);
  b.n++;
  os_unlock(&b.lock);
  pthread_mutex_lock(&c.lock);
  c.n++;
  pthread_mutex_unlock(&c.lock);
  printf("%d %d %d\n", a.n, b.n, c.n);
  return 0;
}
