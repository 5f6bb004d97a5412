// SPDX-License-Identifier: MIT
//
// Whether control gets through a statement.
#pragma once

#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace relock {

using StatementTest = llvm::function_ref<bool(const clang::Stmt *)>;

// True unless it is certain that control never gets from the begin of a statement to its end. No
// path goes through a statement for which Stops is true. Every label and case counts as reached.
bool completes(const clang::Stmt *S, StatementTest Stops);

} // namespace relock
