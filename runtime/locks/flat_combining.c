/* SPDX-License-Identifier: MIT
 *
 * flat_combining: after Hendler, Incze, Shavit and Tzafrir, "Flat combining and the
 * synchronization-parallelism tradeoff" (2010), with the aging of the published code as the thesis
 * of Lozi (2014, section 3.6) tells it. Threads publish their sections, each in a slot of its own;
 * one of them, the leader, takes the lock and runs all sections that it finds published.
 *
 * The annex of the mutex (annex.h) has the slots, the set of slots that the leader looks at, and
 * `leader`, the paper's combiner lock. A slot holds the address of a request line, or null.
 *
 *   client                                             leader, owner of the word
 *     publishes: slot null -> request                    takes: slot request -> null, runs it
 *     withdraws: slot request -> null
 *
 * A client:
 *                                      sleeps
 *    arrives --> published, WAITING ------------> PARKED --.--> DONE: its section has been run
 *      |  ^         |     `--------------------------------'`-> HEAD: it is the leader now
 *      |  `---------' withdrawn: there was no leader
 *      `--> leader: waits for the word, runs its own section, then those published
 *
 * Invariants
 *  - `leader` is 1 if and only if there is a leader: one of the waiting threads, or the owner of
 *    the word. Only a leader that owns the word takes requests, and each is taken or withdrawn
 *    once, by compare-and-swap.
 *  - The leader's section is not published: nobody else runs it. So of all waiting clients only
 *    the leader looks at the mutex. The others look at their own lines and, once after they have
 *    published, at the annex, which is never unmapped: should the request have been served, and
 *    the mutex and its annex be gone, then whatever they read there, the withdrawal fails, since
 *    only they could have put the request into any slot.
 *  - No wake-up is lost. A client publishes, then looks whether there is a leader; a leader
 *    resigns, then looks whether there are requests; all four are sequentially consistent. So
 *    either the client sees that nobody leads, withdraws, and tries to lead itself, or the leader
 *    sees the request and leads on, unless another client does already, who will look at all
 *    slots in its turn. A leader that stops early makes the request in its hands the leader,
 *    without resigning. The same argument holds for the set of slots: a client publishes, then
 *    looks whether its slot is in the set; the owner of the word takes a slot out of the set, then
 *    looks whether it is empty.
 *  - A client's DONE comes after its result, and the last one's after the word is released: its
 *    client may free the mutex at once. Those before it are followed by others that still use the
 *    mutex. After the release the leader touches only request lines, which are never unmapped,
 *    and, on behalf of the next leader, which still waits, the mutex.
 *
 * Progress and fairness: a leader looks at the slots in turn, from where the last one stopped, as
 * long as it finds requests, runs at most `batch` sections of others, or `batch_us`, and then
 * passes the lead. So each other client precedes a published request at most once per pass, and no
 * client starves once there is a leader that has the word. For the word, holders and leaders
 * compete as in posix; arrivals may pass a leader that sleeps for a millisecond.
 *
 * Memory: 4 KiB per contended mutex, a request line of each waiting client. A client spins on its
 * own line, the leader on the word. When all slots are taken, a client waits as a holder does and
 * runs its section itself.
 *
 * A preempted leader delays everybody who has published, as a preempted holder does; while it
 * sleeps for the word, arrivals pass. A preempted client delays nobody. A thread that dies under
 * the mutex takes it along.
 *
 * Departures from the paper
 *  - The lock is the mutex's exclusion word, so that holders and timed locks mix with sections;
 *    `leader` in front of it keeps the others away.
 *  - An array and a set in place of a list of records that threads join and leave: a thread's
 *    slot follows from its number, and is not its own. Publishing takes a compare-and-swap, for
 *    which the paper's store does not suffice where two threads share a slot.
 *  - The result comes back in the request line: the slot, and the mutex, may be gone by then.
 *  - Waiters sleep; the streak is bounded by sections and not by passes.
 *  - Without waiters a thread takes the word at once, and does not look at the slots afterwards.
 *  - A section that needs more stack than the leader has becomes the next leader.
 */
#include "../base/annex.h"
#include "algorithm.h"
#include "batch.h"
#include "queue.h"
#include "section.h"

/* The published code's: after how many passes a leader looks for slots to take out of the set,
 * and after how many passes without a request they go. */
enum { CLEANUP_FREQUENCY = 100, OLD_THRESHOLD = 10 };

enum { SLOTS = 63 };

struct slot {
  _Alignas(RELOCK_CACHE_LINE) struct relock_request *published;
  uint32_t last_used; /* the pass in which a request was found here; the leader's */
};

struct publications {
  void *unused;    /* the annex's own when it is free; not looked at by a client that is late */
  uint64_t in_use; /* the set: bit i for slot i */
  uint32_t leader;
  /* The leader's, while it owns the word. */
  uint32_t passes;
  uint32_t start; /* the slot to begin with */
  struct slot slots[SLOTS];
};
_Static_assert(sizeof(struct publications) == RELOCK_ANNEX_SIZE, "fills the annex");

/* --- the leader ------------------------------------------------------------------------------ */

/* Relaxed: what leaders hand on is under the word, which orders it. */
static bool becomes_leader(struct publications *all) {
  return relock_load_relaxed(&all->leader) == 0 && relock_cas_relaxed(&all->leader, 0, 1);
}

/* Takes the request that is published in a slot, or returns null. */
static struct relock_request *take(struct publications *all, unsigned index) {
  struct slot *slot = &all->slots[index];
  /* Relaxed: a leader that misses a request looks again when it has resigned, see has_request().
   * Acquire: pairs with publish(), for what is in the request. */
  struct relock_request *request = relock_load_relaxed(&slot->published);
  if (!request || !relock_cas_acquire(&slot->published, request, NULL))
    return NULL; /* a failure: it was withdrawn */
  slot->last_used = all->passes;
  all->start = index + 1;
  return request;
}

/* The next request of this pass, or null. `left` are the slots that it has not looked at yet. */
static struct relock_request *take_next(struct publications *all, uint64_t *left) {
  while (*left) {
    uint64_t ahead = *left >> all->start << all->start;
    unsigned index = (unsigned)__builtin_ctzll(ahead ? ahead : *left);
    *left &= ~((uint64_t)1 << index);
    struct relock_request *request = take(all, index);
    if (request)
      return request;
  }
  return NULL;
}

/* Takes slots that were not used for long out of the set. */
static void clean_up(struct publications *all) {
  for (uint64_t left = relock_load_relaxed(&all->in_use); left; left &= left - 1) {
    struct slot *slot = &all->slots[__builtin_ctzll(left)];
    if (all->passes - slot->last_used <= OLD_THRESHOLD)
      continue;
    uint64_t bit = left & -left;
    /* Both pair, in the total order, with publish() and is_expected(). */
    relock_and_seq_cst(&all->in_use, ~bit);
    if (relock_load_seq_cst(&slot->published))
      relock_or_relaxed(&all->in_use, bit);
  }
}

/* Begins a pass: the slots to look at. Relaxed, as the looks in take(). */
static uint64_t begin_pass(struct publications *all) {
  if (++all->passes % CLEANUP_FREQUENCY == 0)
    clean_up(all);
  return relock_load_relaxed(&all->in_use);
}

static bool has_request(struct publications *all) {
  /* Both pair, in the total order, with publish(). */
  for (uint64_t left = relock_load_seq_cst(&all->in_use); left; left &= left - 1)
    if (relock_load_seq_cst(&all->slots[__builtin_ctzll(left)].published))
      return true;
  return false;
}

/* True: the caller is not the leader any more. False: it is, and there may be requests. */
static bool resign(struct publications *all) {
  /* Pairs, in the total order, with is_expected(). */
  relock_exchange_seq_cst(&all->leader, 0);
  return !has_request(all) || !becomes_leader(all);
}

/* Runs the leader's own section and those published. The caller owns the word; afterwards it does
 * not, and does not lead. */
static int flat_combining_combine(relock_mutex_t *mutex, struct publications *all,
                                  struct relock_thread *self, const struct relock_call *call) {
  struct relock_batch batch;
  int result = relock_batch_begin(&batch, mutex, self, call);
  struct relock_request *next; /* taken */
  uint64_t left = begin_pass(all);
  for (;;) {
    next = take_next(all, &left);
    if (!next) {
      if (resign(all))
        break;
      left = begin_pass(all);
      continue;
    }
    if (!relock_batch_takes(&batch, next))
      break;
    relock_batch_run(&batch, next);
  }
  relock_store_relaxed(&mutex->relock_private.open, next == NULL);
  relock_batch_release(&batch, mutex);
  if (next)
    relock_wakes_add(&batch.wakes, relock_queue_make_head(mutex, next));
  relock_batch_end(&batch);
  return result;
}

/* --- clients --------------------------------------------------------------------------------- */

/* Publishes the request in the first empty slot from the client's own on. SLOTS: there is none. */
static unsigned publish(struct publications *all, unsigned own, struct relock_request *request) {
  for (unsigned i = 0; i < SLOTS; i++) {
    unsigned index = (own + i) % SLOTS;
    struct slot *slot = &all->slots[index];
    if (relock_load_relaxed(&slot->published))
      continue;
    uint64_t bit = (uint64_t)1 << index;
    /* Both pair, in the total order, with has_request() and clean_up(); the second with take(). A
     * leader that sees neither the bit nor the request has resigned before. */
    if (!(relock_load_relaxed(&all->in_use) & bit))
      relock_or_seq_cst(&all->in_use, bit);
    if (relock_cas_seq_cst(&slot->published, NULL, request))
      return index;
  }
  return SLOTS;
}

/* Whether a leader will look at that slot, in which the caller has published. */
static bool is_expected(struct publications *all, unsigned index) {
  /* Pairs, in the total order, with resign(). */
  if (!relock_load_seq_cst(&all->leader))
    return false;
  /* Pairs, in the total order, with clean_up(). */
  return relock_load_seq_cst(&all->in_use) >> index & 1;
}

/* HEAD: the caller is the leader. DONE. WAITING: there is no room, it must help itself. */
static uint32_t ask(struct publications *all, struct relock_thread *self,
                    struct relock_request *own, struct relock_wait *wait) {
  relock_store_relaxed(&own->state, relock_queue_waiting());
  while (!becomes_leader(all)) {
    unsigned index = publish(all, self->number % SLOTS, own);
    if (index == SLOTS)
      return RELOCK_WAITING;
    if (is_expected(all, index) || !relock_cas_relaxed(&all->slots[index].published, own, NULL))
      return relock_queue_await(own, wait);
  }
  return RELOCK_HEAD;
}

static int flat_combining_execute(relock_mutex_t *mutex, struct relock_thread *self,
                                  const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct publications *all = relock_annex(mutex);
  struct relock_request *own = relock_request_take(self);
  relock_request_fill(own, self, call);
  uint32_t state = all ? ask(all, self, own, &wait) : RELOCK_WAITING;
  if (state == RELOCK_HEAD)
    relock_queue_take_word(mutex, &wait);
  else if (state == RELOCK_WAITING)
    relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);
  int result;
  if (state == RELOCK_DONE)
    result = relock_request_result(own, call);
  else if (state == RELOCK_HEAD)
    result = flat_combining_combine(mutex, all, self, call);
  else
    result = relock_run_and_release(mutex, self, call->section, call->context);
  relock_request_give(self);
  return result;
}

static void flat_combining_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_flat_combining = {.name = "flat_combining",
                                                       .lock = flat_combining_lock,
                                                       .execute = flat_combining_execute,
                                                       .has_annex = true};
