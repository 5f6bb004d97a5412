// SPDX-License-Identifier: MIT
//
// From Clang's locations to places in files that can be edited.
#pragma once

#include "index/Records.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/SourceManager.h"

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <utility>
#include <vector>

namespace relock {

class Source {
public:
  explicit Source(clang::ASTContext &Context, clang::Preprocessor *PP = nullptr)
      : SM(Context.getSourceManager()), Language(Context.getLangOpts()), Context(Context), PP(PP) {}

  // Where the reader sees it: the macro invocation for text that comes from a macro.
  Position shown(clang::SourceLocation L) const;
  // Where the characters stand: in the body of the macro for text that comes from there.
  Position spelled(clang::SourceLocation L) const;

  // True if the token at L is spelled where the reader sees it (a file, or a macro argument).
  bool inFile(clang::SourceLocation L) const;
  // True if the token at L is the argument of a macro that may make a string of it, or paste it:
  // then its spelling is part of the program's meaning.
  bool stringified(clang::SourceLocation L) const;
  // True if the macro that this name is at a place in the text makes text or parts of names of an
  // argument.
  bool makesText(llvm::StringRef Macro, clang::SourceLocation Use) const;
  // The macro of this name as it is defined at a place in the text; null: none.
  const clang::MacroInfo *macroAt(llvm::StringRef Name, clang::SourceLocation L) const;
  // True if the name is the same macro at both places, or none: headers define `NULL` again and
  // again. What its body names may still differ.
  bool isSameMacro(llvm::StringRef Name, clang::SourceLocation A, clang::SourceLocation B) const;
  // The first name that Test is true for, of this one, those in the body of the macro that it is at
  // a place in the text, those in the bodies of these, and so on; empty: none. Seen: those that
  // were looked at.
  llvm::StringRef nameReached(llvm::StringRef Name, clang::SourceLocation Use,
                              llvm::function_ref<bool(llvm::StringRef)> Test,
                              llvm::StringSet<> &Seen) const;
  // True if a name that is a macro anywhere in the unit begins so.
  bool beginsMacro(llvm::StringRef Prefix) const;
  bool inSystemHeader(clang::SourceLocation L) const;
  // True if the file of that place guards itself against being read twice.
  bool readOnce(clang::SourceLocation L) const;
  // True if the reader sees both places in one file.
  bool sameFile(clang::SourceLocation A, clang::SourceLocation B) const;
  // False for text that no file has (pasted tokens, the command line).
  bool editable(clang::SourceLocation L) const;

  // The characters of a range of tokens that is wholly spelled in one file, widened to whole
  // macro invocations: [first, second) in offsets of its file.
  struct Range {
    clang::FileID File;
    unsigned Begin = 0, End = 0;
  };
  std::optional<Range> range(clang::SourceRange Tokens) const;
  llvm::StringRef text(const Range &R) const;
  llvm::StringRef fileText(clang::FileID File) const;
  Position position(clang::FileID File, unsigned Offset) const;
  unsigned tokenLength(clang::SourceLocation L) const;
  std::string filePath(clang::FileID File) const;

  // Text for an expression: as spelled where it is spelled in one piece, in a file or in the body
  // of a macro that is used there, else printed.
  std::string expressionText(const clang::Expr *E) const;

  const clang::SourceManager &SM;
  const clang::LangOptions &Language;
  clang::ASTContext &Context;

private:
  clang::Preprocessor *PP;                                        // may be null
  mutable std::optional<std::vector<llvm::StringRef>> MacroNames; // sorted
};

// The place of a location in a file.
Position filePosition(const clang::SourceManager &SM, clang::SourceLocation L);

// What an unnamed struct or union is declared together with: a member, variable, typedef or
// function. Null if the type has a name, or stands for itself.
const clang::NamedDecl *declaredWith(const clang::RecordDecl *Record);
// The type whose member it is in C: that around anonymous structs and unions.
const clang::RecordDecl *recordOf(const clang::FieldDecl *Field);

// The name by which other translation units know a declaration. Unlike a plain USR it keeps
// statics of equally named files apart, and does not depend on places in a file.
std::string nodeFor(const clang::Decl *D, const Source &S);
// Of a function of that name which other units can call.
std::string nodeOfFunction(llvm::StringRef Name);
// True if Inner is the statement, or a part of it.
bool contains(const clang::Stmt *Statement, const clang::Stmt *Inner);

// True for what computes in floating point, and for an address of such numbers: `scanf("%lf", &d)`.
bool isFloat(clang::QualType Type);
// What a store to this expression changes: a variable, a field, or an element of either; or null,
// where it is what a pointer points to.
const clang::ValueDecl *storedDeclaration(const clang::Expr *E);
// The name of a struct type, for stores that overwrite it as a whole; empty for other types.
std::string recordNode(clang::QualType T, const Source &S);
std::string parameterNode(llvm::StringRef FunctionNode, unsigned Index);
// Of all functions of the type (functionTypeText()) that are called through a pointer.
std::string pointerParameter(llvm::StringRef FunctionType, unsigned Index);
// The type, if the node is such a parameter's.
std::optional<std::string> typeOfPointerParameter(llvm::StringRef Node);
std::string resultNode(llvm::StringRef FunctionNode);
std::string tokenNode(const Position &At);
// Of all integers that were the address of a lock, or become one.
inline constexpr llvm::StringLiteral IntegersNode = "N:";

} // namespace relock
