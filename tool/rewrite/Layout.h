// SPDX-License-Identifier: MIT
//
// Keeps the look of lines in which names get another length.
#pragma once

#include "rewrite/TextEdit.h"

#include "llvm/ADT/ArrayRef.h"

namespace relock {

// An edit that makes up for another one, and which that is.
struct LayoutEdit {
  TextEdit Edit;
  size_t For; // index
};

// True if the line that begins there belongs to a directive, be it one that goes on in the next.
bool inDirective(llvm::StringRef Text, size_t Line);

// What stands in columns behind a name that changes stays where it was: the names of a list of
// declarations, the comments behind them, the `\` of a macro's lines. A call that gets too long is
// broken before the class: that changes its edit. Edits: of one file, in any order.
std::vector<LayoutEdit> keepLayout(llvm::StringRef Text, llvm::ArrayRef<TextEdit *> Edits);

} // namespace relock
