// SPDX-License-Identifier: MIT
//
// Names in a profile that its writer and its reader share.
#pragma once

#include "profile/Profile.h"

namespace relock {

inline constexpr llvm::StringLiteral DistanceNames[Distances] = {
    "same_thread", "same_core", "same_cache", "same_node", "other_node", "unknown"};

} // namespace relock
