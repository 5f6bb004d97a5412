// SPDX-License-Identifier: MIT
//
// Functions and variables that a unit uses and does not define, as far as their types lead to
// locks: where no unit of the program defines them, code outside the program may operate on these
// locks.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace relock {

class UndefinedUses {
public:
  UndefinedUses(const Source &S, UnitFacts &Facts) : S(S), Facts(Facts) {}

  // A mention of a function or variable.
  void use(const clang::ValueDecl *D);
  // A definition of a variable.
  void define(const clang::VarDecl *V);

private:
  const Source &S;
  UnitFacts &Facts;
  llvm::DenseMap<const clang::RecordDecl *, std::string> Known; // its node; empty: no locks
  llvm::DenseSet<const clang::Decl *> Seen;

  std::vector<std::string> recordsIn(clang::QualType T);
  std::string recordWithLocks(const clang::RecordDecl *Record);
};

} // namespace relock
