// SPDX-License-Identifier: MIT
// Text that is compiled, and never runs.
#pragma once

#include "clang/AST/Stmt.h"
#include "llvm/ADT/SmallVector.h"

namespace relock {

// The direct parts of a statement or expression that never run, as its condition is a constant:
// an arm of `sizeof(x) > 8 ? … : …`, of `if (0)`, of __builtin_choose_expr(), the right side of
// `0 && …`, what _Generic does not select. No part that a label can be jumped to. No condition that
// calls anything: each compiler has answers of its own to __builtin_constant_p().
llvm::SmallVector<const clang::Stmt *, 2> unrunArms(const clang::Stmt *S,
                                                    const clang::ASTContext &Context);

} // namespace relock
