/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include "annotate.h"
#include "word.h"

#include <time.h>

static uint32_t words[RELOCK_GUARDS];

void relock_guard_take(enum relock_guard guard) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&words[guard], &wait, CLOCK_MONOTONIC, NULL);
}

void relock_guard_release(enum relock_guard guard) { relock_word_release(&words[guard]); }

void relock_guards_annotate(void) { relock_annotate_own(words, sizeof words); }

void relock_guards_take_all(void) {
  for (enum relock_guard guard = RELOCK_GUARD_CLASSES; guard < RELOCK_GUARDS; guard++)
    relock_guard_take(guard);
}

void relock_guards_release_all(void) {
  for (enum relock_guard guard = RELOCK_GUARD_CLASSES; guard < RELOCK_GUARDS; guard++)
    relock_guard_release(guard);
}

void relock_guards_after_fork(void) { words[RELOCK_GUARD_OUTPUT] = RELOCK_WORD_FREE; }
