/* SPDX-License-Identifier: MIT */
#include "gaps.h"

enum { PERIOD_MAX = 1 << 16 };

void sample_begin_at(struct sampling *sampling, uint32_t id) {
  sampling->countdown = sampling->period = 1;
  sampling->random = id * 0x9e3779b97f4a7c15ull;
}

uint64_t sample_gap(struct sampling *sampling, uint64_t now, uint64_t wanted) {
  uint64_t weight = sampling->period, elapsed = now - sampling->last;
  if (elapsed < wanted / 2 && sampling->period < PERIOD_MAX)
    sampling->period *= 2;
  else if (elapsed > 2 * wanted)
    sampling->period = 1 + (uint64_t)((double)weight * (double)wanted / (double)elapsed);
  sampling->last = now;
  sampling->countdown = relock_random_gap(&sampling->random, sampling->period);
  return weight;
}
