// SPDX-License-Identifier: MIT
//
// Flows of mutex pointers that the user cuts: they make no class, since the user says that no lock
// operation beyond them meets the pointer. The facts are linked without them.
#pragma once

#include "index/Index.h"

#include "llvm/ADT/ArrayRef.h"

namespace relock {

// Of two ends, by the names that NodeNames gives them. A file, if said, tells those of equal names
// apart; the line only where the file has several.
struct Cut {
  std::string From, To;
  std::string File; // its path, or the end of it
  unsigned Line = 0;
  std::string Because;
  Position At;   // in the plan
  Position Flow; // where it was found
};

struct CutProblem {
  Position At;
  std::string Text;
};

// Takes the flows out of the facts, and says what is wrong with the cuts; then the facts are not to
// be used.
std::vector<CutProblem> applyCuts(IndexResult &Index, llvm::ArrayRef<Cut *> Cuts);

} // namespace relock
