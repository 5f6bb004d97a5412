// SPDX-License-Identifier: MIT
#include "index/CallResult.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

// The one way through a body on which all that is asked for is known.
class KnownWay {
public:
  explicit KnownWay(const ASTContext &Context) : Context(Context) {}

  std::optional<int64_t> call(const FunctionDecl *F, ArrayRef<int64_t> Arguments) {
    const auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
    if (!Body || F->isVariadic() || F->hasAttr<WeakAttr>() || F->param_size() != Arguments.size())
      return std::nullopt;
    for (auto [P, Value] : zip(F->parameters(), Arguments))
      if (!set(P, Value))
        return std::nullopt;
    return run(Body) == Returns && holds(F->getReturnType(), Result) ? std::optional(Result)
                                                                     : std::nullopt;
  }

private:
  const ASTContext &Context;
  DenseMap<const ValueDecl *, int64_t> Values;
  int64_t Result = 0;

  // How a statement goes on. Others: it does something, or nobody knows.
  enum Next { Ends, Breaks, Returns, Others };

  // False for a number that would become another one by its type.
  bool holds(QualType Type, int64_t Value) const {
    if (!Type->isIntegerType() || Type.isVolatileQualified())
      return false;
    const unsigned Width = Context.getIntWidth(Type);
    if (Type->isBooleanType())
      return Value == 0 || Value == 1;
    return Type->isSignedIntegerOrEnumerationType() ? isIntN(Width, Value)
                                                    : Value >= 0 && isUIntN(Width, Value);
  }

  bool set(const ValueDecl *Variable, int64_t Value) {
    if (!holds(Variable->getType(), Value))
      return false;
    Values[Variable] = Value;
    return true;
  }

  Next run(const Stmt *S) {
    if (isa<NullStmt>(S))
      return Ends;
    if (isa<BreakStmt>(S))
      return Breaks;
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return runAll(SmallVector<const Stmt *>(Block->body()));
    if (const auto *Return = dyn_cast<ReturnStmt>(S)) {
      std::optional<int64_t> Value =
          Return->getRetValue() ? evaluate(Return->getRetValue()) : std::nullopt;
      Result = Value.value_or(0);
      return Value ? Returns : Others;
    }
    if (const auto *If = dyn_cast<IfStmt>(S)) {
      std::optional<int64_t> Condition = evaluate(If->getCond());
      if (!Condition)
        return Others;
      const Stmt *Taken = *Condition ? If->getThen() : If->getElse();
      return Taken ? run(Taken) : Ends;
    }
    if (const auto *Declared = dyn_cast<DeclStmt>(S))
      return all_of(Declared->decls(), [&](const Decl *D) { return declare(D); }) ? Ends : Others;
    if (const auto *Switch = dyn_cast<SwitchStmt>(S)) {
      Next After = runSwitch(Switch);
      return After == Breaks ? Ends : After;
    }
    if (const auto *Label = dyn_cast<SwitchCase>(S))
      return run(Label->getSubStmt());
    const auto *E = dyn_cast<Expr>(S);
    return E && (E->IgnoreParenCasts()->getType()->isVoidType() ? !E->HasSideEffects(Context)
                                                                : bool(evaluate(E)))
               ? Ends
               : Others;
  }

  Next runAll(ArrayRef<const Stmt *> Statements) {
    for (const Stmt *Child : Statements)
      if (Next After = run(Child); After != Ends)
        return After;
    return Ends;
  }

  bool declare(const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    if (!V || !V->hasLocalStorage() || V->hasAttr<CleanupAttr>())
      return false;
    std::optional<int64_t> Value = V->hasInit() ? evaluate(V->getInit()) : std::nullopt;
    return V->hasInit() ? Value && set(V, *Value) : V->getType()->isIntegerType();
  }

  // From the label on, where all labels stand directly in the block.
  Next runSwitch(const SwitchStmt *Switch) {
    const auto *Block = dyn_cast<CompoundStmt>(Switch->getBody());
    std::optional<int64_t> Value = evaluate(Switch->getCond());
    if (!Block || !Value)
      return Others;
    unsigned Labels = 0, Seen = 0;
    for (const SwitchCase *Label = Switch->getSwitchCaseList(); Label;
         Label = Label->getNextSwitchCase())
      ++Labels;
    const Stmt *const *Begin = nullptr, *const *Default = nullptr;
    SmallVector<const Stmt *> Statements(Block->body());
    for (const Stmt *const &Child : Statements)
      for (const auto *Label = dyn_cast<SwitchCase>(Child); Label;
           Label = dyn_cast<SwitchCase>(Label->getSubStmt())) {
        ++Seen;
        const auto *Case = dyn_cast<CaseStmt>(Label);
        std::optional<int64_t> Is = Case ? evaluate(Case->getLHS()) : std::nullopt;
        if (Case && (!Is || Case->getRHS()))
          return Others;
        if (!Case)
          Default = &Child;
        else if (Is == Value)
          Begin = &Child;
      }
    if (Seen != Labels)
      return Others;
    if (!Begin)
      Begin = Default;
    return Begin ? runAll(ArrayRef(Begin, Statements.end())) : Ends;
  }

  std::optional<int64_t> evaluate(const Expr *E) {
    E = E->IgnoreParens();
    if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      std::optional<int64_t> Value = evaluate(Cast->getSubExpr());
      if (Cast->getCastKind() == CK_IntegralToBoolean && Value)
        return *Value != 0;
      return Value && holds(Cast->getType(), *Value) ? Value : constant(E);
    }
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      if (auto Known = Values.find(Ref->getDecl()); Known != Values.end())
        return Known->second;
    if (const auto *Not = dyn_cast<UnaryOperator>(E); Not && Not->getOpcode() == UO_LNot) {
      std::optional<int64_t> Value = evaluate(Not->getSubExpr());
      return Value ? std::optional<int64_t>(!*Value) : std::nullopt;
    }
    if (const auto *Binary = dyn_cast<BinaryOperator>(E))
      return evaluateBinary(Binary);
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
      std::optional<int64_t> Condition = evaluate(Choice->getCond());
      return Condition ? evaluate(*Condition ? Choice->getTrueExpr() : Choice->getFalseExpr())
                       : std::nullopt;
    }
    if (const auto *Call = dyn_cast<CallExpr>(E)) { // likely(), unlikely()
      const FunctionDecl *Callee = Call->getDirectCallee();
      bool Expects = Callee && Callee->getIdentifier() && Callee->getName() == "__builtin_expect";
      return Expects ? evaluate(Call->getArg(0)) : std::nullopt;
    }
    return constant(E);
  }

  std::optional<int64_t> evaluateBinary(const BinaryOperator *E) {
    if (E->getOpcode() == BO_Assign) {
      const auto *Target = dyn_cast<DeclRefExpr>(E->getLHS()->IgnoreParens());
      const auto *V = Target ? dyn_cast<VarDecl>(Target->getDecl()) : nullptr;
      std::optional<int64_t> Value = evaluate(E->getRHS());
      return V && V->hasLocalStorage() && Value && set(V, *Value) ? Value : std::nullopt;
    }
    if (!E->isLogicalOp() && !E->isComparisonOp())
      return constant(E);
    std::optional<int64_t> Left = evaluate(E->getLHS());
    if (!Left)
      return std::nullopt;
    if (E->isLogicalOp() && bool(*Left) == (E->getOpcode() == BO_LOr))
      return bool(*Left);
    std::optional<int64_t> Right = evaluate(E->getRHS());
    if (!Right)
      return std::nullopt;
    switch (E->getOpcode()) {
    case BO_EQ:
      return *Left == *Right;
    case BO_NE:
      return *Left != *Right;
    case BO_LT:
      return *Left < *Right;
    case BO_GT:
      return *Left > *Right;
    case BO_LE:
      return *Left <= *Right;
    case BO_GE:
      return *Left >= *Right;
    default: // the other side of && and || decides
      return *Right != 0;
    }
  }

  std::optional<int64_t> constant(const Expr *E) const {
    Expr::EvalResult Value;
    if (!E->getType()->isIntegerType() || E->HasSideEffects(Context) ||
        !E->EvaluateAsInt(Value, Context))
      return std::nullopt;
    return Value.Val.getInt().tryExtValue();
  }
};

} // namespace

std::optional<int64_t> callResult(const FunctionDecl *F, ArrayRef<int64_t> Arguments,
                                  const ASTContext &Context) {
  return KnownWay(Context).call(F, Arguments);
}

} // namespace relock
