// SPDX-License-Identifier: MIT
//
// Parses the rewritten program before anything is written.
#pragma once

#include "index/Index.h"
#include "rewrite/Files.h"

namespace relock {

// The diagnostics that the new texts add to those of the program as it is. Empty: none.
std::vector<UnitDiagnostic> newDiagnostics(const IndexResult &Index, const FileTexts &Changed,
                                           unsigned Jobs);

} // namespace relock
