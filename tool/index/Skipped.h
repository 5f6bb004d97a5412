// SPDX-License-Identifier: MIT
//
// Lock operations in text that this configuration of the preprocessor skips. What a file shows in
// one of its inclusions is not skipped: an include guard hides it in the others.
#pragma once

#include "support/Source.h"

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/MapVector.h"

#include <vector>

namespace relock {

class SkippedText {
public:
  // Call before the first token is read.
  void watch(clang::Preprocessor &PP);
  // The lock operations in what was skipped, except under `#if 0`, which no configuration compiles.
  std::vector<SkippedSite> lockSites(const Source &S, clang::Preprocessor &PP) const;

private:
  struct Part {
    unsigned Begin, End;
  };
  struct Inclusion {
    clang::FileID File;
    std::vector<Part> Skipped; // in order
  };
  // Of each file, in the order in which they were first read.
  llvm::MapVector<const clang::FileEntry *, std::vector<Inclusion>> Inclusions;

  static std::vector<Part> inBoth(const std::vector<Part> &A, const std::vector<Part> &B);
  static std::vector<Part> inAll(const std::vector<Inclusion> &OfFile);
};

} // namespace relock
