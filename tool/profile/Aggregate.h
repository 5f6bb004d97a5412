// SPDX-License-Identifier: MIT
//
// From raw records to a profile: gives every mutex a name, and adds those of one declaration.
#pragma once

#include "profile/Profile.h"
#include "profile/Records.h"

#include <optional>

namespace relock {

class Symbolizer;

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
// With a symbolizer that goes on to know the modules that it has opened.
Profile aggregate(const RawProcess &Process, ClockReading Early, ClockReading Late,
                  std::optional<uint64_t> Died, Symbolizer &Names);

// A lock class of librelock, which is known to the records by a number alone: what they have of it
// stands under this key, in a class of this primitive, until addRuntime() says whose it is.
inline constexpr char RecordedPrimitive[] = "librelock";
std::string recordedKey(uint64_t Number);

// Of all threads' holds of a class, by readers of an rwlock or by others, as estimated.
struct SharedHolds {
  size_t Threads = 0;
  uint64_t Count = 0, Variance = 0;

  // Those of one thread, when all of them are so many, which was counted: what the estimates lack
  // of that, or have too much, is likely to be theirs who vary most.
  uint64_t likely(const ThreadShare &Estimate, uint64_t Exact) const;
};

// Of an estimate of so many holds, when they were so many.
void correctHolds(Times &T, uint64_t Count);
void correctHolds(ThreadShare &Share, uint64_t Count);

} // namespace relock
