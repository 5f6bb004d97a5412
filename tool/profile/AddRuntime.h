// SPDX-License-Identifier: MIT
//
// A program that uses librelock has locks that the preload library does not see. The runtime counts
// those itself, and leaves what it counted beside the records (runtime/base/stats_output.c).
#pragma once

#include "profile/Profile.h"

namespace relock {

// Adds what librelock counted in the profiled process, if it is in there, to its profile. `Folder`
// is that of the records.
void addRuntime(Profile &P, llvm::StringRef Folder);

// How often the runtime's locks were acquired in a process.
uint64_t countRuntime(int64_t Pid, llvm::StringRef Executable, llvm::StringRef Folder);

} // namespace relock
