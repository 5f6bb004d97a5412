// SPDX-License-Identifier: MIT
// Other names of functions that a unit defines: `__attribute__((alias("wait_2")))`, and versions of
// symbols.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/Lex/Preprocessor.h"

#include <string>
#include <vector>

namespace relock {

// `__attribute__((symver("wait@VERSION")))`, which Clang does not know.
class SymbolVersions {
public:
  struct Attribute {
    clang::SourceLocation At;
    std::string Name;
  };

  // Before the unit is parsed; the versions outlive it.
  void watch(clang::Preprocessor &PP);

  // Those of a declaration.
  std::vector<Attribute> of(const clang::FunctionDecl *F) const;

private:
  std::vector<Attribute> Found;
};

struct VersionedName {
  std::string Name, Of;
};

// `asm(".symver wait_2, wait@VERSION")`.
std::vector<VersionedName> versionedNames(const clang::FileScopeAsmDecl *Asm);

} // namespace relock
