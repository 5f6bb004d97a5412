/* SPDX-License-Identifier: MIT
 *
 * tournament: a static tree of two levels, a lock per group of processors below one for all.
 * Source: Reble's thesis (2015), 3.5.1, where 48 cores form two groups by their place on the chip.
 *
 *   lock:   take the group's word; take the mutex's word; release the group's word
 *   unlock: release the mutex's word
 *
 * Groups are the clusters of topology.h. So at most one waiter of each group competes for the word,
 * besides arrivals, and the word's cache line goes between as many waiters as there are groups.
 * With a single cluster there is one group, which still keeps all waiters but one from the word.
 *
 * A waiter: GROUP (waits for the group's word) --> FINALIST (waits for the word) --> owner.
 *
 * Invariants: the groups' words are exclusion words (word.h) in the annex, a cache line each; the
 * owner of one waits for the mutex's word or has just got it, and gives the group's back while it
 * owns the mutex's, so that no group's word is touched after the mutex may be gone. `tail` is the
 * annex or 0, `open` stays 1: arrivals always compete.
 *
 * Progress and fairness: whenever the word is free, whoever looks first takes it; a waiter can be
 * passed any number of times, in its group and outside. A finalist comes from each group that has
 * waiters, so groups fare alike, not threads. Memory: an annex of 4096 bytes for a mutex that was
 * ever contended, none per thread. A preempted or blocked holder delays everybody; a preempted
 * finalist delays its group, but arrivals and other groups go on. A thread that ends while it
 * holds the mutex leaves it held, as with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: it holds both locks during the section and arrivals go through the
 * group as well. Here the group's lock is needed while waiting only, so that the uncontended
 * lock costs what all others cost and any thread can unlock. Both levels sleep when their time to
 * spin is over. Without memory for an annex, all compete for the word.
 */
#include "../base/annex.h"
#include "../base/topology.h"
#include "../base/word.h"
#include "algorithm.h"

struct group {
  _Alignas(RELOCK_CACHE_LINE) uint32_t word;
};
_Static_assert(RELOCK_MAX_CLUSTERS * sizeof(struct group) <= RELOCK_ANNEX_SIZE, "the groups' room");

static void tournament_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct group *groups = relock_annex(mutex);
  uint32_t *group = groups ? &groups[relock_cluster(self)].word : NULL;
  if (group) {
    relock_word_wait(group, &wait, CLOCK_MONOTONIC, NULL);
    wait.spins = relock_wait_spins(); /* each level has its own time to spin */
  }
  relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  if (group)
    relock_word_release(group);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_tournament = {
    .name = "tournament", .lock = tournament_lock, .has_annex = true};
