/* SPDX-License-Identifier: MIT
 *
 * Teams: operations that follow each other, with other roots. Members' buffers are their own; what
 * is wrong shows as another value, as a race of the copies, or as a wait without an end.
 */
#include "scenarios.h"

#include "../../../runtime/base/options.h"
#include "../../../runtime/collectives/team.h"

#include <string.h>

enum { MEMBERS = 4 };

static relock_team_t team;

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

static void begin(unsigned members, uint32_t fan) {
  relock_tuning.broadcast_fan = relock_tuning.reduce_fan = fan;
  relock_team_init(&team, members);
}

static void set_steps(uint32_t step) {
  for (uint32_t i = 0; i < team.relock_private.count; i++) {
    struct relock_team_member *member = &team.relock_private.members[i];
    member->step = member->has_taken = member->taken = step;
    for (uint32_t turn = 0; turn < RELOCK_TEAM_SLOTS; turn++)
      member->slot[turn].posted = member->put[turn].step = step;
  }
}

static uint64_t value_of(int operation) { return 1000 + (uint64_t)operation; }

static void send(int id, int root, int operation) {
  uint64_t value = id == root ? value_of(operation) : 0;
  require(relock_team_broadcast(&team, (unsigned)id, (unsigned)root, &value, sizeof value) == 0,
          "relock_team_broadcast failed");
  require(value == value_of(operation), "a member has got another value");
}

static void add(void *into, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
}

/* A bit of each member, and of the operation. */
static uint64_t part_of_sum(int id, int operation) { return UINT64_C(1) << (8 * operation + id); }
static uint64_t sum_of_all(int operation) {
  const uint64_t members = (UINT64_C(1) << team.relock_private.count) - 1;
  return members << 8 * operation;
}

static void collect(int id, int root, int operation) {
  uint64_t value = part_of_sum(id, operation);
  require(relock_team_reduce(&team, (unsigned)id, (unsigned)root, &value, 1, sizeof value, add) ==
              0,
          "relock_team_reduce failed");
  require(value == (id == root ? sum_of_all(operation) : part_of_sum(id, operation)),
          "a sum is another one");
}

static void collect_for_all(int id, int operation) {
  uint64_t value = part_of_sum(id, operation);
  require(relock_team_reduce_all(&team, (unsigned)id, &value, 1, sizeof value, add) == 0,
          "relock_team_reduce_all failed");
  require(value == sum_of_all(operation), "a sum is another one");
}

/* --------------------------------------------------------------------------------------------- */

static void two(void) { begin(2, 2); }
static void three(void) { begin(3, 2); }
static void three_levels(void) { begin(3, 1); }
static void four(void) { begin(4, 2); }
/* The second step makes all words new. */
static void two_refreshed(void) {
  two();
  set_steps((uint32_t)-2 * RELOCK_BARRIER_ROUND);
}
static void three_refreshed(void) {
  three();
  set_steps((uint32_t)-2 * RELOCK_BARRIER_ROUND);
}

/* The third one goes through the slot of the first. */
static void send_thrice(int id) {
  for (int i = 0; i < 3; i++)
    send(id, 0, i);
}
static void send_in_turns(int id) {
  for (int i = 0; i < 3; i++)
    send(id, i % (int)team.relock_private.count, i);
}
static void send_twice(int id) {
  for (int i = 0; i < 2; i++)
    send(id, i, i);
}
/* Members 1 and 2 have it from 0 and then from each other. */
static void send_back(int id) {
  send(id, 0, 0);
  send(id, 2, 1);
}
static void collect_thrice(int id) {
  for (int i = 0; i < 3; i++)
    collect(id, 0, i);
}
static void collect_in_turns(int id) {
  for (int i = 0; i < 2; i++)
    collect(id, i, i);
}
static void collect_and_send(int id) {
  collect(id, 1, 0);
  send(id, 0, 1);
  collect(id, 0, 2);
}
/* In the slot of what it has sent to two, the first one puts what it gives to one of them. */
static void send_and_give(int id) {
  send(id, 0, 0);
  send(id, 1, 1);
  collect(id, 1, 2);
}
/* Member 0 gives to two others, by the same slot. */
static void collect_for_others(int id) {
  collect(id, 1, 0);
  send(id, 0, 1);
  collect(id, 2, 2);
}
static void for_all(int id) { collect_for_all(id, 0); }
static void for_all_twice(int id) {
  for (int i = 0; i < 2; i++)
    collect_for_all(id, i);
}

/* What relock_team_destroy() asks, which would not be undone for the next execution. */
static const char *is_over(void) {
  const struct relock_team_member *members = team.relock_private.members;
  for (uint32_t i = 1; i < team.relock_private.count; i++)
    if (members[i].step != members[0].step)
      return "members have not had the same operations";
  return NULL;
}

const struct scenario scenarios_of_teams[] = {
    {"team-broadcast", "three broadcasts of one root", 2, 0, two, send_thrice, is_over},
    {"team-broadcast-roots", "three broadcasts of the two in turns", 2, 0, two, send_in_turns,
     is_over},
    {"team-broadcast-3", "two broadcasts of two roots to three", 3, 2, three, send_twice, is_over},
    {"team-broadcast-levels", "the same, from one to the next", 3, 2, three_levels, send_twice,
     is_over},
    {"team-broadcast-back", "the same, and back", 3, 2, three_levels, send_back, is_over},
    {"team-broadcast-many", "three broadcasts of three roots", 3, 3, three, send_in_turns, is_over},
    {"team-broadcast-thrice", "three broadcasts of one root to two", 3, 2, three, send_thrice,
     is_over},
    {"team-broadcast-4", "two broadcasts to four on two levels", 4, 3, four, send_twice, is_over},
    {"team-reduce", "three reductions of two", 2, 0, two, collect_thrice, is_over},
    {"team-reduce-3", "reductions for two roots", 3, 2, three, collect_in_turns, is_over},
    {"team-reduce-levels", "the same, from one to the next", 3, 2, three_levels, collect_in_turns,
     is_over},
    {"team-reduce-roots", "a reduction, a broadcast and a reduction for two roots", 3, 2, three,
     collect_for_others, is_over},
    {"team-reduce-all", "two of them", 2, 0, two, for_all_twice, is_over},
    {"team-reduce-all-3", "one of three members on three levels", 3, 2, three_levels, for_all,
     is_over},
    {"team-both", "a reduction, a broadcast and a reduction", 2, 0, two, collect_and_send, is_over},
    {"team-both-3", "the same of three", 3, 3, three, collect_and_send, is_over},
    {"team-give", "two broadcasts and a reduction of three", 3, 2, three, send_and_give, is_over},
    {"team-refresh", "words are made new between the first and the third", 2, 0, two_refreshed,
     send_thrice, is_over},
    {"team-refresh-3", "the same of three that send in turns", 3, 3, three_refreshed, send_in_turns,
     is_over},
};
const int scenario_of_teams_count = sizeof scenarios_of_teams / sizeof *scenarios_of_teams;
