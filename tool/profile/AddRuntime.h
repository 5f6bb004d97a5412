// SPDX-License-Identifier: MIT
//
// A program that uses librelock has locks that the preload library does not see. The runtime times
// and counts those itself, and leaves its statistics beside the records
// (runtime/base/stats_share.h).
#pragma once

#include "profile/Profile.h"

namespace relock {

// Asks the runtimes of the processes that still run for statistics of now. `Folder` is that of the
// records.
void askRuntimes(llvm::StringRef Folder);

// Adds the statistics of librelock in the profiled process, if it is in there, to its profile.
void addRuntime(Profile &P, llvm::StringRef Folder);

// How often the runtime's locks were acquired in a process.
uint64_t countRuntime(int64_t Pid, llvm::StringRef Executable, llvm::StringRef Folder);

} // namespace relock
