/* SPDX-License-Identifier: MIT
 *
 * Teams: what goes from one member to others, and how they know. Sources: Petrovic's thesis (2016),
 * 3.1 (OC-Bcast: a tree, in which whoever needs something fetches it from its parent, through two
 * buffers in turns); Ramos and Hoefler (2016), 4.1 (what is short lies in the line of the flag, and
 * all children look at the same one), 5.1 (reductions on the same tree), 4.2 and 5.2 (pieces).
 *
 * An operation is a number of steps, one for each piece of its message, and all members count them
 * alike, whatever they do in one. In a step a member may
 *
 *   take    what others have put into their slots for this step, and then put into its own; or
 *   put     what others are going to take, into one of its two slots, in turns
 *
 *   posted of a slot:  s     what was put for step s is there
 *                      |
 *                      | its readers of step s have taken it; the member puts the next
 *                      v
 *                      s'    later, for a step of the same turn
 *
 *   taken of a member: s     it has taken all that it had to take in steps up to s
 *
 * Each is written by one member, grows, and is a word to wait for as `released` of a barrier's node
 * is, with the same ASLEEP.
 *
 * In a broadcast a member takes from its parent and puts for its children, in a reduction the other
 * way round. The tree is that of the root: a member's place in it is its distance from the root,
 * and below place i are i * fan + 1 to i * fan + fan. The fan is another one for each kind of
 * message.
 *
 * Invariants
 *  - Whoever waits for `posted` of step s finds s, and no later one: the member puts nothing more
 *    into the slot until all readers of s have taken that, and the waiting one is a reader.
 *  - So a slot is read only while it does not change, and what is read was put for that step.
 *  - Both hold whichever tree the steps have: words say a step, not a round of a tree. (The source
 *    has one flag for each core, which others write. With roots that change, it is overwritten or
 *    read too early.)
 *  - A member waits for another that is in the same step or has readers in an earlier one. So
 * whoever is furthest behind never waits for ever, as long as it calls.
 *  - Steps are counted modulo 2^31, and words compared as rounds are. No word is more than
 *    REFRESHED steps old, but for as far as members are apart, which two slots for each limit.
 *
 * Destroyed it is after all have returned: nobody touches its memory late.
 */
#ifndef RELOCK_COLLECTIVES_TEAM_H
#define RELOCK_COLLECTIVES_TEAM_H

#include "barrier.h"

#include <relock/teams.h>

enum { RELOCK_TEAM_SLOTS = 2, RELOCK_TEAM_LITTLE = 56 };

/* Steps have the numbers of rounds (RELOCK_BARRIER_ROUND). In all members each of these steps makes
 * the words new that are not otherwise written: leaves put nothing, roots take nothing. */
enum { RELOCK_TEAM_REFRESHED = 1 << 28 };

/* Words and steps begin so short of 0 that they pass it soon, and tests do, too. */
#define RELOCK_TEAM_FIRST ((uint32_t)(-100 * RELOCK_BARRIER_ROUND))

struct relock_team_slot {
  _Alignas(RELOCK_CACHE_LINE) char little[RELOCK_TEAM_LITTLE]; /* what is not longer */
  uint32_t posted;
};
_Static_assert(sizeof(struct relock_team_slot) == RELOCK_CACHE_LINE, "a line");

/* The trees of an operation, by what goes through them: a broadcast's message that is as short as
 * that, or longer; a reduction's. */
enum relock_team_tree {
  RELOCK_TEAM_SHORT,
  RELOCK_TEAM_LONG,
  RELOCK_TEAM_REDUCED,
  RELOCK_TEAM_TREES
};

/* Who is to take what is in a slot: nobody, or, in that tree of that root, those below or the one
 * above. */
enum relock_team_readers { RELOCK_TEAM_NOBODY, RELOCK_TEAM_BELOW, RELOCK_TEAM_ABOVE };

struct relock_team_member {
  struct relock_team_slot slot[RELOCK_TEAM_SLOTS];
  _Alignas(RELOCK_CACHE_LINE) uint32_t taken;
  /* The member's own. Atomic is only the step, as relock_team_destroy() looks at it. */
  _Alignas(RELOCK_CACHE_LINE) uint32_t step; /* that it is in, or was in last */
  uint32_t has_taken;                        /* in `taken` */
  struct {
    uint32_t step, root; /* in `posted` */
    enum relock_team_tree tree;
    enum relock_team_readers readers;
  } put[RELOCK_TEAM_SLOTS];
};

#endif
