// SPDX-License-Identifier: MIT
//
// What `relock profile` does with a profile, whether it ran the program or looked at one that runs.
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace relock {

void describeMachine(Profile &P);

// Readable by its owner only, and wholly or not at all.
llvm::Error writeProfileTo(llvm::StringRef File, const Profile &P);
// What to say if that fails.
std::string unwritable(llvm::Error E);

// A file that is installed with the tool in LIBDIR; empty: it is not there.
std::string findInstalled(llvm::StringRef Name);

} // namespace relock
