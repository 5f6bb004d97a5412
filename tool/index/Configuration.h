// SPDX-License-Identifier: MIT
//
// What a function does may depend on the configuration of the preprocessor: `#ifdef DEBUG`.
#pragma once

#include "support/Source.h"

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

class Configurations {
public:
  // Call before the first token is read.
  void watch(clang::Preprocessor &PP);

  // The condition under which a part of a file is what is compiled here,
  // `defined(THREADS) && !defined(DEBUG)`: each side of an && in parentheses where it needs them.
  // Empty: on Linux it always is. Nothing: it cannot be said so.
  std::optional<std::string> of(const Source::Range &Part, const Source &S) const;

  // True if a group begins in a part of a file, and is open at its end, that Linux does not decide.
  bool isOpenBehind(const Source::Range &Part) const;

private:
  struct Directive {
    enum Word { Opens, Continues, Else, Ends, Changes } Is; // Changes: macros, or by another file
    unsigned At;                                            // its #
    bool Taken;            // what follows is compiled, if nothing before it is
    std::string Condition; // an operand of &&
  };
  // In their order; those of groups that are skipped are not known.
  llvm::DenseMap<clang::FileID, std::vector<Directive>> Directives;
};

// True if a part of a file has nothing but comments and directives.
bool isBlank(llvm::StringRef File, unsigned Begin, unsigned End,
             const clang::LangOptions &Language);

} // namespace relock
