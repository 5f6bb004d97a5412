/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "watchdog.h"

#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/request.h"
#include "server.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

/* Name or place of a function: static ones have no name at run time, but addr2line(1) knows. */
static void describe(char *text, size_t size, relock_section_t section) {
  Dl_info info;
  uintptr_t address = (uintptr_t)section;
  if (!dladdr((void *)address, &info) || !info.dli_fname)
    snprintf(text, size, "at %p", (void *)address);
  else if (info.dli_sname && info.dli_saddr == (void *)address)
    snprintf(text, size, "%s (%s+0x%" PRIxPTR ")", info.dli_sname, info.dli_fname,
             address - (uintptr_t)info.dli_fbase);
  else
    snprintf(text, size, "at %s+0x%" PRIxPTR " (addr2line -f -e %s 0x%" PRIxPTR ")", info.dli_fname,
             address - (uintptr_t)info.dli_fbase, info.dli_fname,
             address - (uintptr_t)info.dli_fbase);
}

static void report(const struct relock_servicer *servicer, const struct relock_request *slot,
                   uint64_t seconds) {
  const relock_mutex_t *mutex = relock_load_relaxed(&slot->mutex);
  char where[512];
  describe(where, sizeof where, relock_section_asked_for(slot));
  /* If it has ended just now, its slot may hold anything. */
  uint32_t state = relock_load_acquire(&slot->state);
  if (!relock_slot_is_pending(state))
    return;
  int client = relock_request_client(slot)->tid;
  if (mutex)
    relock_say("server %u has run one section for %" PRIu64 " seconds: %s, of lock class '%s', "
               "mutex %p, asked for by thread %d; sections under other mutexes go on "
               "[section-lasts]",
               servicer->server->number + 1, seconds, where, relock_class_of(mutex)->name,
               (const void *)mutex, client);
  else
    relock_say("server %u: a section has waited on a condition variable for %" PRIu64
               " seconds: %s, asked for by thread %d; all others go on [section-lasts]",
               servicer->server->number + 1, seconds, where, client);
}

bool relock_watchdog_look(const struct relock_servicer *servicer, struct relock_stay *stay) {
  /* Pairs with announce(), servicing.c; the acquire with post() and run(). */
  uint32_t announced = relock_load_seq_cst(&servicer->announced);
  const struct relock_request *slot = announced ? servicer->server->slots[announced - 1] : NULL;
  uint32_t state = slot ? relock_load_acquire(&slot->state) : RELOCK_SLOT_FREE;
  uint64_t sections = relock_load_relaxed(&servicer->sections);
  if (!relock_slot_is_pending(state)) {
    stay->since = 0;
    return false;
  }
  uint64_t now = relock_os->now_ns();
  if (stay->since == 0 || stay->sections != sections) {
    *stay = (struct relock_stay){.sections = sections, .since = now};
    return false;
  }
  uint64_t seconds = (now - stay->since) / 1000000000;
  uint64_t due = stay->told ? 2 * stay->told : relock_tuning.watchdog_s;
  if (relock_tuning.watchdog_s > 0 && seconds >= due) {
    stay->told = seconds;
    report(servicer, slot, seconds);
  }
  return true;
}

void relock_watchdog_lost(const struct relock_servicer *servicer) {
  const struct relock_request *slot = servicer->server->slots[servicer->announced - 1];
  const relock_mutex_t *mutex = relock_load_relaxed(&slot->mutex);
  char where[512];
  describe(where, sizeof where, relock_section_asked_for(slot));
  relock_say(
      "server %u: a section has ended the thread that ran it (pthread_exit, or a "
      "cancellation): %s, of lock class '%s', asked for by thread %d; its mutex stays locked "
      "and its client waits for ever [server-thread-ended]",
      servicer->server->number + 1, where, mutex ? relock_class_of(mutex)->name : "?",
      relock_request_client(slot)->tid);
}
