// SPDX-License-Identifier: MIT
//
// The algorithms that the runtime library has.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace relock {

bool isAlgorithm(llvm::StringRef Name);
// True for those with a server thread.
bool usesServer(llvm::StringRef Algorithm);
std::string algorithmList();

constexpr llvm::StringLiteral DefaultAlgorithm = "adaptive";

} // namespace relock
