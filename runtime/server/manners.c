/* SPDX-License-Identifier: MIT
 *
 * Urgent clients are served before others: the servers know them by bits, and give each a turn
 * after every section of another client. So an urgent client waits for one section of each other
 * urgent client and of one other, and any other for at most 1 + U sections for each client before
 * it and for every eight slots, where U is the number of urgent ones.
 *
 * A client with a share of p percent, whose sections the server times, holds back after each of
 * them for (100 - p) / p of the time that it took, if somebody else waits for the server then. It
 * is the client that waits, not its request: a server has no list of such requests to look after.
 */
#include "manners.h"

#include "../base/os.h"
#include "../base/request.h"
#include "server.h"

#include <errno.h>
#include <string.h>

uint64_t relock_urgent_slots[RELOCK_SLOT_WORDS];
uint32_t relock_urgent_clients;

/* Changes the thread's bit, which nobody else does, and the count. */
static void mark_urgent(const struct relock_thread *thread, bool urgent) {
  const uint32_t slot = thread->rcl_number - 1;
  uint64_t *bits = &relock_urgent_slots[slot / 64];
  const uint64_t bit = (uint64_t)1 << slot % 64;
  if (((relock_load_relaxed(bits) & bit) != 0) == urgent)
    return;
  if (urgent)
    relock_or_relaxed(bits, bit);
  else
    relock_and_relaxed(bits, ~bit);
  relock_add_relaxed(&relock_urgent_clients, urgent ? 1u : (uint32_t)-1);
}

void relock_manners_start(const struct relock_thread *self) {
  if (self->rcl_number)
    mark_urgent(self, relock_is_urgent(self));
}

void relock_manners_end(const struct relock_thread *record) { mark_urgent(record, false); }

void relock_manners_after_fork(void) {
  memset(relock_urgent_slots, 0, sizeof relock_urgent_slots);
  relock_urgent_clients = 0;
}

int relock_thread_set_urgent(int urgent) {
  struct relock_thread *self = relock_thread_self();
  if (!self)
    return EAGAIN;
  relock_mark(self, urgent != 0);
  relock_manners_start(self);
  return 0;
}

int relock_thread_limit_share(unsigned percent) {
  struct relock_thread *self = relock_thread_self();
  if (percent < 1 || percent > 100)
    return EINVAL;
  if (!self)
    return EAGAIN;
  self->rcl_share = percent == 100 ? 0 : percent;
  self->rcl_resume_ns = 0;
  return 0;
}

void relock_manners_spent(struct relock_thread *self, uint64_t ns) {
  const unsigned share = self->rcl_share;
  if (share) /* the section has not taken the limit away */
    self->rcl_resume_ns = relock_os->now_ns() + ns * (100 - share) / share;
}

static bool somebody_asks(const struct relock_server *server) {
  uint32_t end = relock_load_relaxed(&relock_slots_end);
  for (uint32_t i = 0; i < end; i++)
    if (relock_load_relaxed(&server->slots[i]->state) == RELOCK_SLOT_POSTED)
      return true;
  return false;
}

/* The client's section is under way, in which this is a nested request. */
static bool is_in_section(const struct relock_thread *self) {
  for (uint32_t i = 0; i < relock_load_relaxed(&relock_servers_end); i++) {
    /* Acquire: pairs with the release in give_cpu(), servers.c; others may start this server. */
    struct relock_request(*slots)[2] = relock_load_acquire(&relock_servers[i].slots);
    if (slots && relock_slot_is_pending(relock_load_relaxed(&slots[self->rcl_number - 1]->state)))
      return true;
  }
  return false;
}

void relock_manners_wait(struct relock_thread *self, const struct relock_server *server) {
  if (is_in_section(self))
    return;
  uint32_t nobody = 0;
  const struct timespec until = relock_time(self->rcl_resume_ns);
  while (relock_os->now_ns() < self->rcl_resume_ns && somebody_asks(server))
    relock_os->futex_wait(&nobody, 0, CLOCK_MONOTONIC, &until);
}
