/* SPDX-License-Identifier: MIT
 *
 * Words that a server keeps. A server does not release a mutex's word after each section, which
 * would move the mutex's cache line between the server and all its clients twice per section, but
 * leaves its own number there: SERVED. Nobody is under such a word unless a servicing thread says
 * so by its announcement, and whoever wants it otherwise takes it back:
 *
 *                      kept by the server                       taken back
 *   owned by a thread --------------------> SERVED (by server k) ----------> owned by the taker
 *   of server k                               |     A
 *                         the server sleeps,  |     |  it was inside: given back (a try), or
 *                         or not: no matter   '-----'  waited for (the heir)
 *
 * A servicing thread announces the request, looks at the word, and runs the section if that is
 * SERVED by its server. A taker replaces SERVED, makes the server's threads pass a barrier
 * (relock_await_announcements()), and looks at the announcements: one of the two sees the other.
 * The announced section then ends before the taker goes on, and none begins behind it, as the word
 * is not SERVED any more.
 *
 * Words that are taken back often are not kept: see reluctance_towards().
 */
#include "client.h"
#include "server.h"

#include "../base/os.h"
#include "../base/word.h"
#include "../locks/queue.h"
#include "../locks/section.h"

static relock_mutex_t *mutex_of(uint32_t *word) {
  return (relock_mutex_t *)(void *)((char *)word - offsetof(relock_mutex_t, relock_private.word));
}

/* The servicing thread that runs a section under the mutex, or null. */
static struct relock_servicer *find_inside(struct relock_server *server,
                                           const relock_mutex_t *mutex) {
  /* Pairs with the pool's change of `places`, before a new thread's first announcement. */
  uint32_t places = relock_load_seq_cst(&server->places);
  for (uint32_t i = 0; i < places; i++)
    if (relock_runs_under(&server->servicer[i], mutex))
      return &server->servicer[i];
  return NULL;
}

/* --- the takers' side ------------------------------------------------------------------------ */

/* The word is the caller's, and a section is still under it. A thread that marked it meanwhile
 * sleeps for a release that will not come. */
static void give_back(uint32_t *word, uint32_t served) {
  /* Release: nothing was done under it, but the value may be any owner's. */
  if (relock_exchange_release(word, served) == RELOCK_WORD_PARKED)
    relock_os->futex_wake(word, 1);
}

static bool take_back(uint32_t *word, uint32_t served) {
  struct relock_server *server = &relock_servers[served - RELOCK_WORD_SERVED];
  const relock_mutex_t *mutex = mutex_of(word);
  if (find_inside(server, mutex))
    return false;
  /* Pairs with relock_own(), as what follows does with announce(). */
  if (!relock_cas_seq_cst(word, served, relock_load_relaxed(&relock_word_taken)))
    return false;
  relock_await_announcements();
  if (!find_inside(server, mutex))
    return true;
  give_back(word, served);
  return false;
}

static bool inherit(uint32_t *word, uint32_t served, struct relock_wait *wait, clockid_t clock,
                    const struct timespec *deadline, int *error) {
  struct relock_server *server = &relock_servers[served - RELOCK_WORD_SERVED];
  const relock_mutex_t *mutex = mutex_of(word);
  struct relock_servicer *inside;
  /* Stands for the exchange that has replaced SERVED, which needs no such order otherwise. Pairs
   * with relock_own(). */
  relock_or_seq_cst(word, 0);
  relock_await_announcements();
  int result = 0;
  bool sleeps = false;
  while (result == 0 && (inside = find_inside(server, mutex))) {
    if (relock_wait_again(wait))
      continue;
    /* Both pair with announce() and the look that follows it: the first with its own, the other
     * with relock_wake_heirs(). */
    if (!sleeps)
      relock_add_seq_cst(&server->unusual, 1);
    sleeps = true;
    uint32_t awaited = relock_or_seq_cst(&inside->awaited, 1) | 1;
    relock_await_announcements();
    if (relock_runs_under(inside, mutex))
      result = relock_wait_park(wait, &inside->awaited, awaited, clock, deadline);
  }
  if (sleeps)
    relock_add_relaxed(&server->unusual, (uint32_t)-1);
  if (result == 0)
    return true;
  give_back(word, served);
  if (error)
    *error = result;
  return false;
}

void relock_wake_heirs_of(struct relock_servicer *servicer) {
  relock_store_relaxed(&servicer->awaited, relock_load_relaxed(&servicer->awaited) + 1);
  relock_os->futex_wake(&servicer->awaited, INT32_MAX);
}

static bool is_occupied(uint32_t *word, uint32_t served) {
  return find_inside(&relock_servers[served - RELOCK_WORD_SERVED], mutex_of(word)) != NULL;
}

const struct relock_served relock_served = {take_back, inherit, is_occupied};

/* --- the server's side ----------------------------------------------------------------------- */

/* A mutex that was taken back is not kept for the next 16 sections, and for twice as many each time
 * that it had been kept in vain: for fewer sections than that. Guesses.
 *
 * While there are too many barriers in this process, whoever makes them, it is not kept for the
 * next 4096, nor is one of which nothing is known. So servers make one barrier for as many sections
 * at most; but a word that nobody takes back stays the server's. (A server that owns each word for
 * one section needs an atomic operation for it, which waits until the reply before has reached its
 * client: with 8 clients on 16 processors 3.1 million sections per second, where a kept word
 * gives 11.) */
enum { LEAST_RELUCTANCE = 16, MOST_RELUCTANCE = 4096 };

static uint32_t reluctant_for(uint32_t sections) {
  return RELOCK_LIKELY(relock_word_may_cost_barriers()) ? sections : MOST_RELUCTANCE;
}

/* What is remembered of the mutex, or of another one in its place: these are hints. */
static struct relock_reluctance *reluctance_towards(struct relock_servicer *self,
                                                    const relock_mutex_t *mutex) {
  uintptr_t hash = relock_address(mutex) / sizeof *mutex;
  return &self->reluctance[hash % (sizeof self->reluctance / sizeof *self->reluctance)];
}

/* The word is not the server's. */
static void learn_of_taking(struct relock_servicer *self, const relock_mutex_t *mutex) {
  struct relock_reluctance *reluctance = reluctance_towards(self, mutex);
  if (reluctance->mutex != mutex || !reluctance->kept)
    return;
  bool in_vain = self->sections - reluctance->kept_at < reluctance->next;
  if (in_vain && reluctance->next < MOST_RELUCTANCE)
    reluctance->next *= 2;
  else if (!in_vain)
    reluctance->next = LEAST_RELUCTANCE;
  reluctance->sections = reluctant_for(reluctance->next);
  reluctance->kept = false;
}

/* Whether the word is to be kept. */
static bool keeps(struct relock_servicer *self, const relock_mutex_t *mutex) {
  struct relock_reluctance *reluctance = reluctance_towards(self, mutex);
  if (reluctance->mutex != mutex)
    *reluctance = (struct relock_reluctance){
        .mutex = mutex, .next = LEAST_RELUCTANCE, .sections = reluctant_for(0)};
  if (reluctance->sections > 0) {
    reluctance->sections--;
    return false;
  }
  reluctance->kept = true;
  reluctance->kept_at = self->sections;
  return true;
}

bool relock_own_once(struct relock_servicer *self, relock_mutex_t *mutex) {
  if (!relock_word_try(&mutex->relock_private.word))
    return false;
  learn_of_taking(self, mutex);
  relock_store_relaxed(&mutex->relock_private.executing, RELOCK_EXECUTING);
  self->owns_once = true;
  return true;
}

/* From taken to SERVED by this server, if it keeps the word. */
static bool keep(struct relock_servicer *self, relock_mutex_t *mutex) {
  /* Release: pairs with the acquire of relock_own() in another thread of the pool, and of takers.
   * Fails when somebody sleeps for the word. */
  const uint32_t found = relock_load_relaxed(&mutex->relock_private.word);
  return found != RELOCK_WORD_PARKED && relock_load_relaxed(&mutex->relock_private.tail) == 0 &&
         keeps(self, mutex) &&
         relock_cas_release(&mutex->relock_private.word, found, relock_served_by(self->server));
}

void relock_disown(struct relock_servicer *self, relock_mutex_t *mutex) {
  self->owns_once = false;
  /* A section that has waited on a condition variable has the mutex as a holder since. */
  struct relock_cond_waiter *owed = relock_sections_end(mutex);
  if (!keep(self, mutex))
    relock_word_release(&mutex->relock_private.word);
  relock_send_owed(owed);
}

/* --- sections that wait on condition variables ----------------------------------------------- */

/* The servicing thread whose section the caller is, who owns the mutex, or null. Relaxed: it reads
 * what its own thread has written, and what former owners of the mutex have. */
static struct relock_servicer *find_own_section(const relock_mutex_t *mutex) {
  /* Servers that have been started since have run no section that the caller could be. */
  uint32_t end = relock_load_relaxed(&relock_servers_end);
  for (uint32_t i = 0; i < end; i++) {
    struct relock_server *server = &relock_servers[i];
    uint32_t places = relock_load_relaxed(&server->places);
    for (uint32_t k = 0; k < places; k++)
      if (relock_load_relaxed(&server->servicer[k].runs_under) == mutex)
        return &server->servicer[k];
  }
  return NULL;
}

bool relock_server_executes(const relock_mutex_t *mutex) { return find_own_section(mutex) != NULL; }

/* The slot stays the section's, so that nobody takes the request, but names no mutex: whoever waits
 * for the end of the section goes on, and the thread has the word for once, as a holder has, when
 * it comes back from the wait. */
bool relock_server_begin_wait(relock_mutex_t *mutex) {
  struct relock_servicer *inside = find_own_section(mutex);
  bool alone = relock_executing(mutex) == RELOCK_EXECUTING_ALONE;
  if (!inside && !alone)
    return false;
  const bool owns_word = alone || inside->owns_once;
  struct relock_cond_waiter *owed = owns_word ? relock_sections_end(mutex) : NULL;
  if (inside) {
    struct relock_request *slot = inside->server->slots[inside->announced - 1];
    relock_store_relaxed(&inside->runs_under, NULL);
    inside->owns_once = true;
    /* Release: pairs with the acquire in relock_runs_under(). */
    (void)relock_exchange_seq_cst(&slot->mutex, NULL);
    relock_wake_heirs(inside);
  }
  if (owns_word)
    relock_release_watched(mutex);
  relock_send_owed(owed);
  if (inside)
    relock_pool_waits(inside);
  return true;
}
