// SPDX-License-Identifier: MIT
// Barriers of librelock are recorded as those of pthreads are: each with the name of its variable, how
// often and how long threads waited, and where; statically linked, too. One that is destroyed and
// initialised again is another one in the same place.
// REQUIRES: plain
// RUN: %cc -g -O1 -fno-optimize-sibling-calls -I%include %s %librelock -o %t -lpthread
// RUN: %cc -g -O1 -fno-optimize-sibling-calls -I%include %s -o %t.shared -L%librelock_dir -lrelock \
// RUN:   -Wl,-rpath,%librelock_dir -lpthread
// RUN: for linked in %t %t.shared; do for algorithm in central tree; do \
// RUN:   RELOCK_BARRIER=$algorithm %relock profile --sample-interval=0 -o %t.profile -- $linked || exit 9; \
// RUN:   %python %S/Inputs/expect.py %t.profile \
// RUN:     'wait("met")["acquisitions"] == 8' \
// RUN:     'wait("met")["wait"]["total_ns"] > 0' \
// RUN:     'waiting_in("met", "meet")["contended"] == 6' \
// RUN:     'waiting_in("met", "meet_again")["contended"] == 2' \
// RUN:     'wait("room.made")["acquisitions"] == 2' \
// RUN:     'not any(profile["dropped"].values())' \
// RUN:     || { echo with $algorithm, $linked; exit 9; }; \
// RUN: done; done
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: Where they wait for no lock, estimated from samples:
// CHECK: {{^met$}}
// CHECK: {{^}}    meet (runtime-barriers.c:{{[0-9]+}})
#include <pthread.h>
#include <relock/barriers.h>
#include <stdlib.h>

#define FUNCTION static __attribute__((noinline)) void

static relock_barrier_t met;
struct room {
  relock_barrier_t made;
};

FUNCTION meet(void) { relock_barrier_wait(&met); }
FUNCTION meet_again(void) { relock_barrier_wait(&met); }

static void *other(void *argument) {
  for (int i = 0; i < 3; i++)
    meet();
  meet_again();
  return argument;
}

int main(void) {
  pthread_t thread;
  struct room *room = malloc(sizeof *room);
  for (int i = 0; i < 2; i++) {
    relock_barrier_init(&room->made, NULL, 1);
    relock_barrier_wait(&room->made);
    relock_barrier_destroy(&room->made);
  }
  free(room);
  relock_barrier_init(&met, NULL, 2);
  pthread_create(&thread, NULL, other, NULL);
  for (int i = 0; i < 3; i++)
    meet();
  meet_again();
  pthread_join(thread, NULL);
  relock_barrier_destroy(&met);
  return 0;
}
