// SPDX-License-Identifier: MIT
//
// Text by its tokens alone, in all branches of #if: the names in it, and what hides them from
// Coccinelle.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

struct NamedPlace {
  unsigned Line, Column;
  std::string Name;
};

// The identifiers of a text that match the regular expression, wherever a compiler would see a
// token.
std::vector<NamedPlace> namesIn(llvm::StringRef Text, llvm::StringRef Names);

// A text without what Coccinelle's parser often stops at, so that it reads what stands around it:
// within braces, `#define` and `#undef`; macros that stand for whole fields or statements, on lines
// of their own; macros that stand for a type, `STAILQ_ENTRY(item) next;`. Names are never hidden,
// and those of types are declared ahead, so that `#define lock_t pthread_mutex_t *` is read as a
// type. Only for patches that look at names one by one: statements are missing, and a type is
// `int`.
class HiddenText {
public:
  // InPlace: what is not hidden keeps its place, and nothing is restored.
  HiddenText(llvm::StringRef Text, llvm::StringRef Names, bool InPlace);

  bool any() const { return !Pieces.empty() || !Types.empty(); }
  const std::string &text() const { return Shown; }
  // The text, after changes to what was shown, with what was hidden; none where that has gone.
  std::optional<std::string> restore(llvm::StringRef Changed) const;

private:
  struct Piece {
    bool Type; // stands for one
    std::string Text;
  };
  std::string Shown, Types; // Types: a line ahead of the text
  std::vector<Piece> Pieces;
  bool InPlace;
};

} // namespace relock
