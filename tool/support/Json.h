// SPDX-License-Identifier: MIT
//
// Parses JSON that anybody may have written. LLVM's parser calls itself for each bracket, so a text
// of brackets only would use up the stack; LLVM's YAML parser goes no deeper than its caller asks.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace relock {

// Far more than any of the formats has, far less than a stack bears.
inline constexpr unsigned JsonNesting = 500;

llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text);

} // namespace relock
