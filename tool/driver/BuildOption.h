// SPDX-License-Identifier: MIT
//
// The option -p of the subcommands that read a program: the folders with its compile databases.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"

#include <optional>
#include <string>

namespace relock {

inline const char *const BuildHelp =
    "folder with compile_commands.json, or that file; several, where the program is built in "
    "several ways (default: of the current folder and those above, the first that has one, or "
    "has one in build)";

// The folder of the compile database that belongs to the current folder. None: there is none.
std::optional<std::string> findBuild();

// Makes the values of -p folders, and adds the one that is found where there is no value. False: a
// message was printed.
bool completeBuilds(llvm::cl::list<std::string> &Builds);

} // namespace relock
