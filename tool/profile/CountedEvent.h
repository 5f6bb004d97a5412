// SPDX-License-Identifier: MIT
//
// The event that `relock profile --event` counts in critical sections: what its name means to the
// kernel, and why it was not counted.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace relock {

struct EncodedEvent {
  std::string Name;         // as libpfm4 completes it
  bool CacheMisses = false; // as its name says
  std::string Text;         // for the profiler library: see RELOCK_RECORDS_EVENT
};

// Of a name as `perf list` or libpfm4 has it; fails where this machine knows no such event.
llvm::Expected<EncodedEvent> encodeEvent(llvm::StringRef Name);

// `this machine has no counter for it`, of the error number of perf_event_open.
std::string whyNotCounted(int Error);

} // namespace relock
