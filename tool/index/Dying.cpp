// SPDX-License-Identifier: MIT
//
// By structure: a statement of the body ends the process, and none before it leaves the function.
#include "index/Dying.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using namespace llvm;

namespace relock {

static const FunctionDecl *calleeOf(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  return Call ? Call->getDirectCallee() : nullptr;
}

static bool kills(const FunctionDecl *Callee) {
  return Callee && Callee->getIdentifier() &&
         StringSwitch<bool>(Callee->getName())
             .Cases("abort", "_exit", "_Exit", "__assert_fail", "__builtin_trap", true)
             .Default(false);
}

static bool ends(const Stmt *S) {
  if (!S)
    return false;
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return endsProcess(Block);
  if (const auto *If = dyn_cast<IfStmt>(S))
    return ends(If->getThen()) && ends(If->getElse());
  if (const auto *Do = dyn_cast<DoStmt>(S))
    return ends(Do->getBody());
  const auto *E = dyn_cast<Expr>(S);
  return E && kills(calleeOf(E->IgnoreParenCasts()));
}

// A jump, or a call that may be one.
static bool mayLeave(const Stmt *S) {
  const FunctionDecl *Callee = calleeOf(S);
  return isa<ReturnStmt>(S) || isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S) || isa<BreakStmt>(S) ||
         isa<ContinueStmt>(S) || (Callee && Callee->isNoReturn() && !kills(Callee)) ||
         any_of(S->children(), [](const Stmt *Child) { return Child && mayLeave(Child); });
}

bool endsProcess(const Stmt *Body) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block)
    return false;
  for (const Stmt *Child : Block->body()) {
    if (ends(Child))
      return true;
    if (mayLeave(Child))
      return false;
  }
  return false;
}

const FunctionDecl *lastCallee(const Stmt *Body) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block || Block->body_empty() || mayLeave(Block))
    return nullptr;
  const auto *Last = dyn_cast<Expr>(Block->body_back());
  return Last ? calleeOf(Last->IgnoreParenCasts()) : nullptr;
}

} // namespace relock
