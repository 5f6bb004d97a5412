// SPDX-License-Identifier: MIT
//
// The category of relock's own options; everything else that LLVM registers is hidden.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace relock {

inline llvm::cl::OptionCategory &options() {
  static llvm::cl::OptionCategory Category("Relock");
  return Category;
}

inline const char *const BuildHelp =
    "folder with compile_commands.json; several, where the program is built in several ways";
inline const char *const JobsHelp = "translation units at a time (default: one per core)";
inline const char *const AcceptHelp =
    "convert although text that this build skips may use the locks (see `relock explain "
    "uncovered`)";

} // namespace relock
