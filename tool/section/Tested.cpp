// SPDX-License-Identifier: MIT
//
// The locks and unlocks of a normal mutex return 0, in POSIX as in the runtime, as long as the
// mutex exists and the caller's use of it is defined. A delegated section returns which exit it
// took, and no error: so the test goes with the operation, and what it guards, which never runs,
// goes too. Nothing else may depend on that text: no label that would be unused, no variable or
// static function of which it may be the last use, no jump.
#include "section/Tested.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace clang;
using namespace llvm;

namespace relock {

// The value of an expression if Call is 0.
static std::optional<int64_t> valueWithout(const Expr *E, const CallExpr *Call) {
  E = E->IgnoreParenImpCasts();
  if (E == Call)
    return 0;
  if (const auto *Literal = dyn_cast<IntegerLiteral>(E))
    return Literal->getValue().getLimitedValue();
  if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_LNot) {
    std::optional<int64_t> Value = valueWithout(Unary->getSubExpr(), Call);
    return Value ? std::optional<int64_t>(!*Value) : std::nullopt;
  }
  if (const auto *Expect = dyn_cast<CallExpr>(E)) { // likely(), unlikely()
    const FunctionDecl *Callee = Expect->getDirectCallee();
    bool Known = Callee && Callee->getIdentifier() && Callee->getName() == "__builtin_expect";
    return Known ? valueWithout(Expect->getArg(0), Call) : std::nullopt;
  }
  const auto *Binary = dyn_cast<BinaryOperator>(E);
  if (!Binary || (Binary->getOpcode() != BO_NE && Binary->getOpcode() != BO_EQ))
    return std::nullopt;
  std::optional<int64_t> Left = valueWithout(Binary->getLHS(), Call);
  std::optional<int64_t> Right = valueWithout(Binary->getRHS(), Call);
  if (!Left || !Right)
    return std::nullopt;
  return (*Left == *Right) == (Binary->getOpcode() == BO_EQ);
}

// True for statements that can go without a trace.
static bool canGo(const Stmt *Statement) {
  if (isa<LabelStmt>(Statement) || isa<GotoStmt>(Statement) || isa<IndirectGotoStmt>(Statement) ||
      isa<SwitchCase>(Statement) || isa<DeclStmt>(Statement) || isa<StmtExpr>(Statement) ||
      isa<AddrLabelExpr>(Statement))
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement)) {
    const ValueDecl *D = Ref->getDecl();
    if (!isa<EnumConstantDecl>(D) && !D->hasExternalFormalLinkage())
      return false;
  }
  return all_of(Statement->children(), [](const Stmt *Child) { return !Child || canGo(Child); });
}

const IfStmt *testForFailure(const CallExpr *Call, const ParentMap &Parents) {
  const Stmt *Up = Parents.getParent(Call);
  while (isa_and_nonnull<Expr>(Up) && !isa<StmtExpr>(Up))
    Up = Parents.getParent(Up);
  const auto *If = dyn_cast_or_null<IfStmt>(Up);
  if (!If || If->getElse() || !isa_and_nonnull<CompoundStmt>(Parents.getParent(If)))
    return nullptr;
  std::optional<int64_t> Value = valueWithout(If->getCond(), Call);
  return Value && *Value == 0 && canGo(If->getThen()) ? If : nullptr;
}

} // namespace relock
