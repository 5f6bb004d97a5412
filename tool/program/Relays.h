// SPDX-License-Identifier: MIT
//
// Lock wrappers over lock wrappers: `queue_lock(q)` that calls `base_lock(&q->lock)`, to any depth
// and across files. The innermost ones are found where they stand (index/Wrappers.h).
#pragma once

#include "index/Records.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

// Makes lock wrappers of the functions that relay to one.
void wrapRelays(std::map<std::string, Function> &Functions, const std::vector<UnitFacts> &Units);

} // namespace relock
