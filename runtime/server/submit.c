/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include "../base/class.h"
#include "../base/fork.h"
#include "../locks/section.h"
#include "server.h"

#include <errno.h>
#include <string.h>

uint32_t relock_submits;

int relock_submit(relock_mutex_t *mutex, relock_section_t section, const void *context,
                  size_t size) {
  if (size > RELOCK_COPY_MAX)
    return EINVAL;
  relock_settle();
  struct relock_thread *self = relock_thread_self();
  const relock_class_t *lock_class = relock_resolved_class_of(mutex);
  unsigned char copy[RELOCK_COPY_MAX];
  struct relock_call call = {section, copy, size ? (uint32_t)size : 1, false};
  if (size)
    memcpy(copy, context, size);
  uint8_t kind = relock_load_relaxed(&mutex->relock_private.kind);
  /* Acquire: pairs with the release in forget_old_waiters(), mutex.c. */
  bool plain =
      (kind & RELOCK_KIND_TYPE) == RELOCK_TYPE_NORMAL && kind & RELOCK_KIND_SEEN &&
      relock_load_acquire(&mutex->relock_private.generation) == (uint16_t)relock_generation();
  if (plain && relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl && self) {
    if (!relock_load_relaxed(&relock_submits))
      relock_store_relaxed(&relock_submits, 1);
    if (relock_client_post(mutex, self, &call)) {
      relock_stats_count(self, lock_class, RELOCK_COUNT_EXECUTED, 1);
      return 0;
    }
  }
  int saved = errno; /* the section's is nobody's */
  relock_execute_copy_any_thread(mutex, section, copy, call.copied);
  errno = saved;
  return 0;
}

int relock_submitted_is_done(void) {
  const struct relock_thread *self = relock_own_record;
  /* Acquire: pairs with the release in serve(), servicing.c. */
  return !self || !self->rcl_submitted ||
         relock_load_acquire(&self->rcl_submitted->state) == RELOCK_SLOT_DONE;
}

void relock_submitted_wait(void) { relock_settle(); }
