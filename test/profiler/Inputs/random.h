// SPDX-License-Identifier: MIT
// Numbers that look chosen by chance, the same in every run (xorshift64).
#include <stdint.h>

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// Between 0 and 1.
static double uniform(void) { return ((double)(next() >> 11) + 0.5) / (double)(1ull << 53); }
