// SPDX-License-Identifier: MIT
//
// `--machine`: the file of a simulated machine, by its path or as one of those that are shipped.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace relock {

// Those that are shipped.
std::vector<std::string> machineNames();
// Says to somebody who named none which there are, with what they are, and what to type next.
void listMachines(llvm::StringRef Subcommand);

// The file; empty: a message lists the machines.
std::string findMachine(llvm::StringRef Name);

} // namespace relock
