// SPDX-License-Identifier: MIT
//
// Comments of the form `relock: suppress CODE because REASON`: the user knows of a finding, and it
// is not to fail the build. They change no verdict; what is accepted as sound for the conversion
// stands in the project file, under `accept`.
#pragma once

#include "driver/Findings.h"
#include "index/Index.h"

namespace relock {

struct SuppressComment {
  Position At;
  unsigned
      Line; // that it speaks of: its own, or, where no code is before it, that of the next code
  std::string Code, Because;
  bool Used = false;
};

class SuppressComments {
public:
  // Reads all text of the program below the source root. Messages say which comments are not as
  // they should be.
  explicit SuppressComments(const IndexResult &Index);

  // The comment that speaks of this finding; null: none does. One at any of its sites is enough.
  const SuppressComment *suppressing(const Finding &F);

  // Messages about comments that speak of no finding, of codes that Judged has. Returns how many,
  // with those that are not as they should be.
  size_t reportUnused(const FindingFilter &Judged) const;

private:
  std::vector<SuppressComment> Comments; // by place
  size_t Bad = 0;

  void read(llvm::StringRef File);
  void add(const Position &At, llvm::StringRef Text, unsigned Line);
  void reject(const Position &At, const llvm::Twine &Why);
};

} // namespace relock
