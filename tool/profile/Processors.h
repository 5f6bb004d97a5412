// SPDX-License-Identifier: MIT
//
// Which processors share a core, a last-level cache and a node, for the profiler library, which
// must not read so many files in the program.
#pragma once

#include "../../runtime/profiler/layout.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace relock {

// By number; empty if the system does not say. `System` is where /sys is.
std::vector<relock_processor> readProcessors(llvm::StringRef System);

// Into the folder of the records. What cannot be written leaves distances unknown.
void writeProcessors(llvm::StringRef Folder, llvm::StringRef System);

} // namespace relock
