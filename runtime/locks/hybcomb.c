/* SPDX-License-Identifier: MIT
 *
 * hybcomb: combining after HybComb of Petrovic, Ropars and Schiper, "Leveraging hardware message
 * passing for efficient thread synchronization" (2014). One thread is registered as the combiner;
 * the others send it their sections by a channel, one fetch-and-add and one line each. So the
 * combiner does not follow links from client to client: the next requests lie one behind the other,
 * and it fetches them ahead.
 *
 * The annex of the mutex (annex.h) has the channel (channels/channel.h). A client:
 *
 *               sends                  sleeps
 *    arrives ----------> WAITING ------------> PARKED --.--> DONE: its section has been run
 *      |  ^                 `---------------------------'`-> HEAD: it is the combiner now, and the
 *      |  '-- closed, or opened by another meanwhile           channel's receiver
 *      `----> opens the channel: it is the combiner
 *
 * The combiner waits for the word, runs its own section, then those that it receives, and closes
 * the channel when there are none. A combiner that stops early, at a holder, after the last section
 * of its batch, or for want of stack, makes the client whose message it has received the combiner.
 *
 * Invariants
 *  - While the channel is open there is one combiner: one of the waiting threads, or the owner of
 *    the word. Only a combiner that owns the word receives.
 *  - The combiner's own section is in no message: nobody else runs it. So of all waiting clients
 *    only the combiner looks at the mutex; the others look at nothing but their own lines once they
 *    have sent, and the mutex may be gone as soon as the last section is done.
 *  - No request is lost: the channel is closed only while no ticket is without its message.
 *  - A client's DONE comes after its result, and the last one's after the word is released: its
 *    client may free the mutex at once. Those before it are followed by others that still use the
 *    mutex. After the release the combiner touches only request lines, which are never unmapped,
 *    and, on behalf of the next combiner, which still waits, the mutex.
 *
 * Progress and fairness: first come, first served, by ticket, except that arrivals may take the
 * word for up to a millisecond while a combiner that waits for it sleeps (queue.h); a combiner
 * works for others for at most `batch` sections or `batch_us`. Memory: 4 KiB per mutex once it was
 * contended, a request line of each waiting client. A client spins on its own line. When all slots
 * are taken, a client waits as a holder does on posix and runs its section itself. A preempted
 * combiner delays everybody who has sent, as a preempted holder does; while it sleeps for the word,
 * arrivals pass. A thread preempted between its ticket and its message delays those behind it. A
 * thread that dies under the mutex takes it along.
 *
 * Departures from the paper
 *  - Messages are in memory, and a request's ticket is its slot: the paper's counter of requests
 *    and the processor's queue are one. The queue is the lock's and not a thread's, so that
 *    sections under several locks nest; in the paper a combiner that asks for another lock
 *    receives requests of the first in place of its answer.
 *  - In the paper each thread has a node, and the nodes change hands from combiner to combiner,
 *    also among locks. A thread that has read which node is registered, and is slow, then sends
 *    its request to a combiner of another lock (test/runtime/explore/printed.c). Here a lock has
 *    one node, its channel, and to ask whether that is open and to draw a ticket are one operation.
 *  - A combiner that has served MAX_OPS requests closes its queue and serves what is left of it,
 *    while the next one registers. Here it passes the open channel on, which bounds its work,
 *    and closes it only if there is nothing left.
 *  - The lock is the mutex's exclusion word, so that holders and timed locks mix with sections.
 *    Without waiters a thread takes the word at once.
 *  - Waiters sleep, on the channel, too.
 */
#include "../base/annex.h"
#include "../channels/channel.h"
#include "algorithm.h"
#include "batch.h"
#include "queue.h"
#include "section.h"

enum { SLOTS = 60 };

struct hybcomb {
  void *unused; /* the annex's own when it is free */
  struct relock_channel channel;
  struct relock_slot slots[SLOTS];
};
_Static_assert(sizeof(struct hybcomb) == RELOCK_ANNEX_SIZE, "fills the annex");

/* What a client sends, with how to run it as the tag; see relock_request_fill(). */
struct message {
  struct relock_request *line; /* the client's */
  relock_section_t section;    /* null: a holder */
  unsigned char context[RELOCK_COPY_MAX];
};
_Static_assert(sizeof(struct message) == RELOCK_MESSAGE_SIZE, "fills a slot");

/* A message that was received, as a request, and where its client waits. */
struct received {
  struct relock_request request;
  struct relock_request *line;
  uint32_t copied; /* bytes of the context that go back */
};

/* --- the combiner ---------------------------------------------------------------------------- */

/* Receives the next request. False: there is none, and the caller is not the combiner any more. */
static bool receive(struct hybcomb *all, struct received *next) {
  struct relock_channel *channel = &all->channel;
  const struct relock_slot *slot = relock_channel_look(channel, SLOTS);
  if (!slot) {
    if (relock_channel_close(channel))
      return false;
    relock_channel_receive(channel, SLOTS, &slot); /* has been begun */
  }
  struct message message;
  memcpy(&message, slot->bytes, sizeof message);
  next->line = message.line;
  __builtin_prefetch(next->line, 1); /* for the reply */
  next->request.result = (int32_t)slot->tag;
  next->copied = slot->tag & (RELOCK_AS_CLIENT - 1);
  next->request.section = message.section;
  memcpy(next->request.context.copy, message.context, sizeof message.context);
  relock_channel_received(channel, SLOTS);
  return true;
}

/* Writes the reply to the client's line, right before the batch tells the client: the client looks
 * at the line all the time, and would fetch it for each of the two. */
static void reply(const struct received *done) {
  if (done->copied)
    memcpy(done->line->context.copy, done->request.context.copy, done->copied);
  relock_request_reply(done->line,
                       (struct relock_reply){done->request.result, done->request.error});
}

/* Runs the combiner's own section and those that it receives. The caller owns the word; afterwards
 * it does not, and is no combiner. */
static int hybcomb_combine(relock_mutex_t *mutex, struct hybcomb *all, struct relock_thread *self,
                           const struct relock_call *call) {
  struct relock_batch batch;
  struct received received[2], *next = &received[0], *done = NULL;
  int result = relock_batch_begin(&batch, mutex, self, call);
  bool more;
  while ((more = receive(all, next)) && relock_batch_takes(&batch, &next->request)) {
    if (done)
      reply(done);
    relock_batch_turn_to(&batch, next->line, &next->request);
    relock_request_run(&next->request);
    done = next;
    next = done == received ? &received[1] : &received[0];
  }
  if (!more)
    relock_store_relaxed(&mutex->relock_private.open, RELOCK_OPEN);
  relock_batch_release(&batch, mutex);
  if (done)
    reply(done);
  if (more)
    relock_wakes_add(&batch.wakes, relock_queue_make_head(mutex, next->line));
  relock_batch_end(&batch);
  return result;
}

/* A holder that has come to the word as a combiner makes the next one that. */
static void pass_on(relock_mutex_t *mutex, struct hybcomb *all) {
  struct received next;
  if (!receive(all, &next)) {
    relock_store_relaxed(&mutex->relock_private.open, RELOCK_OPEN);
    return;
  }
  const uint32_t *futex = relock_queue_make_head(mutex, next.line);
  if (futex)
    relock_os->futex_wake(futex, 1);
}

/* --- clients --------------------------------------------------------------------------------- */

/* Sends the call, or null for a holder, whose answer is to come to `own`. EPIPE: there is no
 * combiner. */
static int send(struct hybcomb *all, const struct relock_thread *self, struct relock_request *own,
                const struct relock_call *call) {
  struct relock_request request;
  relock_request_fill(&request, self, call);
  struct message message = {.line = own, .section = request.section};
  if (call)
    memcpy(message.context, request.context.copy, call->copied ? call->copied : sizeof(void *));
  return relock_channel_send(&all->channel, SLOTS, (uint32_t)request.result, &message,
                             sizeof message);
}

/* Whether so many threads wait that there may be no slot for this one. Without a look at the
 * channel where there are few: drawing a ticket brings its line anyway. */
static bool is_full(const struct hybcomb *all) {
  return RELOCK_UNLIKELY(relock_threads_live() > SLOTS) &&
         relock_channel_is_full(&all->channel, SLOTS);
}

/* HEAD: the caller is the combiner, and owns the word. DONE. WAITING: there is no room, or no
 * memory, it must help itself. */
static uint32_t ask(relock_mutex_t *mutex, struct hybcomb *all, struct relock_thread *self,
                    struct relock_request *own, const struct relock_call *call,
                    struct relock_wait *wait) {
  if (!all || is_full(all))
    return RELOCK_WAITING;
  relock_store_relaxed(&own->state, relock_queue_waiting());
  int closed;
  while ((closed = send(all, self, own, call)) && !relock_channel_open(&all->channel, SLOTS))
    ;
  if (!closed && relock_queue_await(own, wait) == RELOCK_DONE)
    return RELOCK_DONE;
  relock_queue_take_word(mutex, wait);
  return RELOCK_HEAD;
}

static int hybcomb_execute(relock_mutex_t *mutex, struct relock_thread *self,
                           const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct hybcomb *all = relock_annex(mutex);
  struct relock_request *own = relock_request_take(self);
  uint32_t state = ask(mutex, all, self, own, call, &wait);
  if (state == RELOCK_WAITING)
    relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);
  int result;
  if (state == RELOCK_DONE)
    result = relock_request_result(own, call);
  else if (state == RELOCK_HEAD)
    result = hybcomb_combine(mutex, all, self, call);
  else
    result = relock_run_and_release(mutex, self, call->section, call->context);
  relock_request_give(self);
  return result;
}

static void hybcomb_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct hybcomb *all = relock_annex(mutex);
  struct relock_request *own = relock_request_take(self);
  if (ask(mutex, all, self, own, NULL, &wait) == RELOCK_HEAD)
    pass_on(mutex, all);
  else
    relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_request_give(self);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_hybcomb = {
    .name = "hybcomb", .lock = hybcomb_lock, .execute = hybcomb_execute, .has_annex = true};
