/* SPDX-License-Identifier: MIT
 *
 * Barriers: `count` threads wait until all of them have come; one of them is told that it is the
 * serial one. pthread_barrier_t with other algorithms behind it. Sources: Reble's thesis
 * (2015), 3.5.2; Ramos and Hoefler, "Cache line aware algorithm design" (2016), 3.1 to 3.3. They
 * number their threads, and give each one place of its own. These threads have no numbers: any
 * thread may come in any round, and more may come than a round takes; those wait for the next one.
 *
 * What an algorithm has in common with the others are its nodes. In a node threads, or the nodes
 * below it, arrive; and in it they wait for `released`, a futex.
 *
 *   released:  2 r  <--- round r is under way at this node
 *               |
 *               | somebody goes to sleep: 2 r + 1 (ASLEEP)
 *               v
 *              2 (r + 1)  round r is over, by the thread that had the last place in the node;
 *                         it wakes all who sleep
 *
 * Invariants
 *  - `released` only grows, by a compare-and-swap that looks (relock_barrier_release()), since a
 *    thread that was to release a round may be overtaken by the one that releases the next. It is
 *    never reset, not even when the nodes become another barrier's.
 *  - Nobody leaves round r before all of its threads have arrived: a node is released by a thread
 *    that has seen the last arrival, or that was itself released from the node above.
 *  - All that a thread wrote before its arrival is seen by those that leave: arrivals acquire and
 *    release, a release of a node releases, a look at it acquires.
 *  - No sleeper is forgotten: it sets ASLEEP by a compare-and-swap, and whoever releases sees that.
 *  - After its arrival a thread touches nodes only, whose memory is never unmapped nor used for
 *    anything else: so the barrier may be destroyed, and its memory freed, as soon as one thread
 *    has returned. A thread that is late in round r reads `released` of r + 1 or later, and leaves.
 *    (Unless 2^30 rounds have passed meanwhile.) relock_barrier_destroy() waits for those that have
 *    still to release a node, as another barrier must not have that from them.
 *
 * Waiting: as long as there is a processor for each thread of the barrier a thread spins, for as
 * long as the others may need to wake up, and parks then; one that has spun in vain does not for a
 * while (barrier.c). Where there are fewer processors it parks at once. A round in which nobody
 * sleeps makes no system call.
 *
 * A forked child has one thread; a barrier in which others of the parent had arrived stays so.
 */
#ifndef RELOCK_COLLECTIVES_BARRIER_H
#define RELOCK_COLLECTIVES_BARRIER_H

#include "../base/atomic.h"
#include "../base/wait.h"

#include <relock/barriers.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELOCK_BARRIER_ROUND = 2 }; /* of `released`; one less is ASLEEP */

struct relock_barrier_line {
  _Alignas(RELOCK_CACHE_LINE) uint64_t value;
  struct relock_barrier_line *next_free; /* of the first of some, see barrier.c */
};

/* Arrivals go to one line, and those who wait look at the other one. */
struct relock_barrier_node {
  struct relock_barrier_line line; /* the algorithm's */
  _Alignas(RELOCK_CACHE_LINE) uint32_t released;
};
_Static_assert(sizeof(struct relock_barrier_node) == 2 * RELOCK_CACHE_LINE, "two lines");

/* So many nodes or places at most; a barrier for which an algorithm wants more has central. */
enum { RELOCK_BARRIER_MOST = 1024 };

struct relock_barrier_algorithm {
  const char *name;
  /* How many a barrier for so many threads has. Places: lines of the algorithm's, which a thread
   * touches before its arrival only. */
  uint32_t (*nodes)(uint32_t count);
  uint32_t (*places)(uint32_t count);
  /* Makes them ready; `released` of each node is what the barrier has as `first`, and stays. */
  void (*set_up)(relock_barrier_t *barrier);
  /* Arrives and waits. True: the caller is the serial thread. The barrier may be gone after the
   * arrival. */
  bool (*wait)(const relock_barrier_t *barrier);
  /* Whether a thread has arrived in a round that is not complete. */
  bool (*is_busy)(const relock_barrier_t *barrier);
};

#define RELOCK_BARRIER_ALGORITHM(name)                                                             \
  extern const struct relock_barrier_algorithm relock_barrier_##name RELOCK_HIDDEN;
#include "barriers.def"

/* The one that barriers have where a race detector looks on. */
extern const struct relock_barrier_algorithm relock_barrier_watched RELOCK_HIDDEN;

/* What a profiler in the process wants to know: that a barrier was initialised or destroyed; and it
 * runs the waits, by calling `wait` with the barrier, whose result it returns. */
struct relock_barrier_listener {
  void (*initialised)(const void *barrier);
  void (*destroyed)(const void *barrier);
  int (*waits)(void *barrier, int (*wait)(void *barrier));
};
/* Once, before there are threads. */
void relock_barriers_heard_by(const struct relock_barrier_listener *listener);

/* Their names, a blank before each. */
extern const char relock_barrier_algorithms[] RELOCK_HIDDEN;

/* Barriers that are initialised from now on have this algorithm, or, null, that which their count
 * asks for. False: there is none of that name. */
bool relock_barrier_choose(const char *name);

/* By RELOCK_BARRIER; ends the program if that is wrong. Once. */
void relock_barrier_options_read(void);

/* For the algorithms. */

/* Rounds are counted modulo 2^31. */
static inline bool relock_barrier_is_over(uint32_t released, uint32_t end) {
  return (int32_t)(released - end) >= 0;
}

/* Waits until `released`, of a barrier for so many threads, is `end` or later. */
void relock_barrier_await(uint32_t *released, uint32_t end, uint32_t count);

/* Makes it that, unless it is already, and wakes those who sleep. `found`: what it most likely is.
 */
void relock_barrier_release(uint32_t *released, uint32_t found, uint32_t end);

/* Pauses for a while that is in proportion to the number of threads that are missing; not in vain
 * where there is no processor for each. */
void relock_barrier_back_off(uint32_t missing, uint32_t count);

/* For teams (team.h): so many lines at most, which nobody touches any more when they are given
 * back. Null: no memory. */
enum { RELOCK_MOST_LINES = 1 << 18 };
struct relock_barrier_line *relock_barrier_take_lines(uint32_t number);
void relock_barrier_give_lines(struct relock_barrier_line *lines, uint32_t number);

#endif
