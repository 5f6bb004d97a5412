// SPDX-License-Identifier: MIT
//
// From raw records to a profile: gives every mutex a name, and adds those of one declaration.
#pragma once

#include "profile/Profile.h"
#include "profile/Records.h"

#include <optional>

namespace relock {

// A reading of both clocks, to turn ticks into time.
struct ClockReading {
  uint64_t Ticks, Nanoseconds;
};
ClockReading readClocks();

// The two readings give the frequency of the tick counter: ours, since the program may have a clock
// of its own making. `Died` is the tick at which a process that left no end of its own was found
// dead.
Profile aggregate(const RawProcess &Process, ClockReading Early, ClockReading Late,
                  std::optional<uint64_t> Died);

} // namespace relock
