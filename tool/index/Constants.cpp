// SPDX-License-Identifier: MIT
#include "index/Constants.h"

#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class ConstantReader {
public:
  explicit ConstantReader(ASTContext &Context) : Context(Context) {}

  bool read(const Expr *E) {
    Expr::EvalResult Known;
    if (E->EvaluateAsInt(Known, Context)) { // as it is converted to what it is for
      std::optional<int64_t> Value = Known.Val.getInt().tryExtValue();
      if (Value)
        Found.insert(*Value);
      return Value.has_value();
    }
    E = E->IgnoreParenImpCasts();
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return read(Choice->getTrueExpr()) && read(Choice->getFalseExpr());
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && readVariable(V);
  }

  std::set<int64_t> Found;

private:
  ASTContext &Context;
  std::set<const VarDecl *> Variables;

  bool readVariable(const VarDecl *V) {
    if (isa<ParmVarDecl>(V) || V->getFormalLinkage() == Linkage::External ||
        !V->getType()->isIntegralOrEnumerationType() || V->getType().isVolatileQualified())
      return false;
    return !Variables.insert(V->getCanonicalDecl()).second || Writes(*this, V).all();
  }

  // Follows all that a unit does with a variable.
  class Writes : public RecursiveASTVisitor<Writes> {
  public:
    Writes(ConstantReader &Reader, const VarDecl *V) : Reader(Reader), V(V->getCanonicalDecl()) {}

    bool all() {
      return TraverseDecl(Reader.Context.getTranslationUnitDecl()) && Harmless == References;
    }

    bool VisitVarDecl(VarDecl *D) {
      if (D->getCanonicalDecl() != V)
        return true;
      if (D->hasInit())
        return Reader.read(D->getInit());
      if (D->hasGlobalStorage())
        Reader.Found.insert(0);
      return true;
    }

    bool VisitBinaryOperator(BinaryOperator *E) {
      if (E->getOpcode() != BO_Assign || !names(E->getLHS()->IgnoreParens()))
        return true;
      ++Harmless;
      return Reader.read(E->getRHS());
    }

    bool VisitImplicitCastExpr(ImplicitCastExpr *E) {
      Harmless += E->getCastKind() == CK_LValueToRValue && names(E->getSubExpr()->IgnoreParens());
      return true;
    }

    bool VisitDeclRefExpr(DeclRefExpr *E) {
      References += names(E);
      return true;
    }

  private:
    ConstantReader &Reader;
    const VarDecl *V;
    unsigned References = 0, Harmless = 0;

    bool names(const Expr *E) const {
      const auto *Ref = dyn_cast<DeclRefExpr>(E);
      return Ref && Ref->getDecl()->getCanonicalDecl() == V;
    }
  };
};

// Counts what a function does with a parameter.
class Reads : public RecursiveASTVisitor<Reads> {
public:
  explicit Reads(const ParmVarDecl *P) : P(P) {}

  bool VisitImplicitCastExpr(ImplicitCastExpr *E) {
    Read += E->getCastKind() == CK_LValueToRValue && names(E->getSubExpr()->IgnoreParens());
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    References += names(E);
    return true;
  }

  unsigned References = 0, Read = 0;

private:
  const ParmVarDecl *P;

  bool names(const Expr *E) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    return Ref && Ref->getDecl() == P;
  }
};

} // namespace

const ParmVarDecl *givenByCaller(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
  const auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  if (!F || !F->hasBody())
    return nullptr;
  Reads All(P);
  All.TraverseStmt(F->getBody());
  return All.References == All.Read ? P : nullptr;
}

std::optional<std::set<int64_t>> constantsOf(const Expr *E, ASTContext &Context) {
  ConstantReader Reader(Context);
  if (!Reader.read(E))
    return std::nullopt;
  return std::move(Reader.Found);
}

} // namespace relock
