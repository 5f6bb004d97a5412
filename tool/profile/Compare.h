// SPDX-License-Identifier: MIT
//
// Two profiles side by side: what a change did to each lock class.
#pragma once

#include "profile/Profile.h"
#include "profile/Table.h"

namespace relock {

// A class of either profile or of both, which are the same by name or else by key.
struct ComparedClass {
  const ProfiledClass *Before = nullptr, *After = nullptr;
};

// Those whose waiting (else holding, else use) per second of run changed most come first. Classes
// that neither run locked are left out.
std::vector<ComparedClass> compareProfiles(const Profile &Before, const Profile &After);

void printComparison(const Profile &Before, const Profile &After, const TableOptions &Options,
                     llvm::raw_ostream &OS);
// The same for scripts, all classes; tool/profile/README.md has the format.
void writeComparison(const Profile &Before, const Profile &After, llvm::raw_ostream &OS);

} // namespace relock
