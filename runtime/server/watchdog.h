/* SPDX-License-Identifier: MIT
 *
 * Sections that do not end. The manager looks at each servicing thread at every tick, and after
 * watchdog_s (tunables.def) in one section says so, and again each time the time has doubled:
 *
 *   relock: server 1 has run one section for 10 seconds: add_section (./counts+0x1234), of lock
 *   class 'counts', mutex 0x4050, asked for by thread 1234; sections under other mutexes go on
 *   [section-lasts]
 */
#ifndef RELOCK_SERVER_WATCHDOG_H
#define RELOCK_SERVER_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct relock_servicer;

/* What the manager knows of a thread's stay in a section. */
struct relock_stay {
  uint64_t sections; /* that the thread had run before */
  uint64_t since;    /* ns; 0: in none */
  uint64_t told;     /* seconds for which it was reported */
};

/* True: the thread was in the same section at the last look. */
bool relock_watchdog_look(const struct relock_servicer *servicer, struct relock_stay *stay);

/* Says that a section has ended the thread that ran it. */
void relock_watchdog_lost(const struct relock_servicer *servicer);

#endif
