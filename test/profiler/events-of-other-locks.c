// SPDX-License-Identifier: MIT
// Events are counted in the sections of rwlocks, of writers and of readers apart, and in those of
// spinlocks, exactly.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --event=page-faults --sample-interval=0 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("tree")["events"] == {"samples": 3 * 31, "sections": 3 * 31, "per_section": 4}' \
// RUN:   'lock("tree")["readers"]["events"] == {"samples": 3 * 97, "sections": 3 * 97, "per_section": 3}' \
// RUN:   'lock("tried")["readers"]["events"] == {"samples": 3 * 13, "sections": 3 * 13, "per_section": 1}' \
// RUN:   'lock("tried")["events"] == {"samples": 3 * 11, "sections": 3 * 11, "per_section": 2}' \
// RUN:   'lock("twice")["readers"]["events"]["samples"] == 3 * 2 * 7' \
// RUN:   '1.5 <= lock("twice")["readers"]["events"]["per_section"] < 1.7' \
// RUN:   '"events" not in lock("twice")' \
// RUN:   'lock("spun")["events"] == {"samples": 3 * 17, "sections": 3 * 17, "per_section": 2}' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report --limit=0 %t.profile | FileCheck %s
// CHECK: tree
// CHECK: 4.00 PAGE_FAULTS per writer's section (93 sections counted)
// CHECK: 3.00 PAGE_FAULTS per reader's section (291 sections counted)
// CHECK: spun
// CHECK: 2.00 PAGE_FAULTS per section (51 sections counted)
//
// By default some sections stand for the others.
// RUN: %relock profile --event=page-faults -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("tree")["readers"]["events"]["per_section"] == 3' \
// RUN:   '0 < lock("tree")["readers"]["events"]["samples"] <= 3 * 97'
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static pthread_rwlock_t tree = PTHREAD_RWLOCK_INITIALIZER, tried = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t twice = PTHREAD_RWLOCK_INITIALIZER, warm = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun, warm_spun;

static void touch(char **memory, int pages) {
  for (; pages; pages--, *memory += 4096)
    *(volatile char *)*memory;
}

static void *work(void *argument) {
  enum { SIZE = 4096 * 2048 };
  char *memory = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, SIZE, MADV_NOHUGEPAGE);
  for (int i = 0; i < 31; i++) {
    pthread_rwlock_wrlock(&tree);
    touch(&memory, 4);
    pthread_rwlock_unlock(&tree);
    touch(&memory, 1);
  }
  for (int i = 0; i < 97; i++) {
    pthread_rwlock_rdlock(&tree);
    touch(&memory, 3);
    pthread_rwlock_unlock(&tree);
  }
  for (int i = 0; i < 13; i++) {
    while (pthread_rwlock_tryrdlock(&tried))
      ;
    touch(&memory, 1);
    pthread_rwlock_unlock(&tried);
  }
  for (int i = 0; i < 11; i++) {
    while (pthread_rwlock_trywrlock(&tried))
      ;
    touch(&memory, 2);
    pthread_rwlock_unlock(&tried);
  }
  for (int i = 0; i < 7; i++) { // of two sections one page, and the outer one two
    pthread_rwlock_rdlock(&twice);
    touch(&memory, 1);
    pthread_rwlock_rdlock(&twice);
    touch(&memory, 1);
    pthread_rwlock_unlock(&twice);
    pthread_rwlock_unlock(&twice);
  }
  for (int i = 0; i < 17; i++) {
    pthread_spin_lock(&spun);
    touch(&memory, 2);
    pthread_spin_unlock(&spun);
  }
  return argument;
}

int main(void) {
  pthread_t threads[3];
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_init(&warm_spun, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 3; i++) { // the code that is run in them is at hand
    pthread_rwlock_rdlock(&warm);
    pthread_rwlock_unlock(&warm);
    pthread_rwlock_wrlock(&warm);
    pthread_rwlock_unlock(&warm);
    pthread_spin_lock(&warm_spun);
    pthread_spin_unlock(&warm_spun);
  }
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
