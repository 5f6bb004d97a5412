// SPDX-License-Identifier: MIT
//
// Converts a program lock for lock, without a compile database: the text of its files is all that
// is known of it. What semantic patches cannot see, or find to be impossible, is refused.
#pragma once

#include "rewrite/Rewrite.h"

namespace relock {

struct HoldOnlyResult {
  std::optional<RewriteResult> Rewrite; // none: nothing is to be written; messages say why
  bool Refused = false; // for the program's sake; else what was named cannot be read
  size_t Names = 0;     // of types, initialisers and operations that change
};

// Paths: folders and files that make up the program.
HoldOnlyResult holdByText(const std::vector<std::string> &Paths, unsigned Jobs);

} // namespace relock
