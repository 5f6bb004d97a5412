// SPDX-License-Identifier: MIT
//
// Words of a command line for a shell.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace relock {

// A word that the shell leaves alone, in quotation marks where it needs some.
std::string shellWord(llvm::StringRef Word);
std::string shellCommand(llvm::ArrayRef<std::string> Words);

} // namespace relock
