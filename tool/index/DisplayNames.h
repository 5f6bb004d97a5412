// SPDX-License-Identifier: MIT
//
// The names that a user would use for declarations: `queue.lock`, `function.variable`.
#pragma once

#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace relock {

class DisplayNames {
public:
  // Of declarations of the file: those that give an anonymous struct a name come first.
  void nameAnonymous(const clang::Decl *D);
  std::string of(const clang::NamedDecl *D) const;

private:
  llvm::DenseMap<const clang::RecordDecl *, std::string> AnonymousNames;

  void nameAnonymousType(clang::QualType T, std::string Outer, const clang::NamedDecl *User);
};

} // namespace relock
