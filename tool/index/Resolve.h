// SPDX-License-Identifier: MIT
//
// From an expression to the node of the lock that it names, or that a pointer points to. A leaf is
// an expression that names a mutex or a condition variable: what has resolved none at the end uses
// it in a way that is not followed.
#pragma once

#include "index/FactWriter.h"
#include "index/LockEdits.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <set>
#include <string>

namespace relock {

// A local variable or parameter of type `void *`, of the program's own.
bool isUntyped(const clang::VarDecl *V, const Source &S);
// The one that an expression is; null: none.
const clang::VarDecl *untypedVariable(const clang::Expr *E, const Source &S);
// The program's own, and returns a `void *`.
bool returnsUntyped(const clang::FunctionDecl *F, const Source &S);

class Resolver {
public:
  Resolver(FactWriter &Out, LockEdits &Edits)
      : Out(Out), Edits(Edits), S(Out.S), Facts(Out.Facts) {}

  // The node of a mutex (or of what a pointer to one points to); empty for null and for fresh
  // memory. What cannot be followed becomes a node of its own, with an escape.
  std::string resolve(const clang::Expr *E);
  // Such a node.
  std::string opaque(const clang::Expr *E);
  // Such a node, of a lock that an earlier rewrite has converted.
  std::string unconverted(const clang::Expr *E);
  // An object of that node is created by a file-scope or local initialiser.
  void initialise(clang::QualType T, const clang::Expr *Init, const std::string &Node);
  // The function gets the address of the variable when that goes out of scope.
  void cleanUp(const clang::VarDecl *V, const clang::FunctionDecl *F);
  // The function, of one parameter, gets the value; whose node is returned.
  std::string handOn(const clang::Expr *Value, const clang::FunctionDecl *F);

  // The expression's value goes nowhere, or where it goes is recorded.
  void setResolved(const clang::Expr *E) { Resolved.insert(E); }
  bool isResolved(const clang::Expr *E) const { return Resolved.contains(E); }
  std::string leafNode(const clang::Expr *Leaf);

  // It can be a pointer again only where one is made of an integer.
  void becomesInteger(const clang::Expr *Pointer);

  // --- Mutexes as `void *`: results, local variables and parameters ----------------------------
  void flowUntyped(const clang::Expr *From, const std::string &To, Flow::Kind How);
  void passUntyped(const clang::Expr *Argument, const clang::FunctionDecl *Callee, unsigned I);
  void returnUntyped(const clang::FunctionDecl *F, const clang::Expr *Value);
  // The call may leave fresh memory in a variable.
  void allocateTo(const clang::CallExpr *Call);
  // The call's result, a `void *`, is used in a way that is not followed.
  void loseResult(const clang::CallExpr *Call);
  // Node is another name of the function.
  void alias(const std::string &Node, const clang::FunctionDecl *F, clang::SourceLocation At);
  void escapeOnce(const std::string &Node, llvm::StringRef Code, llvm::StringRef Message,
                  clang::SourceLocation At);

private:
  FactWriter &Out;
  LockEdits &Edits;
  const Source &S;
  UnitFacts &Facts;
  llvm::DenseSet<const clang::Expr *> Resolved;
  std::set<std::string> Told; // what is told once of what is untyped

  void flowToParameter(const std::string &Node, clang::QualType T, const clang::FunctionDecl *F,
                       clang::SourceLocation At);
  std::string fresh(const clang::CallExpr *Call);
  std::string untypedResult(const clang::CallExpr *Call);
  std::string resolveCast(const clang::CastExpr *Cast);
  std::optional<std::string> resolveUntyped(const clang::Expr *E);
  // A declaration of its own, although its type does not name a mutex: F must be in the program.
  void declareUntyped(const clang::FunctionDecl *F, const std::string &Node, DeclarationKind Kind,
                      clang::QualType Pointer = {});
  std::string fieldNode(const clang::FieldDecl *Field);
};

} // namespace relock
