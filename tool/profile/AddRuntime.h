// SPDX-License-Identifier: MIT
//
// A program that uses librelock has locks that the preload library does not see. The runtime times
// and counts those itself, and leaves its statistics beside the records
// (runtime/statistics/stats_share.h). What the records have of them, by which thread, inside what and
// when, they have under a number, which the statistics tell.
#pragma once

#include "profile/Profile.h"

#include <optional>

namespace relock {

// Opens what the runtime of a process leaves; `Pid` is as the process sees itself. Negative: there
// is no runtime in it, or an error.
int openRuntime(int64_t Pid, llvm::StringRef Folder);

// Asks the runtime for statistics of now; `Pid` is as we see the process. False: it does not
// answer, since it has none who could, or is stopped.
bool askRuntime(pid_t Pid, int File);
// Asks those of all processes of the folder that still run.
void askRuntimes(llvm::StringRef Folder);

// What it has written last, of that program. None: nothing.
std::optional<Profile> readRuntime(int File, llvm::StringRef Executable);
// The runtime counts in buckets of the clock of which the records are, and has measured its
// frequency for itself, each time anew: names buckets by that one.
void renameBuckets(Profile &P, uint64_t TicksPerSecond);

// Adds it to the profile of the process. Not having it is a drop. `OfWindow`: it is what was counted
// between two readings, which the records know to the bucket.
void addRuntime(Profile &P, std::optional<Profile> Counted, bool OfWindow = false);
// Of a process in which there is no runtime: nothing. The profile has been made of these records.
void addRuntime(Profile &P, llvm::StringRef Folder);

// How often the runtime's locks were acquired in a process.
uint64_t countRuntime(int64_t Pid, llvm::StringRef Executable, llvm::StringRef Folder);

} // namespace relock
