/* SPDX-License-Identifier: MIT
 *
 * Broadcasts and reductions of all threads, by a team (collectives/team.h), and by what programs do
 * instead: memory that all share, between two rounds of a barrier, which is the runtime's or a
 * model of the C library's. The root is another one each time, in the team's tree the deepest
 * member of the time before: nobody sends anything before he has got what was sent then.
 */
#ifndef RELOCK_SIM_LOAD_TEAM_H
#define RELOCK_SIM_LOAD_TEAM_H

#include "load.h"

/* `lines` of 64 bytes at most; of none, 8 bytes. */
enum { SIM_MAX_TEAM_LINES = 1024 };

/* With blanks between them. */
extern const char sim_team_names[];

/* By the first thread, before the others are there. */
void sim_team_start(const struct sim_load *load);
/* By each thread: an operation. */
void sim_team_operate(unsigned member);

/* How many operations members may be ahead of the first. */
unsigned sim_team_most_ahead(const struct sim_load *load);

/* Afterwards. Whether each got what was sent, and each sum was complete. */
bool sim_team_is_exact(void);

#endif
