// SPDX-License-Identifier: MIT
#include "section/StaticUses.h"

#include "index/LockApi.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"

using namespace clang;
using namespace llvm;

namespace relock {

bool StaticUses::named(const NamedDecl *D) {
  if (!Known)
    collect();
  return Known->contains(D->getCanonicalDecl());
}

void StaticUses::collect() {
  Known.emplace();
  for (const Decl *D : S.Context.getTranslationUnitDecl()->decls()) {
    const auto *V = dyn_cast<VarDecl>(D);
    const auto *F = dyn_cast<FunctionDecl>(D);
    const Stmt *Text = V                                        ? V->getInit()
                       : F && F->doesThisDeclarationHaveABody() ? F->getBody()
                                                                : nullptr;
    Names Found;
    if (!Text || S.inSystemHeader(D->getLocation()) || !collect(Text, Found))
      continue;
    Found.erase(D->getCanonicalDecl());
    Known->insert(Found.begin(), Found.end());
  }
}

// False: there is a lock operation.
bool StaticUses::collect(const Stmt *Text, Names &Found) const {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Text))
    Found.insert(Ref->getDecl()->getCanonicalDecl());
  if (const auto *Call = dyn_cast<CallExpr>(Text))
    if (const FunctionDecl *Callee = Call->getDirectCallee();
        Callee && Callee->getIdentifier() &&
        (lockFunction(Callee->getName()) || Linked.wrapperOf(nodeFor(Callee, S))))
      return false;
  return all_of(Text->children(),
                [&](const Stmt *Child) { return !Child || collect(Child, Found); });
}

} // namespace relock
