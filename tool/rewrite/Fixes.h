// SPDX-License-Identifier: MIT
//
// Edits as the YAML that clang-apply-replacements reads.
#pragma once

#include "rewrite/Rewrite.h"

#include "llvm/Support/Error.h"

#include <string>

namespace relock {

// Fails where an edit contains bytes that YAML has no form for (text that is not UTF-8).
llvm::Expected<std::string> fixesText(const RewriteResult &Result);

} // namespace relock
