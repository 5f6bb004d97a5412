/* SPDX-License-Identifier: MIT
 *
 * What the runtime says of itself to a debugger, in a library without debug information too: where
 * its structures have their members, what some constants are, and where its data begins. Read by
 * relock-gdb.py, in processes and in cores.
 */
#ifndef RELOCK_DEBUG_LAYOUT_H
#define RELOCK_DEBUG_LAYOUT_H

#include <stdint.h>

enum { RELOCK_LAYOUT_VERSION = 1, RELOCK_LAYOUT_NAME = 24, RELOCK_LAYOUT_ENTRIES = 90 };

/* The version changes when an entry changes its meaning or goes, not when one is added. */
struct relock_debug_layout {
  uint32_t version, entries, entry_size, reserved;
  struct relock_debug_entry {
    char name[RELOCK_LAYOUT_NAME]; /* "structure.member", "structure.size", or what it is; no name:
                                      not used */
    uint64_t value;
  } entry[RELOCK_LAYOUT_ENTRIES];
};

extern const struct relock_debug_layout relock_debug_layout __attribute__((visibility("default")));

#endif
