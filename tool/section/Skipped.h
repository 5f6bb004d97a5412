// SPDX-License-Identifier: MIT
//
// Text of a section under a condition of the preprocessor that does not hold here.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/Decl.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace relock {

// The functions that such a branch may call, if it can move along with its section; else none.
// Locks: true for functions that are lock operations or wrappers of them.
std::optional<std::vector<const clang::FunctionDecl *>>
readSkipped(const Range &Branch, const clang::FunctionDecl *F, const Source &S,
            llvm::function_ref<bool(const clang::FunctionDecl *)> Locks);

} // namespace relock
