// SPDX-License-Identifier: MIT
//
// By structure: a statement of the body ends the process, and none before it leaves the function.
#include "index/Dying.h"

#include "index/Completion.h"

#include "clang/AST/Expr.h"
#include "clang/Basic/Builtins.h"
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

static bool ends(const Stmt *S, const ASTContext &Context);

// Of an if or `?:`; with `assert(0 && "text")` only one of the two is taken.
static bool endsEither(const Expr *Condition, const Stmt *Then, const Stmt *Else,
                       const ASTContext &Context) {
  bool Taken;
  if (!Condition->isValueDependent() && Condition->EvaluateAsBooleanCondition(Taken, Context))
    return ends(Taken ? Then : Else, Context);
  return ends(Condition, Context) || (ends(Then, Context) && ends(Else, Context));
}

static bool ends(const Stmt *S, const ASTContext &Context) {
  if (!S)
    return false;
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return endsProcess(Block, Context);
  if (const auto *If = dyn_cast<IfStmt>(S))
    return endsEither(If->getCond(), If->getThen(), If->getElse(), Context);
  if (const auto *Do = dyn_cast<DoStmt>(S))
    return ends(Do->getBody(), Context);
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return false;
  E = E->IgnoreParenCasts();
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return endsEither(Choice->getCond(), Choice->getTrueExpr(), Choice->getFalseExpr(), Context);
  if (const auto *Comma = dyn_cast<BinaryOperator>(E); Comma && Comma->isCommaOp())
    return ends(Comma->getLHS(), Context) || ends(Comma->getRHS(), Context);
  if (const auto *Block = dyn_cast<StmtExpr>(E))
    return endsProcess(Block->getSubStmt(), Context);
  return kills(calleeOf(E));
}

// A jump, or a call that may be one.
static bool mayLeave(const Stmt *S) {
  const FunctionDecl *Callee = calleeOf(S);
  return isa<ReturnStmt>(S) || isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S) || isa<BreakStmt>(S) ||
         isa<ContinueStmt>(S) || (Callee && Callee->isNoReturn() && !kills(Callee)) ||
         any_of(S->children(), [](const Stmt *Child) { return Child && mayLeave(Child); });
}

bool endsProcess(const Stmt *Body, const ASTContext &Context) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block)
    return false;
  for (const Stmt *Child : Block->body()) {
    if (ends(Child, Context))
      return true;
    if (mayLeave(Child))
      return false;
  }
  return false;
}

static void addCallsBeforeEnd(const Stmt *S, bool Ends, const ASTContext &Context,
                              DenseSet<const CallExpr *> &Calls) {
  Ends |= isa<CompoundStmt>(S) && endsProcess(S, Context);
  if (const auto *Call = dyn_cast<CallExpr>(S); Call && Ends)
    Calls.insert(Call);
  for (const Stmt *Child : S->children())
    if (Child)
      addCallsBeforeEnd(Child, Ends, Context, Calls);
}

DenseSet<const CallExpr *> callsBeforeEnd(const Stmt *S, const ASTContext &Context) {
  DenseSet<const CallExpr *> Calls;
  if (S)
    addCallsBeforeEnd(S, false, Context, Calls);
  return Calls;
}

// What E is where its operand Inner is Value.
static std::optional<int64_t> valueWith(const Expr *E, const Stmt *Inner, int64_t Value,
                                        const ASTContext &Context) {
  if (isa<ParenExpr>(E) || isa<CastExpr>(E))
    return Value;
  if (const auto *Not = dyn_cast<UnaryOperator>(E); Not && Not->getOpcode() == UO_LNot)
    return !Value;
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return Call->getBuiltinCallee() == Builtin::BI__builtin_expect && Call->getArg(0) == Inner
               ? std::optional(Value)
               : std::nullopt;
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  if (!Binary)
    return std::nullopt;
  if (Binary->getOpcode() == BO_LAnd && Binary->getLHS() == Inner && !Value)
    return 0; // `assert(trylock(&l) && "is held")`
  const Expr *Other = Binary->getLHS() == Inner ? Binary->getRHS() : Binary->getLHS();
  Expr::EvalResult Constant;
  if (!Binary->isEqualityOp() || !Other->EvaluateAsInt(Constant, Context))
    return std::nullopt;
  return (Constant.Val.getInt() == Value) == (Binary->getOpcode() == BO_EQ);
}

bool endsProcessAtZero(const CallExpr *Call, const ParentMap &Parents, const ASTContext &Context) {
  std::optional<int64_t> Value = 0;
  const Stmt *Inner = Call, *Up = Parents.getParent(Call);
  for (; Value && Up; Inner = Up, Up = Parents.getParent(Up)) {
    if (const auto *If = dyn_cast<IfStmt>(Up))
      return If->getCond() == Inner && ends(*Value ? If->getThen() : If->getElse(), Context);
    if (const auto *Choice = dyn_cast<ConditionalOperator>(Up))
      return Choice->getCond() == Inner &&
             ends(*Value ? Choice->getLHS() : Choice->getRHS(), Context);
    const auto *E = dyn_cast<Expr>(Up);
    Value = E ? valueWith(E, Inner, *Value, Context) : std::nullopt;
  }
  return false;
}

const FunctionDecl *lastCallee(const Stmt *Body) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block || Block->body_empty() || mayLeave(Block))
    return nullptr;
  for (const Stmt *Child : reverse(Block->body())) {
    const auto *Last = dyn_cast<Expr>(Child);
    const FunctionDecl *Callee = Last ? calleeOf(Last->IgnoreParenCasts()) : nullptr;
    if (!Callee || Callee->getBuiltinID() != Builtin::BI__builtin_va_end)
      return Callee;
  }
  return nullptr;
}

static bool hasReturn(const Stmt *S) {
  return isa<ReturnStmt>(S) ||
         any_of(S->children(), [](const Stmt *Child) { return Child && hasReturn(Child); });
}

bool neverReturns(const FunctionDecl *F) {
  return F->isNoReturn() ||
         (!hasReturn(F->getBody()) && !completes(F->getBody(), [](const Stmt *) { return false; }));
}

} // namespace relock
