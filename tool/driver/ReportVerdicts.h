// SPDX-License-Identifier: MIT
//
// For a report: what `relock check` says of the lock classes of a profile, and how many cache lines
// their sections share, by their text.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace relock {

// An object with `classes`, as profile/Html.h takes it, and the estimates in the profile's classes.
// None: a message was printed.
std::optional<llvm::json::Value> checkProfile(Profile &P, llvm::ArrayRef<std::string> Builds,
                                              const llvm::cl::opt<std::string> &Project,
                                              unsigned Jobs);

} // namespace relock
