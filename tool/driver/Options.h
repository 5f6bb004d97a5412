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

} // namespace relock
