// SPDX-License-Identifier: MIT
//
// The pages of the documentation that explain the codes of messages and refusals.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace relock {

struct Page {
  llvm::StringRef Code, Chapter;
  llvm::StringRef Text;     // as Markdown
  llvm::StringRef Document; // its file below tool/doc
};

std::vector<Page> explainPages();

} // namespace relock
