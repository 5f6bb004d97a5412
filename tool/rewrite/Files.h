// SPDX-License-Identifier: MIT
//
// Writes a set of files wholly or not at all.
#pragma once

#include "llvm/Support/Error.h"

#include <map>
#include <string>

namespace relock {

// By absolute path: the new text of each file.
using FileTexts = std::map<std::string, std::string>;

// Every text is first written to a temporary file beside its target, and only when all of them are
// safely on disk are they moved into place. If anything fails, the targets are as before and the
// temporary files are gone.
llvm::Error writeAll(const FileTexts &Texts);

} // namespace relock
