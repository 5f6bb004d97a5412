// SPDX-License-Identifier: MIT
//
// Which static functions and variables a unit names whatever becomes of its lock operations.
#pragma once

#include "section/ProgramView.h"
#include "support/Source.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace relock {

class StaticUses {
public:
  StaticUses(const Source &S, const ProgramView &Linked) : S(S), Linked(Linked) {}

  // True if an initialiser names it, or a function without lock operations, other than itself: then
  // no text that goes with such operations has its last mention.
  bool named(const clang::NamedDecl *D);

private:
  using Names = llvm::SmallPtrSet<const clang::Decl *, 16>;

  const Source &S;
  const ProgramView &Linked;
  std::optional<Names> Known; // found when it is asked for first

  void collect();
  bool collect(const clang::Stmt *Text, Names &Found) const;
};

} // namespace relock
