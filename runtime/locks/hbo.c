/* SPDX-License-Identifier: MIT
 *
 * hbo: hierarchical back-off. Source: Radovic and Hagersten, "Hierarchical backoff locks for
 * nonuniform communication architectures" (2003); Lozi's thesis (2014) describes it.
 *
 * Protocol: a waiter that finds the word taken by a thread of its own cluster (topology.h) looks
 * again soon, one of another cluster seldom. So the lock, and the data that it guards, tends to
 * stay where it is while somebody there wants it.
 *
 *   LOOKS --free--> owner: names its cluster
 *     |  ^
 *     |  `--- after a delay that doubles: short bounds near the owner, long ones far from it,
 *     |       begun anew with the short ones when the lock comes near
 *     `-- its time is up --> sleeps on the word
 *
 * Invariants: `tail` stays 0. `open` is the cluster, plus one, of the last owner that had to wait,
 * or 0: a hint that only an owner of the word writes. Arrivals that find the word free do not name
 * their cluster, which would make the uncontended lock dearer; while many compete, most owners have
 * waited. An `open` that is not 0 changes nothing for arrivals while `tail` is 0.
 *
 * Progress and fairness: whenever the word is free, the next attempt succeeds; a waiter can be
 * passed any number of times, and one far from the owner will be, though only until it sleeps:
 * once woken, all are alike. Memory: none beyond the mutex, none per thread. A preempted or
 * blocked holder delays everybody; a preempted waiter delays nobody. A thread that ends while it
 * holds the mutex leaves it held, as with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: the cluster stands beside the word instead of in it, since the word
 * has one meaning for all algorithms, and can therefore be out of date. There is neither the
 * source's throttling of remote spinners (GT) nor its detection of starvation (SD): spinning is
 * bounded by wait.h, then the waiter sleeps.
 */
#include "../base/topology.h"
#include "algorithm.h"
#include "spin.h"

/* Delays within the cluster begin with a cache line's transfer there; those of other clusters are
 * four times as long, the ratio of latencies between and within nodes of its time and of today's
 * machines with several sockets. */
enum { NEAR_FIRST_NS = 50, NEAR_LAST_NS = 200, FAR_FIRST_NS = 200, FAR_LAST_NS = 800 };

struct delay {
  bool near;
  uint32_t next, last; /* in pauses */
};

/* The delay for a waiter with the owner near or far, begun anew when that changes. */
static void adjust(struct delay *delay, bool near) {
  if (delay->last > 0 && delay->near == near)
    return;
  delay->near = near;
  delay->next = relock_spin_pauses(near ? NEAR_FIRST_NS : FAR_FIRST_NS);
  delay->last = relock_spin_pauses(near ? NEAR_LAST_NS : FAR_LAST_NS);
}

/* False: it is time to park. */
static bool back_off(struct relock_wait *wait, struct delay *delay) {
  bool go_on = relock_spin_back_off(wait, delay->next);
  delay->next = delay->next < delay->last / 2 ? delay->next * 2 : delay->last;
  return go_on;
}

static void hbo_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  uint32_t *word = &mutex->relock_private.word;
  uint8_t *hint = &mutex->relock_private.open;
  const uint8_t here = (uint8_t)(relock_cluster(self) + 1);
  struct delay delay = {0};
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  bool taken = false;
  do {
    const uint8_t owner = relock_load_relaxed(hint);
    adjust(&delay, owner == here || owner == 0);
    if (!back_off(&wait, &delay))
      break;
    taken = relock_word_try(word);
  } while (!taken);
  if (!taken)
    relock_spin_park(mutex, &wait);
  if (relock_load_relaxed(hint) != here)
    relock_store_relaxed(hint, here);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_hbo = {.name = "hbo", .lock = hbo_lock};
