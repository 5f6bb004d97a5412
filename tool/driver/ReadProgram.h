// SPDX-License-Identifier: MIT
//
// The facts of a program, for the subcommands that need all of them.
#pragma once

#include "index/Index.h"

#include <optional>

namespace relock {

// indexBuild() of a program that no rewrite has left half changed. None: a message was printed.
std::optional<IndexResult> readProgram(llvm::ArrayRef<std::string> Builds, unsigned Jobs);

} // namespace relock
