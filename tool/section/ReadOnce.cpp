// SPDX-License-Identifier: MIT
#include "section/ReadOnce.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

// From C23 on, a struct with a name, and an enumeration, may be defined again as it was.
static bool isDefinedOnce(const Decl *D, const LangOptions &Language) {
  if (const auto *F = dyn_cast<FunctionDecl>(D))
    return F->doesThisDeclarationHaveABody();
  const auto *Type = dyn_cast<TagDecl>(D);
  return Type && Type->isThisDeclarationADefinition() &&
         (!Language.C23 || (!Type->getIdentifier() && Type->getTypedefNameForAnonDecl()));
}

// True if whoever reads the text at a place of a file has also read that at the other one, or will:
// no directive between them is of a condition that only the other one stands under.
static bool isReadWith(SourceLocation At, SourceLocation Other, const Source &S) {
  const unsigned A = S.SM.getFileOffset(At), B = S.SM.getFileOffset(Other);
  const FileID ID = S.SM.getFileID(At);
  StringRef File = S.fileText(ID);
  Lexer Raw(S.SM.getLocForStartOfFile(ID), S.Language, File.begin(), File.begin() + std::min(A, B),
            File.end());
  int Depth = 0, Least = 0;
  bool Divided = false; // by an `#else` at the least depth
  Token Current;
  Raw.LexFromRawLexer(Current);
  while (Current.isNot(tok::eof) && S.SM.getFileOffset(Current.getLocation()) < std::max(A, B)) {
    const bool Directive = Current.is(tok::hash) && Current.isAtStartOfLine();
    Raw.LexFromRawLexer(Current);
    if (!Directive || Current.isNot(tok::raw_identifier))
      continue;
    StringRef Word = Current.getRawIdentifier();
    if (Word.starts_with("if"))
      ++Depth;
    else if (Word == "endif")
      --Depth;
    if (Depth < Least)
      Least = Depth, Divided = false;
    Divided |= Word.starts_with("el") && Depth == Least;
  }
  return (A < B ? Depth : 0) == Least && !Divided;
}

bool isReadOnce(SourceLocation At, const Source &S) {
  return S.readOnce(At) || any_of(S.Context.getTranslationUnitDecl()->decls(), [&](const Decl *D) {
           const SourceLocation Begin = D->getBeginLoc();
           return isDefinedOnce(D, S.Language) && Begin.isFileID() && S.sameFile(Begin, At) &&
                  isReadWith(At, Begin, S);
         });
}

} // namespace relock
