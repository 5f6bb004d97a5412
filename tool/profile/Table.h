// SPDX-License-Identifier: MIT
//
// A profile for the terminal, 80 columns wide.
#pragma once

#include "profile/Profile.h"

#include "llvm/Support/raw_ostream.h"

namespace relock {

struct TableOptions {
  bool Explain = false;
  unsigned Limit = 0; // classes to show; 0: all that were ever locked
  unsigned Threads = 0;
  unsigned Sites = 0; // of each of as many classes
};

void printTable(const Profile &P, const TableOptions &Options, llvm::raw_ostream &OS);

} // namespace relock
