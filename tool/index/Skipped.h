// SPDX-License-Identifier: MIT
//
// Lock operations in text that this configuration of the preprocessor skips. What a file shows in
// one of its inclusions is not skipped: an include guard hides it in the others.
#pragma once

#include "support/Source.h"

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace relock {

class SkippedText {
public:
  // Call before the first token is read.
  void watch(clang::Preprocessor &PP);
  // The lock operations in what was skipped, except under `#if 0`, which no configuration compiles.
  // Compiled: those of the rest, if they are all known; else null.
  std::vector<SkippedSite> lockSites(const Source &S, clang::Preprocessor &PP,
                                     const std::vector<Site> *Compiled) const;

  struct Part {
    unsigned Begin, End;
  };

private:
  struct Inclusion {
    clang::FileID File;
    std::vector<Part> Skipped; // in order
  };
  // Of each file, in the order in which they were first read.
  llvm::MapVector<const clang::FileEntry *, std::vector<Inclusion>> Inclusions;
  llvm::StringMap<std::vector<clang::SourceLocation>> Expansions; // by macro

  static std::vector<Part> inBoth(const std::vector<Part> &A, const std::vector<Part> &B);
  static std::vector<Part> inAll(const std::vector<Inclusion> &OfFile);
  bool findLocksOfUses(llvm::StringRef Macro, const Source &S, const std::vector<Site> &Compiled,
                       std::vector<std::string> &Locks) const;
};

} // namespace relock
