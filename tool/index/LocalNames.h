// SPDX-License-Identifier: MIT
//
// Local variables that only name what the initialiser says, as in a lock wrapper:
//
//   struct queue *q = handle->queue;
//   pthread_mutex_lock(&q->lock);
//
// is `pthread_mutex_lock(&handle->queue->lock)`. That stands for the operand then: callers can name
// it, and what it reads must not change while they hold the lock.
#pragma once

#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace relock {

// How often a statement assigns to the variable, or takes its address.
unsigned changesOf(const clang::VarDecl *Variable, const clang::Stmt *Statement);

inline bool mayChange(const clang::Stmt *Statement, const clang::VarDecl *Variable) {
  return changesOf(Variable, Statement) != 0;
}

class LocalNames {
public:
  // Those of F in the arguments of Call. Pure: F does nothing else that leaves a trace.
  LocalNames(const clang::FunctionDecl *F, const clang::CallExpr *Call, bool Pure, const Source &S)
      : F(F), Call(Call), Pure(Pure), S(S) {}

  // The expression with the initialisers in place of the variables.
  const clang::Expr *expand(const clang::Expr *E);

  // The text of that, where a file has the expression in one piece, perhaps as a use of a macro.
  std::optional<std::string> text(const clang::Expr *E);

private:
  const clang::FunctionDecl *F;
  const clang::CallExpr *Call;
  const bool Pure;
  const Source &S;
  llvm::DenseMap<const clang::VarDecl *, const clang::Expr *> Known; // null: it is no such name

  const clang::Expr *meaning(const clang::VarDecl *V);
  bool isFixed(const clang::Expr *Initialiser);
  bool namesFixed(const clang::Stmt *E);
  bool staysUntilCall(const clang::Expr *Initialiser) const;
  bool putNames(const clang::Stmt *E, Source::Range Whole,
                std::vector<std::pair<Source::Range, const clang::VarDecl *>> &Put);
};

} // namespace relock
