// SPDX-License-Identifier: MIT
//
// relock rewrite --undo, and what is done about a rewrite that was interrupted. A program is given
// by its builds, or by the folders and files of its sources.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace relock {

// False, and a message: a rewrite has changed some of the program's files and not the others.
bool checkFinished(llvm::ArrayRef<std::string> Program);

// Puts back what such a rewrite has changed, and says so. False: it cannot, and a message says why.
bool putBackInterrupted(llvm::ArrayRef<std::string> Program);

// Puts the files back that the last rewrite has changed. Returns the exit status.
int undo(llvm::ArrayRef<std::string> Program);

} // namespace relock
