// SPDX-License-Identifier: MIT
//
// The lines that have changed since a revision of git, and the places that lie in them.
#pragma once

#include "index/Records.h"

#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

class ChangedLines {
public:
  // Of the working copy that has this folder in it, against the last commit that Base and what is
  // checked out have in common; with files that git does not know yet. Fails where git cannot say.
  static llvm::Expected<ChangedLines> since(llvm::StringRef Folder, llvm::StringRef Base);

  // Where lines went without others in their place, those before and behind count as changed.
  bool has(const Position &At);

  // Whether lines went, without others in their place, between this one and the line End.
  bool lostBetween(const Position &From, unsigned End);

  // Reads what `git diff -U0` prints; Top: the folder that its paths, `a/…` and `b/…`, belong to.
  void addDiff(llvm::StringRef Text, llvm::StringRef Top);

private:
  struct Range {
    unsigned First, Last;
  };
  struct Changes {
    std::vector<Range> Lines;
    std::vector<unsigned> Lost; // the lines behind which others went
  };
  std::map<std::string, Changes> Changed;  // by file, without symbolic links
  std::map<std::string, std::string> Real; // files without symbolic links, known so far

  Changes &changesOf(llvm::StringRef Top, llvm::StringRef Path);
  const Changes *find(const std::string &File);
};

} // namespace relock
