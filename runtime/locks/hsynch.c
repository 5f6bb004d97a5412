/* SPDX-License-Identifier: MIT
 *
 * hsynch: hierarchical combining after H-Synch of Fatourou and Kallimanis, "Revisiting the
 * combining synchronization technique" (2012): a CC-Synch queue (ccqueue.h) for each cluster of
 * processors, under a global lock. The head of a cluster's queue, its combiner, takes the global
 * lock and runs the sections of its own cluster, so that requests are passed within the cluster
 * and the data moves between clusters once per batch.
 *
 * The global lock is the exclusion word, with a CLH queue of the clusters' heads in front of it
 * (clusters.h); the paper's is a CLH lock too.
 *
 * States of a client: those of ccqueue.h. HEAD: it is its cluster's first, enters the order, takes
 * the word, and combines.
 *
 * Departures from the paper
 *  - Holders queue in their cluster as well; a combiner stops at a holder's line and makes it the
 *    head of the cluster. A holder leaves its cluster's queue and the order when it has the word,
 *    so nothing but the word is held during its section.
 *  - Those of ccsynch: queues that may be empty, lines from a pool, identity, room on the stack.
 *  - While the first of the order sleeps, arrivals may take the word.
 *
 * Progress and fairness: first come, first served within a cluster, and among clusters; a cluster
 * waits for one batch of each other cluster, of at most `batch` sections or `batch_us`, and for
 * what arrivals take in a millisecond for each. Memory: an annex of 4 KB per mutex from its first
 * contention on, a line of 64 bytes for each waiter, waiting cluster and queue. A waiter
 * spins on its line, the first of a cluster on its predecessor's in the order. A preempted
 * combiner delays everybody, a cluster's preempted head its own cluster. A thread that dies while
 * it runs sections (by leaving one, which relock.h forbids) leaves the word taken for ever.
 *
 * Invariants: those of ccqueue.h and clusters.h. The annex and the mutex are touched after the
 * word is released only on behalf of threads that still wait.
 */
#include "../base/class.h"
#include "../base/word.h"
#include "algorithm.h"
#include "ccqueue.h"
#include "clusters.h"
#include "queue.h"
#include "section.h"

/* A thread's way through the queues. */
struct way {
  struct relock_clusters *clusters;
  uintptr_t *tail; /* of the cluster's queue */
  struct relock_cc cc;
  struct relock_request *place; /* in the order */
};

/* Waits for the turn of the call, or of a holder. HEAD: the caller has the word, as the first of
 * its cluster and of the order. DONE: the section has been run. WAITING: the caller has the word
 * and is in no queue. */
static uint32_t await_turn(struct way *way, relock_mutex_t *mutex, struct relock_thread *self,
                           const struct relock_call *call, struct relock_wait *wait) {
  uint32_t state = RELOCK_WAITING;
  way->cc.own = NULL;
  way->clusters = relock_annex(mutex);
  if (way->clusters) {
    struct relock_cluster *cluster = &way->clusters->cluster[relock_cluster(self)];
    if (!call && relock_clusters_pass(mutex, way->clusters, cluster, wait))
      return RELOCK_WAITING;
    way->tail = &cluster->tail;
    state = relock_cc_enter(&way->cc, way->tail, self, call, wait);
  }
  if (state == RELOCK_HEAD)
    way->place = relock_order_take_word(mutex, way->clusters, self, wait);
  else if (state == RELOCK_WAITING) /* no memory */
    relock_word_wait(&mutex->relock_private.word, wait, CLOCK_MONOTONIC, NULL);
  return state;
}

/* What is to be granted HEAD when a head has left, or null. */
struct next {
  struct relock_request *of_cluster, *of_order;
};

static struct next hsynch_leave(struct way *way, relock_mutex_t *mutex,
                                struct relock_thread *self) {
  struct next next = {NULL, NULL};
  if (relock_cc_leave(&way->cc, way->tail, self))
    next.of_cluster = way->cc.next;
  if (way->place && relock_order_leave(mutex, way->clusters, self, way->place))
    next.of_order = way->place;
  return next;
}

static void appoint(struct next next, relock_mutex_t *mutex, struct relock_wakes *wakes) {
  if (next.of_cluster)
    relock_wakes_add(wakes, relock_queue_grant(next.of_cluster, RELOCK_HEAD));
  if (next.of_order)
    relock_wakes_add(wakes, relock_queue_make_head(mutex, next.of_order));
}

static void hsynch_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct way way;
  if (await_turn(&way, mutex, self, NULL, &wait) == RELOCK_HEAD) {
    struct relock_wakes wakes;
    wakes.count = 0;
    appoint(hsynch_leave(&way, mutex, self), mutex, &wakes);
    relock_wakes_send(&wakes);
  }
  if (way.cc.own)
    relock_node_give(self, way.cc.own);
  relock_wait_end(&wait);
}

static int hsynch_combine(struct way *way, relock_mutex_t *mutex, struct relock_thread *self,
                          const struct relock_call *call) {
  struct relock_batch batch;
  int result = relock_cc_combine(&way->cc, &batch, mutex, way->tail, self, call);
  struct next next = hsynch_leave(way, mutex, self);
  relock_batch_release(&batch, mutex);
  appoint(next, mutex, &batch.wakes);
  relock_batch_end(&batch);
  return result;
}

static int hsynch_execute(relock_mutex_t *mutex, struct relock_thread *self,
                          const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct way way;
  uint32_t state = await_turn(&way, mutex, self, call, &wait);
  relock_wait_end(&wait);
  int result;
  if (state == RELOCK_HEAD)
    result = hsynch_combine(&way, mutex, self, call);
  else if (state == RELOCK_DONE)
    result = relock_request_result(way.cc.own, call);
  else
    result = relock_run_and_release(mutex, self, call->section, call->context);
  if (way.cc.own)
    relock_node_give(self, way.cc.own);
  return result;
}

const struct relock_algorithm relock_hsynch = {
    .name = "hsynch", .lock = hsynch_lock, .execute = hsynch_execute, .has_annex = true};
