// SPDX-License-Identifier: MIT
//
// For a report: what `relock check` says of the lock classes of a profile, which of the sources
// they are, and how many cache lines their sections share, by their text.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace relock {

// An object with `classes` and `others`, as profile/Html.h takes it; the rest is in the profile's
// classes.
// None: a message was printed.
std::optional<llvm::json::Value> checkProfile(Profile &P, llvm::ArrayRef<std::string> Builds,
                                              const llvm::cl::opt<std::string> &Project,
                                              unsigned Jobs);

} // namespace relock
