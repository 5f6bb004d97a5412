// SPDX-License-Identifier: MIT
//
// What `relock profile` does with a profile, whether it ran the program or looked at one that runs.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <sched.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace relock {

// What the kernel knows of a process that lives, or that has ended and not been waited for, and how
// long each processor has run nothing by then. 0, or nothing, is not known.
struct ProcessUse {
  uint64_t ProcessorTime = 0; // ns
  cpu_set_t May = {};         // run on
  std::vector<uint64_t> Idle; // ns
};
ProcessUse useOf(pid_t Pid);

// Before a run, or a part of one, and after it.
void describeUse(Profile &P, const ProcessUse &Before, const ProcessUse &After);
void describeMachine(Profile &P);

// Readable by its owner only, and wholly or not at all.
llvm::Error writeProfileTo(llvm::StringRef File, const Profile &P);
// What to say if that fails.
std::string unwritable(llvm::Error E);

// A file that is installed with the tool in LIBDIR; empty: it is not there.
std::string findInstalled(llvm::StringRef Name);

} // namespace relock
