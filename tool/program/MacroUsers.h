// SPDX-License-Identifier: MIT
//
// The users of macros whose bodies have to change: where some need it, the body changes for all.
#pragma once

#include "index/Records.h"

#include <vector>

namespace relock {

// From each lock that such a macro operates on to the place in its body, a flow of shared text.
std::vector<Flow> macroUsers(const std::vector<UnitFacts> &Units);

} // namespace relock
