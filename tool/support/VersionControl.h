// SPDX-License-Identifier: MIT
//
// What version control knows of files: git.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace relock {

// Those of these files, given by absolute paths, that have changes which are not committed. Without
// git, or where it does not answer, nothing is known.
std::vector<std::string> uncommitted(llvm::ArrayRef<std::string> Files);

// What git prints, run in this folder with these arguments. Fails where there is no git, or where
// it fails: with what it says. It takes no locks that it could do without, and starts nothing that
// the configuration names, unless an argument asks for that.
llvm::Expected<std::string> git(llvm::StringRef Folder, llvm::ArrayRef<llvm::StringRef> Arguments);

} // namespace relock
