// SPDX-License-Identifier: MIT
//
// For a report: what `relock check` says of the lock classes of a profile.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace relock {

// An object with `classes`, as profile/Html.h takes it. None: a message was printed.
std::optional<llvm::json::Value> checkProfile(const Profile &P, llvm::ArrayRef<std::string> Builds,
                                              const llvm::cl::opt<std::string> &Project,
                                              unsigned Jobs);

} // namespace relock
