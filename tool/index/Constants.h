// SPDX-License-Identifier: MIT
// The constants that an expression may be.
#pragma once

#include "clang/AST/Expr.h"

#include <optional>
#include <set>

namespace relock {

// Of a constant, a choice of such, or a variable of this unit alone (static, or local) that is only
// ever set to such and whose address nobody takes. None: others, too.
std::optional<std::set<int64_t>> constantsOf(const clang::Expr *E, clang::ASTContext &Context);

// The parameter that an expression is the value of, if its function only ever reads it, so that it
// is what the caller has given; else null.
const clang::ParmVarDecl *givenByCaller(const clang::Expr *E);

} // namespace relock
