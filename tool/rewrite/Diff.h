// SPDX-License-Identifier: MIT
//
// A unified diff as `git apply` and `patch -p1` take it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace relock {

// Prints the difference between two texts of one file; Name is its path in the diff. A file that
// does not exist yet has the text Before = "" and New = true. Prints nothing for equal texts.
void printDiff(llvm::raw_ostream &OS, llvm::StringRef Name, llvm::StringRef Before,
               llvm::StringRef After, bool New);

} // namespace relock
