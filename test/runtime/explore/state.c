/* SPDX-License-Identifier: MIT
 *
 * What an execution has come to, as a number, and which of these the search has seen: an execution
 * that comes to a state again is not followed, for whatever can happen from there was explored.
 *
 * A state is not what memory holds, but how it came to that: each thread's past is a digest of the
 * messages that it has read, in its order, and a message's is one of its writer's past; besides
 * there is the order of each location's messages. Executions that differ only in the order of
 * operations that do not see each other come to the same state, as the same operations then saw the
 * same. What else decides how it goes on (who sleeps, time, what deviations are left) is added.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More states than these are not remembered, but explored all the same: 256 MiB. */
enum { FIRST_ROOM = 1 << 12, MOST_ROOM = 1 << 25 };

uint64_t mixed(uint64_t digest, uint64_t value) {
  digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  digest = (digest ^ digest >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return digest ^ digest >> 29;
}

void saw(uint64_t what) {
  if (current)
    current->past = mixed(current->past, what);
}

void seen_forget(struct seen *seen) {
  free(seen->digests);
  *seen = (struct seen){0};
}

/* 0 stands for an empty place. */
static bool add(struct seen *seen, uint64_t digest) {
  uint32_t at = (uint32_t)digest & (seen->room - 1);
  while (seen->digests[at] && seen->digests[at] != digest)
    at = (at + 1) & (seen->room - 1);
  if (seen->digests[at])
    return false;
  seen->digests[at] = digest;
  seen->count++;
  return true;
}

static void grow(struct seen *seen) {
  struct seen larger = {.room = seen->room ? 2 * seen->room : FIRST_ROOM};
  larger.digests = calloc(larger.room, sizeof *larger.digests);
  if (!larger.digests) {
    fprintf(stderr, "explore: no memory for the states that were seen\n");
    exit(2);
  }
  for (uint32_t i = 0; i < seen->room; i++)
    if (seen->digests[i])
      add(&larger, seen->digests[i]);
  free(seen->digests);
  *seen = larger;
}

bool seen_add(struct seen *seen, uint64_t digest) {
  if (2 * seen->count >= seen->room) {
    if (seen->room >= MOST_ROOM)
      return true;
    grow(seen);
  }
  return add(seen, digest | !digest);
}

static uint64_t thread_state(uint64_t digest, const struct thread *thread) {
  const uint64_t flags[] = {thread->state,
                            thread->yielded,
                            thread->vain_yields,
                            thread->idle_loads,
                            thread->timed,
                            thread->timed_out,
                            thread->in_decrement,
                            thread->cancel,
                            thread->pending,
                            thread->blocked,
                            thread->state == ASLEEP ? (uintptr_t)thread->futex : 0};
  digest = mixed(digest, thread->past);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    digest = mixed(digest, flags[i]);
  return digest;
}

uint64_t state_digest(void) {
  uint64_t digest = mixed(memory_digest(), os_digest());
  for (int i = 0; i < thread_count; i++)
    digest = thread_state(digest, &threads[i]);
  return mixed(digest, current->state == RUNNING ? (uint64_t)current->id : MAX_THREADS);
}
