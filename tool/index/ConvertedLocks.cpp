// SPDX-License-Identifier: MIT
#include "index/ConvertedLocks.h"

#include "clang/AST/Type.h"

using namespace clang;
using namespace llvm;

namespace relock {

static constexpr StringRef ClassPrefix = "relock_class_";

std::optional<ConvertedClass> convertedClass(const VarDecl *V) {
  StringRef Identifier = V->getName();
  const auto *List = dyn_cast_or_null<InitListExpr>(V->getInit());
  if (!Identifier.consume_front(ClassPrefix) || !List || !List->getNumInits())
    return std::nullopt;
  const auto *Name = dyn_cast<clang::StringLiteral>(List->getInit(0)->IgnoreParenImpCasts());
  bool IsClass = V->getType().getUnqualifiedType().getAsString() == "relock_class_t";
  if (!Name || !IsClass)
    return std::nullopt;
  return ConvertedClass{Identifier.str(), Name->getString().str()};
}

const ValueDecl *convertedLock(const Expr *Operand) {
  Operand = Operand->IgnoreParenCasts();
  if (const auto *Unary = dyn_cast<UnaryOperator>(Operand))
    return convertedLock(Unary->getSubExpr());
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Operand))
    return convertedLock(Subscript->getBase());
  if (const auto *Sum = dyn_cast<BinaryOperator>(Operand); Sum && Sum->isAdditiveOp())
    return convertedLock(Sum->getLHS()->getType()->isPointerType() ? Sum->getLHS() : Sum->getRHS());
  if (const auto *Member = dyn_cast<MemberExpr>(Operand))
    return Member->getMemberDecl();
  const auto *Ref = dyn_cast<DeclRefExpr>(Operand);
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

// `&relock_class_queue_lock`: queue_lock; empty: the default class, or one that is computed.
static std::string namedClass(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Address = dyn_cast<UnaryOperator>(E))
    E = Address->getSubExpr()->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  StringRef Name = Ref && isa<VarDecl>(Ref->getDecl()) ? Ref->getDecl()->getName() : "";
  return Name.consume_front(ClassPrefix) ? Name.str() : "";
}

static const Expr *firstValue(const Expr *E) {
  const auto *List = dyn_cast<InitListExpr>(E);
  return List && List->getNumInits() ? firstValue(List->getInit(0)) : E;
}

static void recordIn(const ValueDecl *D, QualType T, const Expr *Init, const Source &S,
                     UnitFacts &Facts) {
  Init = Init->IgnoreParenImpCasts();
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Init))
    Init = Literal->getInitializer();
  const auto *List = dyn_cast<InitListExpr>(Init);
  if (!List)
    return;
  if (const InitListExpr *Semantic = List->getSemanticForm())
    List = Semantic;
  if (const auto *Array = T->getAsArrayTypeUnsafe()) {
    for (const Expr *Sub : List->inits())
      recordIn(D, Array->getElementType(), Sub, S, Facts);
    return;
  }
  const auto *Record = T->getAs<RecordType>();
  if (!Record)
    return;
  if (Record->getDecl()->getName() == "relock_mutex") {
    Facts.ClassUses.push_back({nodeFor(D, S), namedClass(firstValue(List))});
    return;
  }
  if (Record->isUnionType()) {
    if (const FieldDecl *Field = List->getInitializedFieldInUnion(); Field && List->getNumInits())
      recordIn(Field, Field->getType(), List->getInit(0), S, Facts);
    return;
  }
  unsigned Index = 0;
  for (const FieldDecl *Field : Record->getDecl()->fields()) {
    if (Field->isUnnamedBitField())
      continue;
    if (Index >= List->getNumInits())
      break;
    if (const Expr *Sub = List->getInit(Index++))
      recordIn(Field, Field->getType(), Sub, S, Facts);
  }
}

void recordClassUses(const ValueDecl *D, const Expr *Init, const Source &S, UnitFacts &Facts) {
  recordIn(D, D->getType(), Init, S, Facts);
}

void recordClassUse(const CallExpr *Call, const Source &S, UnitFacts &Facts) {
  if (Call->getNumArgs() == 3)
    if (const ValueDecl *Lock = convertedLock(Call->getArg(0)))
      Facts.ClassUses.push_back({nodeFor(Lock, S), namedClass(Call->getArg(2))});
}

} // namespace relock
