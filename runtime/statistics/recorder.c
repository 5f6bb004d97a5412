/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorder.h"

#include "../collectives/barrier.h"

#include <dlfcn.h>

/* A static program has none, and C libraries before glibc 2.34 have it in another library. */
#pragma weak dlsym

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

const struct relock_recorder *relock_recorder;

void relock_recorder_find(void) {
  const struct relock_recorder *found = dlsym ? dlsym(RTLD_DEFAULT, TEXT_OF(RELOCK_RECORDER)) : 0;
  if (!found || found->version != RELOCK_RECORDER_VERSION)
    return;
  relock_recorder = found;
  static struct relock_barrier_listener barriers;
  barriers = (struct relock_barrier_listener){found->barrier_initialised, found->barrier_destroyed,
                                              found->barrier_waits};
  relock_barriers_heard_by(&barriers);
}
