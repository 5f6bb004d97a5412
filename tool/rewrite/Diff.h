// SPDX-License-Identifier: MIT
//
// A unified diff as `git apply` and `patch -p1` take it.
#pragma once

#include "rewrite/Outline.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

namespace relock {

// Prints what Edits, in the order of their places, change in a file; Name is its path in the diff.
// A file that does not exist yet has the text Before = "" and New = true. Prints nothing where
// nothing changes.
void printDiff(llvm::raw_ostream &OS, llvm::StringRef Name, llvm::StringRef Before,
               const std::vector<TextEdit> &Edits, bool New);

// The edits that make After of Before, in their order, each of whole lines.
std::vector<TextEdit> lineEdits(llvm::StringRef Before, llvm::StringRef After);

} // namespace relock
