/* SPDX-License-Identifier: MIT */
#include "annex.h"

#include "atomic.h"
#include "guard.h"
#include "os.h"

struct free_annex {
  struct free_annex *next;
};

static struct free_annex *free_list; /* guarded by RELOCK_GUARD_ANNEXES */

static void put(void *annex) {
  struct free_annex *freed = annex;
  relock_guard_take(RELOCK_GUARD_ANNEXES);
  freed->next = free_list;
  free_list = freed;
  relock_guard_release(RELOCK_GUARD_ANNEXES);
}

/* Atomically, since a client of the former mutex may still look whether it is expected. */
static void *clear(void *annex) {
  uintptr_t *words = annex;
  for (size_t i = 0; i < RELOCK_ANNEX_SIZE / sizeof *words; i++)
    relock_store_relaxed(&words[i], 0);
  return annex;
}

static void *get(void) {
  relock_guard_take(RELOCK_GUARD_ANNEXES);
  struct free_annex *annex = free_list;
  if (annex)
    free_list = annex->next;
  relock_guard_release(RELOCK_GUARD_ANNEXES);
  return annex ? clear(annex) : relock_os->reserve(RELOCK_ANNEX_SIZE);
}

void *relock_annex(relock_mutex_t *mutex) {
  uintptr_t *tail = &mutex->relock_private.tail;
  /* Acquire: pairs with the release below. */
  uintptr_t annex = relock_load_acquire(tail);
  if (RELOCK_LIKELY(annex != 0))
    return (void *)annex;
  void *made = get();
  if (!made)
    return NULL;
  relock_store_relaxed(&mutex->relock_private.open, 1);
  /* Release: pairs with the acquires; the annex is zero-filled. */
  if (relock_cas_release(tail, 0, (uintptr_t)made))
    return made;
  put(made);
  return (void *)relock_load_acquire(tail);
}

void relock_annex_give_back(relock_mutex_t *mutex) {
  uintptr_t annex = relock_load_relaxed(&mutex->relock_private.tail);
  mutex->relock_private.tail = 0;
  mutex->relock_private.open = 0;
  if (annex)
    put((void *)annex);
}
