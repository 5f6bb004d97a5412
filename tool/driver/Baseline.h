// SPDX-License-Identifier: MIT
//
// The file of `relock check --baseline`: findings that a team knows of. People review it and git
// merges it: one line per finding, sorted, without lines of the source.
#pragma once

#include "driver/Findings.h"

#include "llvm/Support/Error.h"

#include <tuple>

namespace relock {

// What a finding is known by while its line changes. The file is relative to the source root.
struct FindingKey {
  std::string File, Function, Class, Code;

  friend bool operator<(const FindingKey &A, const FindingKey &B) {
    return std::tie(A.File, A.Function, A.Class, A.Code) <
           std::tie(B.File, B.Function, B.Class, B.Code);
  }
};

FindingKey keyOf(const Finding &F, llvm::StringRef Root);

class Baseline {
public:
  struct Entry {
    size_t Count = 1;
    std::string Because; // the team's word; may be empty
    Position At;         // in the file
    size_t Left = 0;     // findings that it can still cover
  };

  static Baseline of(llvm::ArrayRef<const Finding *> Findings, llvm::StringRef Root);
  // Fails with a YamlError.
  static llvm::Expected<Baseline> read(llvm::StringRef File);
  // With the same reasons as another one has for the same findings.
  void takeReasons(const Baseline &Of);
  void write(llvm::raw_ostream &OS) const;
  size_t findings() const;

  // The entry that covers the finding, which then covers one less; null: none can.
  const Entry *cover(const FindingKey &Key);
  // How many of this key are known; 0: the baseline does not have it.
  size_t known(const FindingKey &Key) const;
  // Messages about entries that more findings were written for than there are, of codes that Judged
  // has. Returns how many. To be asked when all findings were covered.
  size_t reportStale(const FindingFilter &Judged) const;

private:
  friend class BaselineReader;
  std::map<FindingKey, Entry> Entries;
};

} // namespace relock
