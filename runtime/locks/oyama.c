/* SPDX-License-Identifier: MIT
 *
 * oyama: combining after Oyama, Taura and Yonezawa, "Executing parallel programs with
 * synchronization bottlenecks efficiently" (1999), as the thesis of Lozi (2014, section 3.6)
 * tells it. Who finds the lock taken pushes its section onto a list; who runs under the lock
 * takes the whole list with one exchange and runs it, without any synchronisation between two
 * sections but that each client learns that its own is done.
 *
 * `tail` of the mutex, the paper's lock word without its "free":
 *
 *             becomes the leader                push               push
 *    0 (none) ------------------> END (a leader) ----> n1 -> END  ----> n2 -> n1 -> END ...
 *     ^                            |  ^                    |
 *     `----------------------------'  `--------------------'
 *       leader leaves, list empty        leader takes all
 *
 * A client:
 *                          sleeps
 *               .-> WAITING ------> PARKED --.--> DONE: its section has been run
 *    arrives ---|      `---------------------'`-> HEAD: it is the leader now
 *               `-> leader: waits for the word, runs its own section, then the list
 *
 * Invariants
 *  - There is a leader if and only if `tail` is not 0. It is one of the waiting threads, or owns
 *    the word. Only a leader that owns the word takes requests.
 *  - The leader's section is on no list: nobody else runs it. So of all waiting clients only the
 *    leader looks at the mutex; the others look at nothing but their own lines, and the mutex may
 *    be gone as soon as the last section is done.
 *  - No wake-up is lost: a client whose push succeeded did so while `tail` was not 0, so there is
 *    a leader, and a leader resigns by a compare-and-swap from END to 0 only, which fails once a
 *    client has pushed. A leader that stops early makes the next request in its hands the leader
 *    and leaves it the rest through `next`. The leader itself waits for the word as the head of a
 *    queue does (queue.h).
 *  - A client's DONE comes after its result, and the last one's after the word is released: its
 *    client may free the mutex at once. Those before it are followed by others that still use the
 *    mutex. After the release the leader touches only request lines, which are never unmapped,
 *    and, on behalf of the next leader, which still waits, the mutex.
 *
 * Progress and fairness: last in, first out among the requests that one exchange takes; lists in
 * the order in which they were taken. A leader runs at most `batch` sections of others, or
 * `batch_us`, and then passes the lead, so a request waits for those of its list and the lists
 * before it. Holders compete for the word as in posix, and may be passed any number of times, and
 * so may a leader that spins; arrivals may pass a leader that sleeps for a millisecond.
 *
 * Memory: a request line of each waiting client. A client spins on its own line, the leader on the
 * word; all push onto `tail`.
 *
 * A preempted leader delays everybody who has pushed, as a preempted holder does; while it sleeps
 * for the word, arrivals pass. A preempted client delays nobody. A thread that dies under the
 * mutex takes it along.
 *
 * Departures from the paper
 *  - The lock is the mutex's exclusion word, so that holders and timed locks mix with sections;
 *    the list has a leader of its own that waits for it.
 *  - The streak is bounded (in the paper the owner may serve for ever), and waiters sleep.
 *  - Without waiters a thread takes the word at once, and does not look at the list afterwards.
 *  - A section that needs more stack than the leader has becomes the next leader.
 */
#include "algorithm.h"
#include "batch.h"
#include "queue.h"

/* The end of each list, and in `tail` an empty list that has a leader. */
#define END ((struct relock_request *)1)

static struct relock_request **list_of(relock_mutex_t *mutex) {
  return (struct relock_request **)&mutex->relock_private.tail;
}

/* Pushes the request. False: there is no leader but the caller, and nothing was pushed. */
static bool push(relock_mutex_t *mutex, struct relock_request *request) {
  struct relock_request **list = list_of(mutex);
  for (;;) {
    struct relock_request *top = relock_load_relaxed(list);
    request->next = top ? top : END;
    /* Acquire: pairs with the release in take_all(), by which the last leader resigned. */
    if (!top && relock_cas_acquire(list, NULL, END))
      return false;
    /* Release: pairs with the acquire in take_all(). */
    if (top && relock_cas_release(list, top, request))
      return true;
  }
}

/* The leader takes all requests; if there are none it is not the leader any more: null. */
static struct relock_request *take_all(relock_mutex_t *mutex) {
  struct relock_request **list = list_of(mutex);
  /* Release: pairs with the acquire in push(). */
  if (relock_cas_release(list, END, NULL))
    return NULL;
  /* Acquire: pairs with the releases in push(), of all that are on the list. */
  return relock_exchange_acquire(list, END);
}

/* Runs the leader's own section, and then those on the list that it has and on all that it takes.
 * The caller owns the word; afterwards it does not, and does not lead. */
static int oyama_combine(relock_mutex_t *mutex, struct relock_thread *self,
                         const struct relock_call *call, struct relock_request *list) {
  struct relock_batch batch;
  int result = relock_batch_begin(&batch, mutex, self, call);
  while ((list != END || (list = take_all(mutex))) && relock_batch_takes(&batch, list)) {
    struct relock_request *request = list;
    list = request->next;
    relock_batch_run(&batch, request);
  }
  relock_batch_release(&batch, mutex);
  if (list)
    relock_wakes_add(&batch.wakes, relock_queue_make_head(mutex, list));
  relock_batch_end(&batch);
  return result;
}

static int oyama_execute(relock_mutex_t *mutex, struct relock_thread *self,
                         const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *own = relock_request_take(self);
  relock_request_fill(own, self, call);
  relock_store_relaxed(&own->state, relock_queue_waiting());
  uint32_t state = push(mutex, own) ? relock_queue_await(own, &wait) : RELOCK_HEAD;
  if (state == RELOCK_HEAD)
    relock_queue_take_word(mutex, &wait);
  relock_wait_end(&wait);
  int result = state == RELOCK_DONE ? relock_request_result(own, call)
                                    : oyama_combine(mutex, self, call, own->next);
  relock_request_give(self);
  return result;
}

static void oyama_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_oyama = {
    .name = "oyama", .lock = oyama_lock, .execute = oyama_execute};
