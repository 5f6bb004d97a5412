// SPDX-License-Identifier: MIT
//
// Lock operations whose result is only tested for failure.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace relock {

// True for an argument of which a function like printf() only prints the value.
bool isPrinted(const clang::FunctionDecl *F, unsigned Argument);

// What a statement does besides its lock operation.
struct Besides {
  bool Aborts = false;  // if the operation fails, and no more, if it tests at all, …
  bool Reports = false; // … perhaps with a message before
  bool Prints = false;  // it may print a message if the operation succeeds
};

// True if Statement does what the lock operation Call in it does, and nothing else, as long as that
// returns 0: `if (lock(&l) != 0) abort();`, `assert(lock(&l) == 0);`, or a macro's
// `do { int e; if ((e = lock(&l)) != 0) report(e); } while (0)`. False if something outside would
// notice that the rest has gone. What: if not null, it may also print messages, by functions that
// are declared to be like printf().
bool onlyOperation(const clang::Stmt *Statement, const clang::CallExpr *Call,
                   const clang::ASTContext &Context, Besides *What = nullptr);
// The same for the body of a function, which may also return in the end what the call does; and as
// long as that is Result. Aborts: whether it aborts otherwise, and no more, if it tests at all.
bool onlyOperationOfBody(const clang::CompoundStmt *Body, const clang::CallExpr *Call,
                         const clang::ASTContext &Context, int64_t Result = 0,
                         bool *Aborts = nullptr);

} // namespace relock
