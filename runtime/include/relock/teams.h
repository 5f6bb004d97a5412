/* SPDX-License-Identifier: MIT
 *
 * Relock teams: so many threads, numbered from 0 on, that pass data to each other without locks.
 * One of them sends what it has to all (broadcast), or gets what all have, combined (reduce).
 * Sources: D. Petrovic's thesis (EPFL, 2016), 3.1; Ramos and Hoefler, "Cache line aware algorithm
 * design" (2016), 4 and 5.
 *
 *   static void add(void *into, const void *from, size_t count) {
 *     for (size_t i = 0; i < count; i++)
 *       ((double *)into)[i] += ((const double *)from)[i];
 *   }
 *
 *   relock_team_t team;                                       // once
 *   relock_team_init(&team, 4);
 *
 *   double found[100];                                        // in each of four threads
 *   relock_team_broadcast(&team, number, 0, &job, sizeof job);
 *   ...
 *   relock_team_reduce(&team, number, 0, found, 100, sizeof *found, add);
 *
 * All members call the same operations in the same order, with the same root, sizes and counts;
 * what happens else is undefined. The root may be another one each time. An operation returns when
 * the caller's part is done: its buffer is the caller's again then, while others may not have
 * begun. It is no barrier (barriers.h), but what the members have written before they sent
 * something is seen by those that have got it, or what was made of it. Whoever has to wait spins
 * and then sleeps, as at a barrier.
 *
 * A member is whoever calls with its number, one thread at a time; different members may call at
 * the same time. Messages pass through memory of the team's, RELOCK_TEAM_PIECE bytes at a time, so
 * that they may be of any length; of no bytes, or no elements, an operation does nothing.
 *
 * Functions return 0 or an error number, which they return without having done anything: the others
 * of the team wait for ever for a member that got one. EINVAL: not initialised; EDOM: the member or
 * the root is not in the team. None changes errno, is a cancellation point, or is for signal
 * handlers or for sections.
 */
#ifndef RELOCK_TEAMS_H
#define RELOCK_TEAMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
  RELOCK_TEAM_MEMBERS = 1024, /* at most */
  RELOCK_TEAM_PIECE = 4096    /* bytes; an element of a reduction has no more */
};

struct relock_team_member;

/* Needs relock_team_init. */
typedef struct relock_team {
  struct {
    struct relock_team_member *members; /* see collectives/team.h */
    uint32_t count;
    uint16_t fan[3]; /* of trees: how many at most are below a member */
  } relock_private;
} relock_team_t;

/* Before any member calls. EINVAL: no members; EOVERFLOW: more than RELOCK_TEAM_MEMBERS; ENOMEM. */
int relock_team_init(relock_team_t *team, unsigned members);

/* After all members have returned from all of their operations. EBUSY: they had not the same number
 * of them; EINVAL: not initialised. Its memory serves later teams and barriers. */
int relock_team_destroy(relock_team_t *team);

/* All have at `buffer` the bytes that the root had there. */
int relock_team_broadcast(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                          size_t bytes);

/* Combines `count` elements, each with as many others, into the first ones: into[i] = into[i] op
 * from[i]. Both are aligned for any type if the buffers of all members are, and do not overlap. In
 * which order members are combined follows from their number, the root and RELOCK_TUNE alone, so
 * that sums of floating-point numbers are the same each time; but it is any order, hence op is to
 * be associative and commutative. It is called by the threads of members, some at the same time,
 * and calls nothing of the same team. */
typedef void (*relock_combine_t)(void *into, const void *from, size_t count);

/* The root has at `buffer` what is made of the elements that all had there; the others keep theirs.
 * `size`: bytes of an element. EINVAL: of no bytes; EOVERFLOW: of more than RELOCK_TEAM_PIECE, or
 * all together are more than a size_t can say. */
int relock_team_reduce(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                       size_t count, size_t size, relock_combine_t combine);

/* The same for all: each has the result, to the bit. */
int relock_team_reduce_all(relock_team_t *team, unsigned member, void *buffer, size_t count,
                           size_t size, relock_combine_t combine);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
