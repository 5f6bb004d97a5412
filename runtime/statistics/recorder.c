/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorder.h"

#include <dlfcn.h>

/* A static program has none, and C libraries before glibc 2.34 have it in another library. */
#pragma weak dlsym

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

const struct relock_recorder *relock_recorder;

void relock_recorder_find(void) {
  const struct relock_recorder *found = dlsym ? dlsym(RTLD_DEFAULT, TEXT_OF(RELOCK_RECORDER)) : 0;
  if (found && found->version == RELOCK_RECORDER_VERSION)
    relock_recorder = found;
}
