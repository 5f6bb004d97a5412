// SPDX-License-Identifier: MIT
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"

namespace relock {

// True for the body of a function that ends the process on each way: `void panic(…) { …; abort();
// }`. Handlers of exit() may do anything, so that a function that calls it is none.
bool endsProcess(const clang::Stmt *Body);

// True if the process ends wherever the call returns 0: `assert(pthread_mutex_trylock(&l));`.
bool endsProcessAtZero(const clang::CallExpr *Call, const clang::ParentMap &Parents,
                       const clang::ASTContext &Context);

// The function that a body calls last, on each way through it, but for va_end(); null: there is no
// such.
const clang::FunctionDecl *lastCallee(const clang::Stmt *Body);

// True for a function with a body that never returns to its caller: it says so, or it has no
// return, and its end is not reached.
bool neverReturns(const clang::FunctionDecl *F);

} // namespace relock
