// SPDX-License-Identifier: MIT
// A thread's holds of rwlocks are remembered up to 32 at once; of further ones the times are
// dropped, and that is said.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("row")["readers"]["acquisitions"] == 37' \
// RUN:   'lock("row")["readers"]["hold"]["count"] == 32' \
// RUN:   'lock("again")["readers"]["hold"]["count"] == 1 and profile["sections"] == 2' \
// RUN:   'profile["dropped"]["times"] == 5 and profile["foreign_releases"] == 0'
#include <pthread.h>

static pthread_rwlock_t row[37], again = PTHREAD_RWLOCK_INITIALIZER;

int main(void) {
  for (int i = 0; i < 37; i++)
    pthread_rwlock_init(&row[i], NULL);
  for (int i = 0; i < 37; i++)
    pthread_rwlock_rdlock(&row[i]);
  for (int i = 0; i < 37; i++)
    pthread_rwlock_unlock(&row[i]);
  pthread_rwlock_rdlock(&again);
  pthread_rwlock_unlock(&again);
  return 0;
}
