// SPDX-License-Identifier: MIT
//
// What is written into a program looks as its project's formatter would leave it.
#pragma once

#include "rewrite/TextEdit.h"

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>
#include <vector>

namespace relock {

// Files that say how a project's text looks, and cannot be read.
using UnreadStyles = std::set<std::string>;

// Breaks and indents the texts of the edits as the .clang-format says that lies in the folder of
// File, or in one above it up to Root; without one they stay as they are, as do those in macro
// definitions. Nothing but blanks changes, and nothing around the edits. Text: of File; Edits: as
// for applyEdits(). A .clang-format that cannot be read is as none, and goes into Unread.
void formatAsProject(llvm::StringRef File, llvm::StringRef Root, llvm::StringRef Text,
                     std::vector<TextEdit> &Edits, UnreadStyles &Unread);

} // namespace relock
