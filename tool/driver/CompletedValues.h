// SPDX-License-Identifier: MIT
//
// What the completions of the shells ask relock for when a value is typed that they cannot know:
//   relock help --values KIND BEGUN LINE...
// prints those that there are, one in a line. BEGUN is what is typed of the value, LINE the words
// of the line. Nothing is parsed for it, and nothing is said of what is missing.
#pragma once

#include "driver/Help.h"
#include "program/Decide.h"

#include "llvm/ADT/ArrayRef.h"

namespace relock {

// The kind of an option's values, `…-list` where commas stand between them; empty: none that relock
// has to be asked for.
llvm::StringRef completedKind(const ShownOption &O);

void printCompletedValues(llvm::ArrayRef<const char *> Words, llvm::raw_ostream &OS);

// Keeps the names of the lock classes beside the facts, for the next line that is typed.
void rememberClasses(llvm::ArrayRef<std::string> Builds, const Decision &Decided);

} // namespace relock
