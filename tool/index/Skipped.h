// SPDX-License-Identifier: MIT
//
// Lock operations in text that this configuration of the preprocessor skips.
#pragma once

#include "support/Source.h"

#include "clang/Lex/Preprocessor.h"

#include <vector>

namespace relock {

class SkippedText {
public:
  // Call before the first token is read.
  void watch(clang::Preprocessor &PP);
  // The lock operations in what was skipped, except under `#if 0`, which no configuration compiles.
  std::vector<SkippedSite> lockSites(const Source &S, clang::Preprocessor &PP) const;

private:
  std::vector<clang::SourceRange> Ranges;
};

} // namespace relock
