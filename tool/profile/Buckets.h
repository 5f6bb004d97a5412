// SPDX-License-Identifier: MIT
//
// The buckets of a profile's histograms in nanoseconds. The profiler counts in ticks of the
// cycle counter, so where a bucket ends depends on the machine's clock.
#pragma once

#include "profile/Profile.h"

namespace relock {

class Buckets {
public:
  explicit Buckets(uint64_t TicksPerSecond);

  // The bucket that a histogram of this clock names by its smallest value; that holds a value.
  size_t named(uint64_t Floor) const;
  size_t holding(uint64_t Value) const;
  uint64_t floor(size_t Bucket) const { return Floors[Bucket]; }
  uint64_t middle(size_t Bucket) const;

  // The middle of the bucket in which the percentile lies; 0 without a histogram.
  uint64_t percentile(const Times &T, unsigned Percent) const;

private:
  std::vector<uint64_t> Floors;
};

} // namespace relock
