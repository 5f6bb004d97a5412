// SPDX-License-Identifier: MIT
//
// Whether a program can be profiled, before it runs.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace relock {

// Why not, and what to do.
struct ProfileRefusal {
  std::string Text, Code;
};

// Of an executable file; and of the limits under which it would run.
std::optional<ProfileRefusal> whyNotProfiled(llvm::StringRef Program);
std::optional<ProfileRefusal> whyNoRecords();

} // namespace relock
