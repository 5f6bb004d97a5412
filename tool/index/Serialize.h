// SPDX-License-Identifier: MIT
//
// Facts on disk: JSON with a version. A file of another version is read as absent.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace relock {

std::string writeFacts(const UnitFacts &Facts, llvm::StringRef CommandHash);
// Fails on text that is not facts of this version or belongs to another command.
llvm::Expected<UnitFacts> readFacts(llvm::StringRef Text, llvm::StringRef CommandHash);

} // namespace relock
