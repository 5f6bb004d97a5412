/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include "annotate.h"
#include "atomic.h"
#include "word.h"

#include <time.h>

static uint32_t words[RELOCK_GUARDS];

void relock_guard_take(enum relock_guard guard) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&words[guard], &wait, CLOCK_MONOTONIC, NULL);
}

bool relock_guard_try(enum relock_guard guard) { return relock_word_try(&words[guard]); }

void relock_guard_release_quietly(enum relock_guard guard) { relock_word_release(&words[guard]); }

bool relock_guard_is_taken(enum relock_guard guard) { return !relock_word_is_free(&words[guard]); }

static void (*tell)(void);

void relock_guards_tell(void (*released)(void)) {
  /* Release: pairs with the acquire in tell_released(). */
  relock_store_release(&tell, released);
}

static void tell_released(void) {
  /* Acquire: pairs with the release in relock_guards_tell(). */
  void (*released)(void) = relock_load_acquire(&tell);
  if (released)
    released();
}

void relock_guard_release(enum relock_guard guard) {
  relock_guard_release_quietly(guard);
  if (guard == RELOCK_GUARD_OUTPUT || guard == RELOCK_GUARD_CLASSES)
    tell_released();
}

void relock_guards_annotate(void) { relock_annotate_own(words, sizeof words); }

void relock_guards_take_all(void) {
  for (enum relock_guard guard = RELOCK_GUARD_CLASSES; guard < RELOCK_GUARDS; guard++)
    relock_guard_take(guard);
}

void relock_guards_release_all(void) {
  for (enum relock_guard guard = RELOCK_GUARD_CLASSES; guard < RELOCK_GUARDS; guard++)
    relock_guard_release_quietly(guard);
  tell_released();
}

void relock_guards_after_fork(void) { words[RELOCK_GUARD_OUTPUT] = RELOCK_WORD_FREE; }
