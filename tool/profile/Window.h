// SPDX-License-Identifier: MIT
//
// What a process did between two readings of its records.
#pragma once

#include "profile/Aggregate.h"
#include "profile/Records.h"

namespace relock {

// As if the process had begun at the first reading. A wait or a hold belongs to the window in
// which it ends, with all of its length; the longest one of a window is known to its bucket.
RawProcess between(const RawProcess &Before, RawProcess After, ClockReading Begin,
                   ClockReading End);

} // namespace relock
