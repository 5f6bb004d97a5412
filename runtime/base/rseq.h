/* SPDX-License-Identifier: MIT
 *
 * The memory that the kernel shares with each thread for restartable sequences: struct rseq of
 * linux/rseq.h, as far as something here looks at it. The header of the system where this is
 * compiled may be older. Of C and C++: `relock doctor` looks at it, too.
 */
#ifndef RELOCK_BASE_RSEQ_H
#define RELOCK_BASE_RSEQ_H

#include "os.h"

#include <stdint.h>

struct relock_rseq {
  uint32_t cpu_id_start, cpu_id;
  uint64_t
      rseq_cs; /* the descriptor of a thread's last sequence; the kernel clears it now and then */
  uint32_t flags, node_id, mm_cid;
  struct relock_slice slice;
};

/* Flags: the kernel extends time slices, and does so for this thread
 * (RSEQ_CS_FLAG_SLICE_EXT_AVAILABLE, _ENABLED). */
enum { RELOCK_SLICE_AVAILABLE = 1 << 4, RELOCK_SLICE_ENABLED = 1 << 5 };

#endif
