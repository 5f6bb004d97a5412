// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace relock {

// True if the file or folder lies in the folder or below it. Both are absolute and without dots.
inline bool isBelow(llvm::StringRef File, llvm::StringRef Folder) {
  return File.consume_front(Folder) && File.starts_with("/");
}

} // namespace relock
