// SPDX-License-Identifier: MIT
//
// Which cache lines of shared memory a piece of code touches, as far as its text names them: those
// of global variables, and of the structs behind pointers. All objects of one struct type are one
// here, and all elements of an array.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace relock {

// Leaves: whether a statement is no part of it. Sorted, each line once.
std::vector<TouchedLine> touchedLines(llvm::ArrayRef<const clang::Stmt *> Text, const Source &S,
                                      llvm::function_ref<bool(const clang::Stmt *)> Leaves);

} // namespace relock
