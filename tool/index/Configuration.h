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

  // `#if THREADS … #else … #endif` around the definition of a function, and the other branches on
  // Linux have another one.
  struct Alternatives {
    unsigned End;                         // behind the outermost such group
    std::optional<std::string> Condition; // as of(), of the definition's own branch
  };
  std::optional<Alternatives> alternativesOf(const Source::Range &Definition,
                                             llvm::StringRef Function, const Source &S) const;

private:
  struct Directive {
    enum Word { Opens, Continues, Else, Ends, Changes } Is; // Changes: macros, or by another file
    unsigned At;                                            // its #
    bool Taken;            // what follows is compiled, if nothing before it is
    std::string Condition; // an operand of &&
    size_t Macros;         // how many changes of macros were before
  };
  // In their order; those of groups that are skipped are not known.
  llvm::DenseMap<clang::FileID, std::vector<Directive>> Directives;
  std::vector<const clang::IdentifierInfo *> Macros; // that were defined or undefined, in order

  bool changesIn(const Source::Range &Part, llvm::ArrayRef<std::string> Conditions) const;
};

// True if a text seems to define a function: its head begins a line, or stands behind its type.
bool definesFunction(llvm::StringRef Text, llvm::StringRef Function);

// True if a part of a file has nothing but comments and directives.
bool isBlank(llvm::StringRef File, unsigned Begin, unsigned End,
             const clang::LangOptions &Language);

} // namespace relock
