/* SPDX-License-Identifier: MIT
 *
 * Broadcasts and reductions of teams. See team.h for states and invariants.
 *
 * Cost: of a message that fits into the line of a flag, that line's transfer to each reader, and
 * one of `taken`, which nobody waits for but who puts the next but one; at the depth of the tree
 * one after the other. Progress: a member that is preempted delays those below it in a broadcast,
 * and those above it in a reduction; the others are up to two steps ahead of it, and wait then.
 */
#include "team.h"

#include "../base/annotate.h"
#include "../base/options.h"

#include <errno.h>
#include <string.h>

/* --- the tree -------------------------------------------------------------------------------- */

/* Of a member in an operation. */
struct part {
  const relock_team_t *team;
  struct relock_team_member *members, *self;
  uint32_t member, root, place, fan;
  enum relock_team_tree tree;
  uint32_t first, last; /* places below it, the last one not included */
};

static uint32_t place_of(uint32_t count, uint32_t root, uint32_t member) {
  return member >= root ? member - root : member + count - root;
}

static uint32_t member_at(uint32_t count, uint32_t root, uint32_t place) {
  return place < count - root ? place + root : place - (count - root);
}

static struct part part_of(const relock_team_t *team, uint32_t member, uint32_t root,
                           enum relock_team_tree tree) {
  const uint32_t count = team->relock_private.count, fan = team->relock_private.fan[tree];
  const uint32_t place = place_of(count, root, member);
  const uint64_t first = (uint64_t)place * fan + 1;
  return (struct part){
      .team = team,
      .members = team->relock_private.members,
      .self = &team->relock_private.members[member],
      .member = member,
      .root = root,
      .place = place,
      .fan = fan,
      .tree = tree,
      .first = first < count ? (uint32_t)first : count,
      .last = first + fan < count ? (uint32_t)first + fan : count,
  };
}

static bool is_root(const struct part *part) { return part->place == 0; }
static bool is_leaf(const struct part *part) { return part->first == part->last; }

static uint32_t at_place(const struct part *part, uint32_t place) {
  return member_at(part->team->relock_private.count, part->root, place);
}
static uint32_t parent_of(const struct part *part) {
  return at_place(part, (part->place - 1) / part->fan);
}

/* --- words ----------------------------------------------------------------------------------- */

/* Race detectors know nothing of the runtime's words. */
static void await(const struct part *part, uint32_t *word, uint32_t step) {
  relock_barrier_await(word, step, part->team->relock_private.count);
  if (RELOCK_UNLIKELY(relock_is_watched()))
    relock_annotate_after(word);
}

static void set(uint32_t *word, uint32_t before, uint32_t step) {
  if (RELOCK_UNLIKELY(relock_is_watched()))
    relock_annotate_before(word);
  relock_barrier_release(word, before, step);
}

/* --- slots ----------------------------------------------------------------------------------- */

static uint32_t turn_of(uint32_t step) { return step / RELOCK_BARRIER_ROUND % RELOCK_TEAM_SLOTS; }

/* Where the piece of a step is, in a member's slot of its turn. */
static char *piece_of(const struct part *part, uint32_t member, uint32_t step, size_t bytes) {
  if (bytes <= RELOCK_TEAM_LITTLE)
    return part->members[member].slot[turn_of(step)].little;
  char *pieces = (char *)(part->members + part->team->relock_private.count);
  return pieces + (member * (size_t)RELOCK_TEAM_SLOTS + turn_of(step)) * RELOCK_TEAM_PIECE;
}

/* When the member put what is in the slot of this turn. */
static struct part part_then(const struct part *part, uint32_t turn) {
  return part_of(part->team, part->member, part->self->put[turn].root, part->self->put[turn].tree);
}

/* Waits until the slot of this turn may change. */
static void await_readers(const struct part *part, uint32_t turn) {
  const uint32_t step = part->self->put[turn].step;
  struct part then;
  switch (part->self->put[turn].readers) {
  case RELOCK_TEAM_NOBODY:
    break;
  case RELOCK_TEAM_BELOW:
    then = part_then(part, turn);
    for (uint32_t place = then.first; place < then.last; place++)
      await(&then, &part->members[at_place(&then, place)].taken, step);
    break;
  case RELOCK_TEAM_ABOVE:
    then = part_then(part, turn);
    await(&then, &part->members[parent_of(&then)].taken, step);
    break;
  }
}

/* The memory in which the caller, whose readers these are, puts the piece of this step. */
static char *begin_put(const struct part *part, uint32_t step, size_t bytes) {
  await_readers(part, turn_of(step));
  return piece_of(part, part->member, step, bytes);
}

static void say_put(const struct part *part, uint32_t step, enum relock_team_readers readers) {
  const uint32_t turn = turn_of(step);
  set(&part->self->slot[turn].posted, part->self->put[turn].step, step);
  part->self->put[turn].step = step;
  part->self->put[turn].root = part->root;
  part->self->put[turn].tree = part->tree;
  part->self->put[turn].readers = readers;
}

/* What that member has put. */
static const char *take(const struct part *part, uint32_t from, uint32_t step, size_t bytes) {
  await(part, &part->members[from].slot[turn_of(step)].posted, step);
  return piece_of(part, from, step, bytes);
}

static void say_taken(const struct part *part, uint32_t step) {
  set(&part->self->taken, part->self->has_taken, step);
  part->self->has_taken = step;
}

/* All words say that the step before is past, which is true of the member's own. */
static void refresh(const struct part *part, uint32_t step) {
  const uint32_t before = step - RELOCK_BARRIER_ROUND;
  for (uint32_t turn = 0; turn < RELOCK_TEAM_SLOTS; turn++) {
    await_readers(part, turn);
    set(&part->self->slot[turn].posted, part->self->put[turn].step, before);
    part->self->put[turn].step = before;
    part->self->put[turn].readers = RELOCK_TEAM_NOBODY;
  }
  say_taken(part, before);
}

static uint32_t next_step(const struct part *part) {
  const uint32_t step = part->self->step + RELOCK_BARRIER_ROUND;
  if (RELOCK_UNLIKELY(step % RELOCK_TEAM_REFRESHED == 0))
    refresh(part, step);
  relock_store_relaxed(&part->self->step, step);
  return step;
}

/* --- a piece --------------------------------------------------------------------------------- */

static void pass_down(const struct part *part, char *bytes, size_t size) {
  const uint32_t step = next_step(part);
  const char *found = bytes;
  if (!is_root(part))
    found = take(part, parent_of(part), step, size);
  if (!is_leaf(part)) {
    found = memcpy(begin_put(part, step, size), found, size);
    say_put(part, step, RELOCK_TEAM_BELOW);
  }
  if (is_root(part))
    return;
  if (!is_leaf(part)) /* before the second copy, which is of the member's own */
    say_taken(part, step);
  memcpy(bytes, found, size);
  if (is_leaf(part))
    say_taken(part, step);
}

/* Combines those of the members below into `sum`. */
static void combine_below(const struct part *part, uint32_t step, char *sum, size_t count,
                          size_t size, relock_combine_t combine) {
  if (is_leaf(part))
    return;
  for (uint32_t place = part->first; place < part->last; place++)
    combine(sum, take(part, at_place(part, place), step, count * size), count);
  say_taken(part, step);
}

static void pass_up(const struct part *part, char *elements, size_t count, size_t size,
                    relock_combine_t combine) {
  const uint32_t step = next_step(part);
  const size_t bytes = count * size;
  /* Not in a line that the one above looks at all the while. */
  _Alignas(RELOCK_CACHE_LINE) char little[RELOCK_TEAM_LITTLE];
  if (is_root(part)) {
    combine_below(part, step, elements, count, size, combine);
    return;
  }
  char *piece = begin_put(part, step, bytes);
  if (is_leaf(part) || bytes > sizeof little) {
    memcpy(piece, elements, bytes);
    combine_below(part, step, piece, count, size, combine);
  } else {
    memcpy(little, elements, bytes);
    combine_below(part, step, little, count, size, combine);
    memcpy(piece, little, bytes);
  }
  say_put(part, step, RELOCK_TEAM_ABOVE);
}

/* --- what is called -------------------------------------------------------------------------- */

static void broadcast(const relock_team_t *team, unsigned member, unsigned root, char *bytes,
                      size_t left) {
  const bool is_short = left <= RELOCK_TEAM_LITTLE;
  const struct part part =
      part_of(team, member, root, is_short ? RELOCK_TEAM_SHORT : RELOCK_TEAM_LONG);
  while (left > 0) {
    const size_t size = left < RELOCK_TEAM_PIECE ? left : RELOCK_TEAM_PIECE;
    pass_down(&part, bytes, size);
    bytes += size;
    left -= size;
  }
}

static void reduce(const relock_team_t *team, unsigned member, unsigned root, char *elements,
                   size_t left, size_t size, relock_combine_t combine) {
  const struct part part = part_of(team, member, root, RELOCK_TEAM_REDUCED);
  const size_t most = RELOCK_TEAM_PIECE / size;
  while (left > 0) {
    const size_t count = left < most ? left : most;
    pass_up(&part, elements, count, size, combine);
    elements += count * size;
    left -= count;
  }
}

static int check(const relock_team_t *team, unsigned member, unsigned root) {
  if (!team->relock_private.members)
    return EINVAL;
  return member < team->relock_private.count && root < team->relock_private.count ? 0 : EDOM;
}

static int check_elements(const relock_team_t *team, unsigned member, unsigned root, size_t count,
                          size_t size) {
  const int error = check(team, member, root);
  if (error)
    return error;
  if (size == 0)
    return EINVAL;
  return size > RELOCK_TEAM_PIECE || count > SIZE_MAX / size ? EOVERFLOW : 0;
}

int relock_team_broadcast(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                          size_t bytes) {
  const int error = check(team, member, root);
  if (!error)
    broadcast(team, member, root, buffer, bytes);
  return error;
}

int relock_team_reduce(relock_team_t *team, unsigned member, unsigned root, void *buffer,
                       size_t count, size_t size, relock_combine_t combine) {
  const int error = check_elements(team, member, root, count, size);
  if (!error)
    reduce(team, member, root, buffer, count, size, combine);
  return error;
}

int relock_team_reduce_all(relock_team_t *team, unsigned member, void *buffer, size_t count,
                           size_t size, relock_combine_t combine) {
  const int error = check_elements(team, member, 0, count, size);
  if (error)
    return error;
  reduce(team, member, 0, buffer, count, size, combine);
  broadcast(team, member, 0, buffer, count * size);
  return 0;
}

enum {
  MEMBER_LINES = (sizeof(struct relock_team_member) + RELOCK_TEAM_SLOTS * RELOCK_TEAM_PIECE) /
                 RELOCK_CACHE_LINE
};
_Static_assert(RELOCK_TEAM_MEMBERS *MEMBER_LINES <= RELOCK_MOST_LINES,
               "there is a list of so many");

/* From the simulated machines, see doc/collectives.md. What is in one line reaches many soonest by
 * a tree, as who writes there next waits for each that has read it. Of longer ones that is little,
 * but each level copies them once more. Those who sleep are woken one after the other by a member
 * that has to run itself: with a tree each level would wait for that. */
enum { FAN_SHORT = 4, FAN_REDUCED = 2, FLAT = RELOCK_TEAM_MEMBERS, FLAT_TO = 8 /* members */ };

static void choose_fans(relock_team_t *team) {
  const uint32_t count = team->relock_private.count;
  const uint32_t broadcast = relock_tuning.broadcast_fan, reduce = relock_tuning.reduce_fan;
  const bool is_flat = count <= FLAT_TO || relock_wait_spins_for(count) == 0;
  uint16_t *fan = team->relock_private.fan;
  fan[RELOCK_TEAM_SHORT] = (uint16_t)(broadcast ? broadcast : is_flat ? FLAT : FAN_SHORT);
  fan[RELOCK_TEAM_LONG] = (uint16_t)(broadcast ? broadcast : FLAT);
  fan[RELOCK_TEAM_REDUCED] = (uint16_t)(reduce ? reduce : FAN_REDUCED);
}

int relock_team_init(relock_team_t *team, unsigned members) {
  if (members == 0)
    return EINVAL;
  if (members > RELOCK_TEAM_MEMBERS)
    return EOVERFLOW;
  struct relock_team_member *taken =
      (struct relock_team_member *)relock_barrier_take_lines(members * MEMBER_LINES);
  if (!taken)
    return ENOMEM;
  for (uint32_t i = 0; i < members; i++) {
    taken[i] = (struct relock_team_member){
        .taken = RELOCK_TEAM_FIRST, .step = RELOCK_TEAM_FIRST, .has_taken = RELOCK_TEAM_FIRST};
    for (uint32_t turn = 0; turn < RELOCK_TEAM_SLOTS; turn++)
      taken[i].slot[turn].posted = taken[i].put[turn].step = RELOCK_TEAM_FIRST;
  }
  team->relock_private.members = taken;
  team->relock_private.count = members;
  choose_fans(team);
  return 0;
}

int relock_team_destroy(relock_team_t *team) {
  struct relock_team_member *members = team->relock_private.members;
  const uint32_t count = team->relock_private.count;
  if (!members)
    return EINVAL;
  for (uint32_t i = 1; i < count; i++)
    if (relock_load_relaxed(&members[i].step) != relock_load_relaxed(&members[0].step))
      return EBUSY;
  team->relock_private.members = NULL;
  relock_barrier_give_lines((struct relock_barrier_line *)members, count * MEMBER_LINES);
  return 0;
}
