// SPDX-License-Identifier: MIT
//
// C files that nobody has read, and that may use the locks that a rewrite changes.
#pragma once

#include "index/Index.h"

#include <set>
#include <string>
#include <vector>

namespace relock {

// Says, on standard error, which C files below the root of the sources are in no compile database,
// include a header that changes, and mention mutexes or conditions. Changed: absolute paths.
void reportUnindexed(const IndexResult &Index, const std::set<std::string> &Changed);

} // namespace relock
