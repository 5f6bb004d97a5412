// SPDX-License-Identifier: MIT
//
// A hoisted variable lives longer than it did, and its address is the same to the section, the
// unlocked work and what follows. That is sound where the declaration does nothing but to assign,
// and where no other name is hidden by the variable in its larger scope.
#include "section/Hoist.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/DiagnosticSema.h"

using namespace clang;
using namespace llvm;

namespace relock {

const DeclStmt *declarationOf(const VarDecl *V, const Stmt *In) {
  if (!In)
    return nullptr;
  if (const auto *D = dyn_cast<DeclStmt>(In); D && is_contained(D->decls(), V))
    return D;
  for (const Stmt *Child : In->children())
    if (const DeclStmt *Found = declarationOf(V, Child))
      return Found;
  return nullptr;
}

// True if the name means something else in a statement, which that does not declare itself.
static bool namesAnother(const VarDecl *V, const Stmt *In, const CompoundStmt *Whole) {
  if (!In)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(In)) {
    const ValueDecl *D = Ref->getDecl();
    const auto *Other = dyn_cast<VarDecl>(D);
    if (D != V && D->getDeclName() == V->getDeclName() &&
        !(Other && Other->isLocalVarDecl() && declarationOf(Other, Whole)))
      return true;
  }
  return any_of(In->children(), [&](const Stmt *Child) { return namesAnother(V, Child, Whole); });
}

// True if nothing else has the name in the scope that the variable gets. Within: the block of the
// lock, where the variable is of that block already; others in it hide the variable as they did.
static bool isUnique(const VarDecl *V, const FunctionDecl *F, const CompoundStmt *Within,
                     const Source &S) {
  auto Named = [&](const Decl *D) {
    const auto *Other = dyn_cast<NamedDecl>(D);
    return Other && Other != V && Other->getDeclName() == V->getDeclName() &&
           (!Within || !isa<VarDecl>(D));
  };
  for (const NamedDecl *D : S.Context.getTranslationUnitDecl()->lookup(V->getDeclName()))
    if (isa<TypedefNameDecl>(D)) // tags have names of their own
      return false;
  return none_of(F->decls(), Named) && !namesAnother(V, Within ? Within : F->getBody(), Within);
}

QualType hoistedType(const VarDecl *V) {
  QualType T = V->getType();
  T.removeLocalConst();
  return T;
}

static bool assignable(const VarDecl *V, const Source &S) {
  QualType T = hoistedType(V);
  const auto *Record = T->getAs<RecordType>();
  if (!V->hasLocalStorage() || V->hasAttrs() || V->getStorageClass() == SC_Register ||
      T.isConstQualified() || T->isAtomicType() || T->isVariablyModifiedType() ||
      !spellable(T, S.Context) || !arrayText(V, 0, V->getLocation(), S) ||
      (Record && Record->hasConstFields()) || !S.inFile(V->getLocation()))
    return false;
  if (!V->hasInit())
    return true;
  const Expr *Initial = V->getInit()->IgnoreImplicit();
  return !T->isArrayType() && !isa<InitListExpr>(Initial) && S.range(Initial->getSourceRange());
}

const DeclStmt *hoistable(const VarDecl *V, const SectionText &Text, const FunctionDecl *F,
                          const std::vector<Mention> &All, const ParentMap &Parents,
                          const Source &S) {
  const DeclStmt *Statement = nullptr;
  for (const Stmt *Child : Text.Statements)
    if (!Statement)
      Statement = declarationOf(V, Child);
  const auto *Block = Statement ? dyn_cast<CompoundStmt>(Parents.getParent(Statement)) : nullptr;
  const CompoundStmt *OfLock = is_contained(Text.Statements, Statement) ? Block : nullptr;
  if (!Block || !beginsWithType(Statement, V, S) || Statement->getEndLoc().isMacroID())
    return nullptr;
  auto Contains = [&](const std::vector<const Stmt *> &Statements, const Stmt *Inner) {
    while (Inner && !is_contained(Statements, Inner))
      Inner = Parents.getParent(Inner);
    return Inner != nullptr;
  };
  for (const Decl *D : Statement->decls()) {
    const auto *Variable = dyn_cast<VarDecl>(D);
    if (!Variable || !assignable(Variable, S) || !isUnique(Variable, F, OfLock, S))
      return nullptr;
    // A variable of another section may move there, with its declaration.
    if (!Variable->hasInit() && none_of(All, [&](const Mention &M) {
          return M.Variable == Variable && Contains(Text.Statements, M.Ref) &&
                 !Contains(Text.Outside, M.Ref);
        }))
      return nullptr;
  }
  return Statement;
}

// Its bounds, too, are written as they were.
static std::string hoistedDeclaration(const VarDecl *V, SourceLocation At, const Source &S) {
  if (!V->getType()->isArrayType())
    return declarationText(asWritten(hoistedType(V), V, At, S), V->getName(), At, S);
  std::optional<ArrayText> Array = arrayText(V, 0, At, S);
  return declarationText(asWritten(Array->Element, V, At, S), (V->getName() + Array->Bounds).str(),
                         At, S);
}

void placeHoisted(const SectionText &Text, const FunctionDecl *F, const Source &S,
                  Extraction &Result) {
  for (const DeclStmt *Statement : Text.Hoisted) {
    KeptDeclaration Kept;
    std::optional<Source::Range> Whole = S.range(Statement->getSourceRange());
    Kept.At = {Whole->Begin, Whole->End};
    Kept.Lines = wholeLines(Kept.At, S.fileText(Whole->File));
    for (const Decl *D : Statement->decls()) {
      const auto *V = cast<VarDecl>(D);
      Result.Hoisted.push_back(hoistedDeclaration(V, F->getBeginLoc(), S) + ";");
      noteLockType(V, S, Result);
      if (!V->hasInit())
        continue;
      std::optional<Source::Range> R = S.range(V->getInit()->IgnoreImplicit()->getSourceRange());
      Kept.Values.push_back({V->getNameAsString(), "", {R->Begin, R->End}});
    }
    Result.Kept.push_back(std::move(Kept));
  }
}

bool mixesDeclarations(const FunctionDecl *F, const Source &S) {
  return S.Language.C99 && S.Context.getDiagnostics().isIgnored(diag::warn_mixed_decls_code,
                                                                F->getBody()->getBeginLoc());
}

} // namespace relock
