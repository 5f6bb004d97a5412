// SPDX-License-Identifier: MIT
#include "profile/Buckets.h"

#include "../../runtime/profiler/layout.h"

#include <algorithm>

namespace relock {

Buckets::Buckets(uint64_t TicksPerSecond) {
  double NsPerTick = TicksPerSecond ? 1e9 / double(TicksPerSecond) : 1;
  for (unsigned I = 0; I < RELOCK_BUCKETS; ++I)
    Floors.push_back(uint64_t(double(relock_bucket_floor(I)) * NsPerTick + 0.5));
}

// The nearest one: the frequency in a profile is rounded.
size_t Buckets::named(uint64_t Floor) const {
  auto Above = std::lower_bound(Floors.begin(), Floors.end(), Floor);
  if (Above == Floors.end())
    return Floors.size() - 1;
  size_t Bucket = Above - Floors.begin();
  return Bucket && Floor - Floors[Bucket - 1] < *Above - Floor ? Bucket - 1 : Bucket;
}

size_t Buckets::holding(uint64_t Value) const {
  auto Above = std::upper_bound(Floors.begin(), Floors.end(), Value);
  return Above - Floors.begin() - (Above == Floors.begin() ? 0 : 1);
}

uint64_t Buckets::middle(size_t Bucket) const {
  if (Bucket < RELOCK_BUCKET_SMALL || Bucket + 1 == Floors.size())
    return Floors[Bucket];
  return Floors[Bucket] + (Floors[Bucket + 1] - Floors[Bucket]) / 2;
}

uint64_t Buckets::percentile(const Times &T, unsigned Percent) const {
  uint64_t Count = 0, Seen = 0;
  for (auto [Floor, InBucket] : T.Histogram)
    Count += InBucket;
  uint64_t Rank = (Count * Percent + 99) / 100;
  for (auto [Floor, InBucket] : T.Histogram)
    if ((Seen += InBucket) >= Rank)
      return std::min(middle(named(Floor)), T.Max);
  return 0;
}

} // namespace relock
