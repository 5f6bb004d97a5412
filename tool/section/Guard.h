// SPDX-License-Identifier: MIT
//
// Loops that hold a lock while their body runs, once:
//
//   for (int i = 0; i ? (unlock(&l), 0) : (lock(&l), 1); i = 1) { … }
//
// mostly in a macro, `with_lock(&l) { … }`.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace relock {

struct GuardLoop {
  const clang::ForStmt *Outer, *Inner; // the loop of the lock; the innermost loop, or the same
  const clang::CallExpr *Unlock;
  std::vector<const clang::Stmt *> Body; // the statements that run under the lock
  std::vector<const clang::Stmt *> Ends; // break and continue that end the section
};

// The loop whose head Lock stands in, if its head takes the lock, runs the body once, and releases
// the lock behind it. OfOperation: what a lock operation returns when it succeeds; nothing for
// other calls.
std::optional<GuardLoop>
guardLoop(const clang::CallExpr *Lock, const clang::ParentMap &Parents,
          const clang::ASTContext &Context,
          llvm::function_ref<std::optional<int64_t>(const clang::CallExpr *)> OfOperation);

} // namespace relock
