/* SPDX-License-Identifier: MIT */
#include "edge.h"
#include "hold.h"
#include "pairs.h"
#include "store.h"

static uint32_t left = 1 << 16; /* 4 MiB in all, however many threads wait for each other */

uint32_t edge_holder(const struct relock_object *object) {
  if (object->primitive == RELOCK_RWLOCK && !is_held(object))
    return 0;
  return __atomic_load_n(&object->counts.owner, __ATOMIC_RELAXED);
}

void edge_count(struct thread *thread, uint32_t group, uint32_t holder, uint32_t releaser,
                uint64_t wait) {
  struct relock_edge *edge;
  if (holder == thread->id)
    holder = releaser == thread->id ? 0 : releaser;
  edge = pairs_record(&thread->edges, (uint64_t)group << 32 | holder, RELOCK_RECORD_EDGE,
                      sizeof *edge, &left);
  if (!edge) {
    count_drop(&header->dropped_edges);
    return;
  }
  edge->group = group;
  edge->holder = holder;
  edge->waiter = thread->id;
  edge->count++;
  edge->wait += wait;
}
