// SPDX-License-Identifier: MIT
//
// The heads are run on the values of their own variables: the lock must be the first operation,
// then the body runs, then the unlock must be the next one and the loop must end. Where the values
// are not known, it is no such loop. The body must not name the variables, so that nothing else can
// change their course; then the section is exactly the body.
//
// A loop inside the first, without operations, is there for `break`: it leaves the inner loop, the
// outer one goes on with its head, and that unlocks. So break and continue end the section. Without
// an inner loop, break leaves with the lock held.
#include "section/Guard.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

using OperationValue = function_ref<std::optional<int64_t>(const CallExpr *)>;

bool names(const Stmt *S, const VarDecl *V) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(S);
  return (Ref && Ref->getDecl() == V) ||
         (S && any_of(S->children(), [&](const Stmt *Child) { return names(Child, V); }));
}

// The variable that the head of a loop declares.
const VarDecl *induction(const ForStmt *For) {
  const auto *Declared = dyn_cast_or_null<DeclStmt>(For->getInit());
  const auto *V =
      Declared && Declared->isSingleDecl() ? dyn_cast<VarDecl>(Declared->getSingleDecl()) : nullptr;
  bool Plain = V && V->hasLocalStorage() && V->hasInit() && !V->hasAttrs() &&
               V->getType()->isIntegerType() && !V->getType().isVolatileQualified();
  return Plain ? V : nullptr;
}

// Runs the head of a loop on the value of its variable. What cannot be followed makes it unknown.
class Head {
public:
  Head(const VarDecl *V, const ASTContext &Context, OperationValue OfOperation)
      : V(V), Context(Context), OfOperation(OfOperation) {}

  // Nothing if it cannot be told; 0 for expressions without a value.
  std::optional<int64_t> value(const Expr *E) {
    int64_t Result = evaluate(E);
    return Unknown ? std::nullopt : std::optional(Result);
  }
  void set(int64_t Initial) { Value = Initial; }

  std::vector<const CallExpr *> Operations; // evaluated so far

private:
  const VarDecl *V;
  const ASTContext &Context;
  OperationValue OfOperation;
  std::optional<int64_t> Value;
  bool Unknown = false;

  int64_t unknown() {
    Unknown = true;
    return 0;
  }

  bool isVariable(const Expr *E) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
    return Ref && Ref->getDecl() == V;
  }

  int64_t evaluate(const Expr *E) {
    E = E->IgnoreParens();
    if (Unknown)
      return 0;
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return evaluateCall(Call);
    if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      int64_t Result = evaluate(Cast->getSubExpr());
      if (Cast->getCastKind() == CK_IntegralToBoolean)
        return Result != 0;
      bool Same = Result == 0 || Result == 1 || Cast->getCastKind() != CK_IntegralCast;
      return Same ? Result : unknown(); // the type may be too small for it
    }
    if (isVariable(E))
      return Value ? *Value : unknown();
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return evaluate(evaluate(Choice->getCond()) ? Choice->getTrueExpr() : Choice->getFalseExpr());
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return evaluateUnary(Unary);
    if (const auto *Binary = dyn_cast<BinaryOperator>(E))
      return evaluateBinary(Binary);
    Expr::EvalResult Constant;
    if (E->EvaluateAsInt(Constant, Context) && Constant.Val.getInt().isRepresentableByInt64())
      return Constant.Val.getInt().getExtValue();
    return unknown();
  }

  int64_t evaluateCall(const CallExpr *Call) {
    std::optional<int64_t> Result = OfOperation(Call);
    if (!Result || any_of(Call->arguments(), [&](const Expr *E) { return names(E, V); }))
      return unknown();
    Operations.push_back(Call);
    return *Result;
  }

  int64_t evaluateUnary(const UnaryOperator *E) {
    if (E->getOpcode() == UO_LNot)
      return !evaluate(E->getSubExpr());
    if (!E->isIncrementDecrementOp() || !isVariable(E->getSubExpr()) || !Value ||
        V->getType()->isBooleanType())
      return unknown();
    int64_t Before = *Value;
    *Value += E->isIncrementOp() ? 1 : -1;
    return E->isPostfix() ? Before : *Value;
  }

  int64_t evaluateBinary(const BinaryOperator *E) {
    if (E->getOpcode() == BO_Assign && isVariable(E->getLHS())) {
      Value = evaluate(E->getRHS());
      return *Value;
    }
    if (E->isAssignmentOp())
      return unknown();
    int64_t Left = evaluate(E->getLHS());
    if ((E->getOpcode() == BO_LAnd && !Left) || (E->getOpcode() == BO_LOr && Left))
      return Left != 0;
    int64_t Right = evaluate(E->getRHS());
    bool Signed = Left >= 0 && Right >= 0; // else the order depends on the operands' type
    switch (E->getOpcode()) {
    case BO_Comma:
      return Right;
    case BO_LAnd:
    case BO_LOr:
      return Right != 0;
    case BO_EQ:
      return Left == Right;
    case BO_NE:
      return Left != Right;
    case BO_LT:
      return Signed ? Left < Right : unknown();
    case BO_GT:
      return Signed ? Left > Right : unknown();
    default:
      return unknown();
    }
  }
};

// The operations that the head of a loop evaluates, before and behind its only round.
struct Round {
  std::vector<const CallExpr *> Before, Behind;
};

std::optional<Round> onlyRound(const ForStmt *For, const ASTContext &Context,
                               OperationValue OfOperation) {
  const VarDecl *V = induction(For);
  if (!V || !For->getCond() || names(For->getBody(), V))
    return std::nullopt;
  Head Run(V, Context, OfOperation);
  std::optional<int64_t> Initial = Run.value(V->getInit());
  if (!Initial)
    return std::nullopt;
  Run.set(*Initial);
  if (!Run.value(For->getCond()).value_or(0))
    return std::nullopt;
  Round Found;
  std::swap(Found.Before, Run.Operations);
  if (For->getInc() && !Run.value(For->getInc()))
    return std::nullopt;
  if (Run.value(For->getCond()).value_or(1) != 0)
    return std::nullopt;
  Found.Behind = std::move(Run.Operations);
  return Found;
}

// The jumps that leave the innermost loop around the body, or begin its next round.
void collectEnds(const Stmt *S, bool InSwitch, bool Breaks, std::vector<const Stmt *> &Ends) {
  if (!S || isa<ForStmt>(S) || isa<WhileStmt>(S) || isa<DoStmt>(S))
    return;
  if (isa<ContinueStmt>(S) || (isa<BreakStmt>(S) && Breaks && !InSwitch))
    Ends.push_back(S);
  for (const Stmt *Child : S->children())
    collectEnds(Child, InSwitch || isa<SwitchStmt>(S), Breaks, Ends);
}

} // namespace

std::optional<GuardLoop> guardLoop(const CallExpr *Lock, const ParentMap &Parents,
                                   const ASTContext &Context, OperationValue OfOperation) {
  const Stmt *Up = Parents.getParent(Lock);
  while ((isa_and_nonnull<Expr>(Up) && !isa<StmtExpr>(Up)) || isa_and_nonnull<DeclStmt>(Up))
    Up = Parents.getParent(Up);
  const auto *Outer = dyn_cast_or_null<ForStmt>(Up);
  std::optional<Round> Found = Outer ? onlyRound(Outer, Context, OfOperation) : std::nullopt;
  if (!Found || Found->Before != std::vector{Lock} || Found->Behind.size() != 1)
    return std::nullopt;
  GuardLoop Result = {Outer, Outer, Found->Behind.front(), {}, {}};
  const auto *Next = dyn_cast<ForStmt>(Outer->getBody());
  for (; Next; Next = dyn_cast<ForStmt>(Next->getBody())) {
    std::optional<Round> Inner = onlyRound(Next, Context, OfOperation);
    if (!Inner || !Inner->Before.empty() || !Inner->Behind.empty())
      break;
    Result.Inner = Next;
  }
  const Stmt *Body = Result.Inner->getBody();
  if (const auto *Block = dyn_cast<CompoundStmt>(Body))
    Result.Body.assign(Block->body_begin(), Block->body_end());
  else
    Result.Body = {Body};
  for (const Stmt *Statement : Result.Body)
    collectEnds(Statement, false, Result.Inner != Outer, Result.Ends);
  return Result;
}

} // namespace relock
