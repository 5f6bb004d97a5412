// SPDX-License-Identifier: MIT
//
// Lock operations whose result is only tested for failure.
#pragma once

#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"

namespace relock {

// The statement `if (lock(&l) != 0) abort();`, if Call, the lock operation in it, cannot fail: then
// the test is never true, and the statement does what the operation alone would do. Null if the
// text is not of this form, or something outside would notice that the branch has gone.
const clang::IfStmt *testForFailure(const clang::CallExpr *Call, const clang::ParentMap &Parents);

} // namespace relock
