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

} // namespace relock
