// SPDX-License-Identifier: MIT
#include "index/Aliases.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using namespace llvm;

namespace relock {

void SymbolVersions::watch(Preprocessor &PP) {
  enum { Nowhere, Keyword, Argument } State = Nowhere;
  PP.setTokenWatcher([this, State, &PP, &SM = PP.getSourceManager()](const Token &T) mutable {
    const IdentifierInfo *Word = T.isAnnotation() ? nullptr : T.getIdentifierInfo();
    if (Word && (Word->isStr("symver") || Word->isStr("__symver__"))) {
      State = Keyword;
    } else if (State == Keyword && T.is(tok::l_paren)) {
      State = Argument;
      Found.push_back({SM.getExpansionLoc(T.getLocation()), ""});
    } else if (State == Argument && T.is(tok::string_literal)) {
      Found.back().Name += StringRef(PP.getSpelling(T)).trim('"');
    } else {
      State = Nowhere;
    }
  });
}

// It stands before the declarator or behind it, so it belongs to what begins last before it.
std::vector<SymbolVersions::Attribute> SymbolVersions::of(const FunctionDecl *F) const {
  if (Found.empty())
    return {};
  const SourceManager &SM = F->getASTContext().getSourceManager();
  auto BeginsBefore = [&SM](const Decl *D, const Attribute &A) {
    SourceLocation Begin = SM.getExpansionLoc(D->getBeginLoc());
    return Begin == A.At || SM.isBeforeInTranslationUnit(Begin, A.At);
  };
  const Decl *Next = F->getNextDeclInContext();
  while (Next && Next->isImplicit())
    Next = Next->getNextDeclInContext();
  std::vector<Attribute> Own;
  for (const Attribute &A : Found)
    if (BeginsBefore(F, A) && !(Next && BeginsBefore(Next, A)))
      Own.push_back({A.At, StringRef(A.Name).split('@').first.str()});
  return Own;
}

std::vector<VersionedName> versionedNames(const FileScopeAsmDecl *Asm) {
  static const Regex Directive("^[[:space:]]*\\.symver[[:space:]]+([^[:space:],]+)[[:space:]]*,"
                               "[[:space:]]*([^@[:space:]]+)@");
  std::vector<VersionedName> Names;
  SmallVector<StringRef, 4> Statements, Parts;
  SplitString(Asm->getAsmString()->getString(), Statements, ";\n");
  for (StringRef Statement : Statements)
    if (Directive.match(Statement, &Parts))
      Names.push_back({Parts[2].str(), Parts[1].str()});
  return Names;
}

} // namespace relock
