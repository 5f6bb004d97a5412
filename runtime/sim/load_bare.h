/* SPDX-License-Identifier: MIT
 *
 * The algorithms of Petrovic's thesis (2016), section 6.2, as it has them: without a mutex around
 * them, for one lock, by threads that are known before. Its systems send messages by channels
 * (channels/channel.h), which are queues in hardware on machines that have such.
 *
 * They are here and not among the runtime's algorithms, since there they would be others that it has
 * (doc/algorithms.md): SHM-Server and MP-Server `rcl`, without what a server has to survive, and
 * HybLock `mcs`. The runtime's `hybcomb` has a channel of the lock, which no processor's queue can
 * be; HybComb's are the threads'. test/runtime/explore/printed.c has what is wrong as printed.
 */
#ifndef RELOCK_SIM_LOAD_BARE_H
#define RELOCK_SIM_LOAD_BARE_H

#include "load.h"

/* With blanks between them. */
extern const char sim_bare_names[];
bool sim_bare_has_server(const char *name);

/* By the first thread, before the others are there. */
void sim_bare_start(const struct sim_load *load);
/* By each thread, before its first operation. Returns when all are there. */
void sim_bare_join(unsigned number);
/* A section. */
void sim_bare_operate(unsigned number);

/* Afterwards. Whether each section was run once. */
bool sim_bare_is_exact(void);

#endif
