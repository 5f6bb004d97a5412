// SPDX-License-Identifier: MIT
//
// Preprocessor conditions in the text of a section.
#pragma once

#include "section/Section.h"

#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace relock {

// The branches of the `#if … #endif` groups in a part of a file, inner ones included: the text
// between two of their directives. None if there is another directive, or a group that is not
// wholly in that part.
std::optional<std::vector<Range>> conditionalBranches(llvm::StringRef File, const Range &Part);

// The directives of the groups that begin in a part of a file and are open at its end, line by
// line, and how many groups these are. None if one of them goes on in the next line.
struct OpenConditions {
  std::string Lines;
  unsigned Groups = 0;
};
std::optional<OpenConditions> openConditions(llvm::StringRef File, const Range &Part);

// The macros that directives of a text define, or make undefined, whether or not they are compiled.
// None if one of them is not understood.
std::optional<std::set<std::string>> redefinedIn(llvm::StringRef Text);

// Where a function's text begins of whose head, up to its body, groups take a part: `int`, `#else`,
// `static int`. That is before those that are open at the head's begin. None if one of them goes on
// behind the head, in the body, or there are other directives.
std::optional<unsigned> beginOfHead(llvm::StringRef File, const Range &Head, const Range &Body);

// The innermost group that a part of a file lies in, if its lines lie Within. None if it has an
// `#else`, or other text on the part's lines.
struct OperationGroup {
  Range Lines; // but for the last newline
  std::string Directive;
  bool Before = false, Behind = false; // the group has other text there
};
std::optional<OperationGroup> groupAround(llvm::StringRef File, const Range &Part,
                                          const Range &Within);

// True if the branch has text that is not compiled here. Compiled has the places of the function's
// expressions and statements.
bool isSkipped(const Range &Branch, llvm::StringRef File, const std::set<unsigned> &Compiled,
               const clang::LangOptions &Language);

// True for a branch that is no part of the section's function: it has an operation of the section,
// or stands behind an unlock.
bool staysOutside(const Range &Branch, const Extraction &Section);

// True if the variable whose name stands at an offset of a function may be of another type in
// another configuration: a group of directives around that place, but not around the whole
// function, has another declaration of the name in another branch.
bool declaredOtherwise(llvm::StringRef File, const Range &Function, unsigned At,
                       llvm::StringRef Name, const clang::LangOptions &Language);

// True if what is compiled in the branches can be left out elsewhere: what goes into the context
// must also be named outside of them.
bool canMove(const std::vector<Range> &Branches, const Extraction &Section);

} // namespace relock
