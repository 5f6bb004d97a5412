// SPDX-License-Identifier: MIT
//
// Statements are followed by their kinds alone, as a reader would: both arms of each `if`, each
// case of a switch, a loop any number of times. Conditions are not evaluated, except a loop's
// constant one. So a path may be assumed that the program never takes, and none is forgotten.
#include "index/Completion.h"

#include "index/LockApi.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class Completion {
public:
  explicit Completion(StatementTest Stops) : Stops(Stops) {}

  // BreakLeaves: set where a break leaves the loop or switch around S.
  bool completes(const Stmt *S, bool &BreakLeaves) const {
    if (!S)
      return true;
    if (Stops(S))
      return false;
    if (isa<BreakStmt>(S)) {
      BreakLeaves = true;
      return false;
    }
    if (isa<ReturnStmt>(S) || isa<GotoStmt>(S) || isa<ContinueStmt>(S))
      return false;
    if (const auto *Label = dyn_cast<LabelStmt>(S))
      return completes(Label->getSubStmt(), BreakLeaves);
    if (const auto *Case = dyn_cast<SwitchCase>(S))
      return completes(Case->getSubStmt(), BreakLeaves);
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      return completesBlock(Block, BreakLeaves);
    if (const auto *If = dyn_cast<IfStmt>(S)) {
      bool Then = completes(If->getThen(), BreakLeaves);
      return completes(If->getElse(), BreakLeaves) || Then;
    }
    if (const auto *Switch = dyn_cast<SwitchStmt>(S)) {
      bool Left = false;
      bool Falls = completes(Switch->getBody(), Left);
      return Falls || Left || !hasDefault(Switch);
    }
    if (const auto *For = dyn_cast<ForStmt>(S))
      return completesLoop(For->getCond(), For->getBody());
    if (const auto *While = dyn_cast<WhileStmt>(S))
      return completesLoop(While->getCond(), While->getBody());
    if (isa<DoStmt>(S))
      return completesDo(cast<DoStmt>(S));
    const CallExpr *Call = soleCall(S);
    return !Call || !neverReturns(Call);
  }

private:
  StatementTest Stops;

  static bool neverReturns(const CallExpr *Call) {
    if (const FunctionDecl *Callee = Call->getDirectCallee())
      return Callee->isNoReturn();
    QualType Callee = Call->getCallee()->getType()->getPointeeType();
    const auto *Through = Callee.isNull() ? nullptr : Callee->getAs<clang::FunctionType>();
    return Through && Through->getNoReturnAttr();
  }

  bool completesBlock(const CompoundStmt *Block, bool &BreakLeaves) const {
    bool Reached = true;
    for (const Stmt *Child : Block->body())
      if (Reached || entered(Child))
        Reached = completes(Child, BreakLeaves);
    return Reached;
  }

  // A loop without condition ends by a break only.
  bool completesLoop(const Expr *Condition, const Stmt *Body) const {
    bool Left = false;
    completes(Body, Left);
    const auto *Literal =
        Condition ? dyn_cast<IntegerLiteral>(Condition->IgnoreParenImpCasts()) : nullptr;
    return Left || (Condition && !(Literal && Literal->getValue() != 0));
  }

  bool completesDo(const DoStmt *Do) const {
    bool Left = false;
    bool Falls = completes(Do->getBody(), Left);
    return Falls || Left || continues(Do->getBody());
  }

  static bool continues(const Stmt *S) {
    if (!S || isa<ForStmt>(S) || isa<WhileStmt>(S) || isa<DoStmt>(S))
      return false;
    return isa<ContinueStmt>(S) || any_of(S->children(), continues);
  }

  static bool entered(const Stmt *S) {
    return S && (isa<LabelStmt>(S) || isa<SwitchCase>(S) || any_of(S->children(), entered));
  }

  static bool hasDefault(const SwitchStmt *Switch) {
    for (const SwitchCase *Case = Switch->getSwitchCaseList(); Case;
         Case = Case->getNextSwitchCase())
      if (isa<DefaultStmt>(Case))
        return true;
    return false;
  }
};

} // namespace

bool completes(const Stmt *S, StatementTest Stops) {
  bool Left = false;
  return Completion(Stops).completes(S, Left);
}

} // namespace relock
