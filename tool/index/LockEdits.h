// SPDX-License-Identifier: MIT
//
// The text that changes with a lock: the type in its declaration, its initialiser, and the name of
// the function in each operation, which may stand in a macro.
#pragma once

#include "index/Configuration.h"
#include "index/FactWriter.h"

#include "clang/AST/Expr.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>

namespace relock {

class LockEdits {
public:
  LockEdits(FactWriter &Out, const Configurations &Texts)
      : Out(Out), S(Out.S), Texts(Texts), Facts(Out.Facts) {}

  // A statement of a block, which may be a call as a whole: before the call is renamed.
  void visitStatement(const clang::Stmt *Statement);

  // The token that names the type: it must change with the declaration, and so must every other
  // declaration that shares it.
  void typeToken(clang::TypeLoc Spelled, const std::string &Node, clang::SourceLocation At);
  // `sizeof(pthread_mutex_t)` below an expression.
  void sizeTokens(const clang::Stmt *E, const std::string &Node);
  // A static initialiser such as PTHREAD_MUTEX_INITIALIZER.
  void initialiser(const clang::InitListExpr *List, const std::string &Node);
  // A variable without any, that is, contains, or is an array of, a mutex.
  void zeroFilled(const clang::VarDecl *V);
  // A list that leaves out a mutex of its struct.
  void leftOut(const clang::InitListExpr *List, const clang::FieldDecl *Mutex);
  // The place where the function's name is spelled, or the whole invocation where a macro is just
  // another name for the function and takes the lock as its argument: such a macro may serve
  // locks that are converted and locks that are not.
  void renameCall(const clang::CallExpr *Call, const clang::DeclRefExpr *CalleeRef,
                  llvm::StringRef Name, const clang::Expr *Operand, const std::string &Node);
  // A call of a function of the program, which may be no more than another name for one of POSIX.
  // Record: what is known of it but for its text.
  void called(const clang::CallExpr *Call, LockCall Record);
  void calledLater(const clang::DeclRefExpr *Handler, LockCall Record);
  // The function's name where it is not called but handed on, to be called with that lock.
  void renameHandler(const clang::DeclRefExpr *Handler, llvm::StringRef Name,
                     const std::string &Node);

private:
  // A mutex in an object, and the designators that lead there.
  struct Member {
    std::string Node, Way;
  };

  FactWriter &Out;
  const Source &S;
  const Configurations &Texts;
  UnitFacts &Facts;
  llvm::DenseMap<const clang::CallExpr *, const clang::Stmt *> WholeStatement;

  void name(const clang::DeclRefExpr *Callee, LockCall &Record);
  void ownName(clang::SourceLocation L, const clang::TypedefNameDecl *Typedef,
               const std::string &Node, clang::SourceLocation At);
  bool hasDesignators(clang::SourceLocation At) const;
  bool isConditional(const clang::FieldDecl *Field) const;
  void nameUnlessNamed(clang::FileID File, unsigned Offset, std::string Text,
                       const std::string &Node, const std::string &Variable);
  bool findMutex(clang::TypeLoc Spelled, const std::string &Node, std::string Way,
                 std::vector<Member> &Found);
  std::optional<std::string> wholeArray(clang::ArrayTypeLoc Array) const;
  void zeroInitialiser(const clang::InitListExpr *List, const std::string &Node);
  std::optional<unsigned> endOfDeclarator(clang::SourceLocation Name) const;
  bool replaceWholeMacro(const clang::InitListExpr *List, llvm::StringRef Replacement,
                         const std::string &Node);
  void sharedInsert(clang::SourceLocation L, std::string Text, const std::string &Node);
  clang::SourceLocation behindArguments(const clang::CallExpr *Call) const;
  bool replaceTypeMacro(clang::SourceLocation Body, llvm::StringRef Name, const std::string &Node);
  bool replaceInvocation(const clang::CallExpr *Call, clang::SourceLocation Body,
                         llvm::StringRef Name, const std::string &Node);
  bool operateThroughMacro(clang::SourceLocation Body, llvm::StringRef Name,
                           const std::string &Node);
  void keepArguments(Source::Range &Invocation, llvm::StringRef Arguments, std::string &Text);
  bool initialiseThroughMacro(const clang::CallExpr *Call, clang::SourceLocation Body,
                              bool OperandInFile, const std::string &Node);
  std::optional<std::string> writtenOut(const clang::CallExpr *Call, clang::SourceLocation Body);
  std::string argumentText(const clang::Expr *Argument);
  bool exactInvocation(clang::SourceRange Tokens);
};

} // namespace relock
