/* SPDX-License-Identifier: MIT
 *
 * Histograms of times: buckets are eighths of powers of two.
 */
#ifndef RELOCK_SIM_BUCKETS_H
#define RELOCK_SIM_BUCKETS_H

#include <stdint.h>

enum { SIM_BUCKET_STEPS = 8, SIM_BUCKETS = 64 * SIM_BUCKET_STEPS };

/* The books of the simulated machine take no time there: they are not instrumented. */
#define SIM_BOOKS __attribute__((no_sanitize("thread")))

static inline SIM_BOOKS unsigned sim_bucket_of(uint64_t time) {
  if (time < SIM_BUCKET_STEPS)
    return (unsigned)time;
  const unsigned exponent = 63 - (unsigned)__builtin_clzll(time);
  return exponent * SIM_BUCKET_STEPS + ((time >> (exponent - 3)) & (SIM_BUCKET_STEPS - 1));
}

/* The least time of a bucket. */
static inline SIM_BOOKS uint64_t sim_bucket_value(unsigned bucket) {
  if (bucket < SIM_BUCKET_STEPS)
    return bucket;
  return (uint64_t)(SIM_BUCKET_STEPS + bucket % SIM_BUCKET_STEPS)
         << (bucket / SIM_BUCKET_STEPS - 3);
}

#endif
