// SPDX-License-Identifier: MIT
//
// Pointers to functions. A call through one reaches the functions whose address becomes a pointer
// of its type, unless such pointers also come from where nobody looks: integers and `void *`,
// libraries, the callers of a function that the program itself does not call.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace relock {

class FunctionPointers {
public:
  FunctionPointers(const Source &S, UnitFacts &Facts) : S(S), Facts(Facts) {}

  // Pointers of this type also come from where nobody looks.
  void open(std::string Type);
  void takeAddress(const clang::FunctionDecl *F, const std::string &Type);
  void cast(const clang::CastExpr *Cast);
  static void recordCallbacks(const clang::FunctionDecl *F, Function &Record);

private:
  const Source &S;
  UnitFacts &Facts;
  llvm::StringSet<> OpenTypes, TakenFunctions; // that Facts has already

  void castToFunction(const clang::CastExpr *Cast, const clang::Expr *Sub, const std::string &To);
};

} // namespace relock
