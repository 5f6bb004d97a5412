// SPDX-License-Identifier: MIT
//
// What version control knows of files. Git, where it is there; without it, or where it does not
// answer, nothing is known.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace relock {

// Those of these files, given by absolute paths, that have changes which are not committed.
std::vector<std::string> uncommitted(llvm::ArrayRef<std::string> Files);

} // namespace relock
