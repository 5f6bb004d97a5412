// SPDX-License-Identifier: MIT
//
// A comparison for the terminal.
#pragma once

#include "bench/Comparison.h"

namespace relock {

void printComparedMachine(const Comparison &C, llvm::raw_ostream &OS);
// A row for each figure, and what that says in a sentence. There has to be a turn.
void printComparison(const Comparison &C, llvm::raw_ostream &OS);
// The same in Markdown, with the commands.
void writeMarkdown(const Comparison &C, llvm::raw_ostream &OS);

// `after is 1.37 times as fast (1.31 to 1.42), 14 runs each`
std::string comparisonSentence(const Comparison &C);

} // namespace relock
