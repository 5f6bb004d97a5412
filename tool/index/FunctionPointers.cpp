// SPDX-License-Identifier: MIT
#include "index/FunctionPointers.h"

#include "index/LockApi.h"

using namespace clang;
using namespace llvm;

namespace relock {

void FunctionPointers::open(std::string Type) {
  if (OpenTypes.insert(Type).second)
    Facts.OpenTypes.push_back(std::move(Type));
}

void FunctionPointers::takeAddress(const FunctionDecl *F, const std::string &Type) {
  if (TakenFunctions.insert(Type + "|" + nodeFor(F, S)).second)
    Facts.Taken.push_back({Type, nodeFor(F, S), F->getNameAsString()});
}

void FunctionPointers::castToFunction(const CastExpr *Cast, const Expr *Sub,
                                      const std::string &To) {
  const Expr *Inner = Sub->IgnoreParenCasts();
  if (const auto *Address = dyn_cast<UnaryOperator>(Inner);
      Address && Address->getOpcode() == UO_AddrOf)
    Inner = Address->getSubExpr()->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(Inner);
  if (Cast->getCastKind() == CK_LValueToRValue) {
    const auto *Member = dyn_cast<MemberExpr>(Inner);
    const Decl *From = Ref ? Ref->getDecl() : Member ? Member->getMemberDecl() : nullptr;
    if (From && S.inSystemHeader(From->getLocation()))
      open(To);
  } else if (Cast->getCastKind() == CK_BitCast || Cast->getCastKind() == CK_IntegralToPointer) {
    if (const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr)
      takeAddress(F, To);
    else if (Sub->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
      return;
    else if (Sub->getType()->isFunctionPointerType())
      Facts.PointerCasts.push_back({functionTypeText(Sub->getType()), To});
    else
      open(To);
  }
}

void FunctionPointers::recordCallbacks(const FunctionDecl *F, Function &Record) {
  for (const ParmVarDecl *Parameter : F->parameters())
    if (Parameter->getType()->isFunctionPointerType())
      Record.Callbacks.push_back(functionTypeText(Parameter->getType()));
}

void FunctionPointers::cast(const CastExpr *E) {
  const Expr *Sub = E->getSubExpr();
  if (E->getType()->isFunctionPointerType())
    castToFunction(E, Sub, functionTypeText(E->getType()));
  // Somebody may write to the pointer as to something else.
  QualType From = Sub->getType();
  if (E->getCastKind() == CK_BitCast && From->isPointerType() &&
      From->getPointeeType()->isFunctionPointerType())
    open(functionTypeText(From->getPointeeType()));
}

} // namespace relock
