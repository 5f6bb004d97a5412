// SPDX-License-Identifier: MIT
#include "index/ConstantArms.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace clang;
using namespace llvm;

namespace relock {

// True if Is holds for a part that may be evaluated, or jumped to.
static bool anyPart(const Stmt *S, function_ref<bool(const Stmt *)> Is) {
  return S &&
         (Is(S) || (!isa<UnaryExprOrTypeTraitExpr>(S) &&
                    any_of(S->children(), [&](const Stmt *Part) { return anyPart(Part, Is); })));
}

static std::optional<bool> truthOf(const Expr *Condition, const ASTContext &Context) {
  bool Value;
  if (anyPart(Condition, [](const Stmt *Part) { return isa<CallExpr>(Part); }) ||
      !Condition->EvaluateAsBooleanCondition(Value, Context))
    return std::nullopt;
  return Value;
}

SmallVector<const Stmt *, 2> unrunArms(const Stmt *S, const ASTContext &Context) {
  SmallVector<const Stmt *, 2> Arms;
  if (const auto *If = dyn_cast<IfStmt>(S)) {
    if (std::optional<bool> Value = truthOf(If->getCond(), Context))
      Arms.push_back(*Value ? If->getElse() : If->getThen());
  } else if (const auto *Choice = dyn_cast<ConditionalOperator>(S)) {
    if (std::optional<bool> Value = truthOf(Choice->getCond(), Context))
      Arms.push_back(*Value ? Choice->getFalseExpr() : Choice->getTrueExpr());
  } else if (const auto *Binary = dyn_cast<BinaryOperator>(S); Binary && Binary->isLogicalOp()) {
    if (std::optional<bool> Value = truthOf(Binary->getLHS(), Context))
      if (*Value == (Binary->getOpcode() == BO_LOr))
        Arms.push_back(Binary->getRHS());
  } else if (const auto *Chosen = dyn_cast<ChooseExpr>(S)) {
    Arms.push_back(Chosen->isConditionTrue() ? Chosen->getRHS() : Chosen->getLHS());
  } else if (const auto *Generic = dyn_cast<GenericSelectionExpr>(S)) {
    Arms.push_back(Generic->getControllingExpr());
    for (const Expr *Association : Generic->getAssocExprs())
      if (Association != Generic->getResultExpr())
        Arms.push_back(Association);
  }
  erase_if(Arms, [](const Stmt *Arm) {
    return !Arm || anyPart(Arm, [](const Stmt *Part) { return isa<LabelStmt, SwitchCase>(Part); });
  });
  return Arms;
}

} // namespace relock
