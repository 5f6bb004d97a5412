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

bool endsProcess(StringRef Function) {
  return StringSwitch<bool>(Function)
      .Cases("abort", "_exit", "_Exit", "__assert_fail", "__builtin_trap", true)
      .Default(false);
}

static bool kills(const FunctionDecl *Callee) {
  return Callee && Callee->getIdentifier() && endsProcess(Callee->getName());
}

// A jump, or a call that may be one.
static bool mayLeave(const Stmt *S, PanicTest Ends) {
  const FunctionDecl *Callee = calleeOf(S);
  return isa<ReturnStmt>(S) || isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S) || isa<BreakStmt>(S) ||
         isa<ContinueStmt>(S) || (Callee && Callee->isNoReturn() && !Ends(Callee)) ||
         any_of(S->children(), [&](const Stmt *Child) { return Child && mayLeave(Child, Ends); });
}

namespace {

class Ends {
public:
  Ends(const ASTContext &Context, PanicTest IsPanic) : Context(Context), IsPanic(IsPanic) {}

  bool statement(const Stmt *S) const {
    if (!S)
      return false;
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return statements(Block->body());
    if (const auto *If = dyn_cast<IfStmt>(S))
      return either(If->getCond(), If->getThen(), If->getElse());
    if (const auto *Do = dyn_cast<DoStmt>(S))
      return statement(Do->getBody());
    const auto *E = dyn_cast<Expr>(S);
    if (!E)
      return false;
    E = E->IgnoreParenCasts();
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return either(Choice->getCond(), Choice->getTrueExpr(), Choice->getFalseExpr());
    if (const auto *Comma = dyn_cast<BinaryOperator>(E); Comma && Comma->isCommaOp())
      return statement(Comma->getLHS()) || statement(Comma->getRHS());
    if (const auto *Block = dyn_cast<StmtExpr>(E))
      return statements(Block->getSubStmt()->body());
    return call(calleeOf(E));
  }

  // One of them ends the process, and none before it leaves.
  template <class Range> bool statements(Range All) const {
    for (const Stmt *Child : All) {
      if (statement(Child))
        return true;
      if (mayLeave(Child, [&](const FunctionDecl *Callee) { return call(Callee); }))
        return false;
    }
    return false;
  }

private:
  const ASTContext &Context;
  PanicTest IsPanic;

  bool call(const FunctionDecl *Callee) const {
    return kills(Callee) || (Callee && IsPanic && IsPanic(Callee));
  }

  // Of an if or `?:`; with `assert(0 && "text")` only one of the two is taken.
  bool either(const Expr *Condition, const Stmt *Then, const Stmt *Else) const {
    bool Taken;
    if (!Condition->isValueDependent() && Condition->EvaluateAsBooleanCondition(Taken, Context))
      return statement(Taken ? Then : Else);
    return statement(Condition) || (statement(Then) && statement(Else));
  }
};

} // namespace

bool endsProcess(const Stmt *Body, const ASTContext &Context) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  return Block && Ends(Context, nullptr).statement(Block);
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

// The statements of its block that are behind it.
static ArrayRef<Stmt *> behind(const Stmt *S, const ParentMap &Parents) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(S));
  ArrayRef<Stmt *> All;
  if (Block)
    All = ArrayRef<Stmt *>(Block->body_begin(), Block->size());
  return All.drop_front(find(All, S) - All.begin()).drop_front(All.empty() ? 0 : 1);
}

bool endsProcessAtZero(const CallExpr *Call, const ParentMap &Parents, const ASTContext &Context,
                       PanicTest IsPanic) {
  const Ends Test(Context, IsPanic);
  std::optional<int64_t> Value = 0;
  const Stmt *Inner = Call, *Up = Parents.getParent(Call);
  for (; Value && Up; Inner = Up, Up = Parents.getParent(Up)) {
    if (const auto *If = dyn_cast<IfStmt>(Up)) {
      const Stmt *Arm = *Value ? If->getThen() : If->getElse();
      return If->getCond() == Inner &&
             (Arm ? Test.statement(Arm) : Test.statements(behind(If, Parents)));
    }
    if (const auto *Choice = dyn_cast<ConditionalOperator>(Up))
      return Choice->getCond() == Inner &&
             Test.statement(*Value ? Choice->getLHS() : Choice->getRHS());
    const auto *E = dyn_cast<Expr>(Up);
    Value = E ? valueWith(E, Inner, *Value, Context) : std::nullopt;
  }
  return false;
}

const FunctionDecl *lastCallee(const Stmt *Body) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  if (!Block || Block->body_empty() || mayLeave(Block, kills))
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
