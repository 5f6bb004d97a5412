// SPDX-License-Identifier: MIT
//
// Pointers to functions: which functions become one, and where they are kept (FunctionFlow). A call
// through one reaches what is stored where it was read. Members are told apart by name and type,
// not by struct, since C programs read an object as another struct that begins in the same way.
// Where that is not enough, a call reaches the functions whose address becomes a pointer of its
// type, unless such pointers also come from where nobody looks: integers and `void *`, libraries,
// the callers of a function that the program itself does not call.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace relock {

// The call through a pointer that Callee is.
IndirectCall callThrough(const clang::Expr *Callee, clang::SourceLocation At, const Source &S);

class FunctionPointers {
public:
  FunctionPointers(const Source &S, UnitFacts &Facts) : S(S), Facts(Facts) {}

  // Pointers of this type also come from where nobody looks.
  void open(std::string Type);
  void takeAddress(const clang::FunctionDecl *F, const std::string &Type);
  static void recordCallbacks(const clang::FunctionDecl *F, Function &Record);

  // What an expression or declaration does with pointers to functions.
  void cast(const clang::CastExpr *Cast);
  void declare(const clang::FieldDecl *F);
  void initialise(const clang::VarDecl *V);
  void initialise(const clang::CompoundLiteralExpr *Literal);
  void assign(const clang::BinaryOperator *Assignment);
  void addressOf(const clang::Expr *Object);
  void subscript(const clang::ArraySubscriptExpr *E) {
    Indexed.insert(E->getBase()->IgnoreParenImpCasts());
  }
  void call(const clang::CallExpr *Call);
  void atomic(const clang::AtomicExpr *E);
  // Node is another name of the function.
  void alias(const std::string &Node, const clang::FunctionDecl *F);
  void returned(const clang::FunctionDecl *F, const clang::Expr *Value);

private:
  const Source &S;
  UnitFacts &Facts;
  llvm::StringSet<> OpenTypes, TakenFunctions, Flows; // that Facts has already
  llvm::SmallPtrSet<const clang::Expr *, 8> Indexed;  // arrays of which one element is used

  void takeAddress(std::string Node, std::string Name, const std::string &Type);
  void castToFunction(const clang::CastExpr *Cast, const clang::Expr *Sub, const std::string &To);
  void castRecords(const clang::RecordDecl *From, const clang::RecordDecl *To);
  void initialise(clang::QualType T, const clang::Expr *Value, const std::string &Slot);
  void store(const clang::Expr *Value, const std::string &Slot);
  void storeCast(const clang::CastExpr *Cast, const std::string &Slot);
  void flow(std::string From, std::string To, std::string Function = "");
  void join(const std::string &A, const std::string &B);
};

} // namespace relock
