// SPDX-License-Identifier: MIT
//
// Preprocessor conditions in the text of a section.
#pragma once

#include "section/Section.h"

#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <vector>

namespace relock {

// The branches of the `#if … #endif` groups in a part of a file, inner ones included: the text
// between two of their directives. None if there is another directive, or a group that is not
// wholly in that part.
std::optional<std::vector<Range>> conditionalBranches(llvm::StringRef File, const Range &Part);

// True if everything in the branches is compiled here, and would also be sound elsewhere, where it
// may be left out: Compiled has the places of the function's expressions and statements.
// What goes into the context must also be named outside the branches.
bool canMove(const std::vector<Range> &Branches, const Extraction &Section, llvm::StringRef File,
             const std::set<unsigned> &Compiled, const clang::LangOptions &Language);

} // namespace relock
