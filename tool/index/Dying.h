// SPDX-License-Identifier: MIT
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace relock {

// True for the body of a function that ends the process on each way: `void panic(…) { …; abort();
// }`. Handlers of exit() may do anything, so that a function that calls it is none.
bool endsProcess(const clang::Stmt *Body, const clang::ASTContext &Context);
// The same for a function of the library.
bool endsProcess(llvm::StringRef Function);

// The calls in blocks of a statement that end the process on each way through them:
// `if (!x) { backtrace(…); abort(); }`.
llvm::DenseSet<const clang::CallExpr *> callsBeforeEnd(const clang::Stmt *S,
                                                       const clang::ASTContext &Context);

// Tells which functions of the program end the process on each way.
using PanicTest = llvm::function_ref<bool(const clang::FunctionDecl *)>;

// True if the process ends wherever the call returns 0: `assert(pthread_mutex_trylock(&l));`, or
// behind `if (pthread_mutex_trylock(&l)) return;`.
bool endsProcessAtZero(const clang::CallExpr *Call, const clang::ParentMap &Parents,
                       const clang::ASTContext &Context, PanicTest IsPanic);

// The function that a body calls last, on each way through it, but for va_end(); null: there is no
// such.
const clang::FunctionDecl *lastCallee(const clang::Stmt *Body);

// True for a function with a body that never returns to its caller: it says so, or it has no
// return, and its end is not reached.
bool neverReturns(const clang::FunctionDecl *F);

} // namespace relock
