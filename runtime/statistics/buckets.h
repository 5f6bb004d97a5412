/* SPDX-License-Identifier: MIT
 *
 * How the profiler and the runtime measure times and sort them: in ticks of the cycle counter,
 * into logarithmic buckets. Values below 8 have one each, above that 4 to every power of two, so a
 * bucket is at most 25 % wide.
 */
#ifndef RELOCK_STATISTICS_BUCKETS_H
#define RELOCK_STATISTICS_BUCKETS_H

#include "../base/arch.h"

#include <stdint.h>

#define RELOCK_BUCKETS 180
#define RELOCK_BUCKET_SMALL 8

static inline unsigned relock_bucket(uint64_t value) {
  unsigned exponent, bucket;
  if (value < RELOCK_BUCKET_SMALL)
    return (unsigned)value;
  exponent = 63u - (unsigned)__builtin_clzll(value);
  bucket = RELOCK_BUCKET_SMALL + (exponent - 3) * 4 + (unsigned)((value >> (exponent - 2)) & 3);
  return bucket < RELOCK_BUCKETS ? bucket : RELOCK_BUCKETS - 1;
}

/* Smallest value of a bucket. */
static inline uint64_t relock_bucket_floor(unsigned bucket) {
  unsigned step = bucket - RELOCK_BUCKET_SMALL;
  if (bucket < RELOCK_BUCKET_SMALL)
    return bucket;
  return (uint64_t)(4 + step % 4) << (step / 4 + 1);
}

#endif
