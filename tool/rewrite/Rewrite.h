// SPDX-License-Identifier: MIT
//
// Turns decisions into the new text of every file that they touch.
#pragma once

#include "program/Decide.h"
#include "rewrite/Format.h"
#include "rewrite/LockTable.h"
#include "rewrite/Outline.h"

#include "llvm/Support/Error.h"

namespace relock {

// By Id of a class: the algorithm that it is converted to; empty: nobody has chosen one, so that it
// is what the table of lock classes has, or the default.
using Choice = std::map<std::string, std::string>;

// For which decisions some text changes: sections, which could hold instead; or, where it is none
// of them, classes, which could stay.
struct Owners {
  std::set<SectionKey> Sections;
  std::set<std::string> Classes; // Ids

  bool empty() const { return Sections.empty() && Classes.empty(); }
  void add(const Owners &Other) {
    Sections.insert(Other.Sections.begin(), Other.Sections.end());
    Classes.insert(Other.Classes.begin(), Other.Classes.end());
  }
};

// A part of a file that changes.
struct OwnedRange {
  Range At; // in the file as it is now
  Owners By;
};

// Why a text is of no use, and whose it is.
struct Fault {
  std::string Code;
  std::string Text; // `two changes of FILE:LINE do not go together`
  Owners By;
};

struct RewriteResult {
  FileTexts Before; // the files as they are now; a file that is new is absent
  FileTexts After;
  std::map<std::string, std::vector<TextEdit>> Edits; // from Before to After, in order, apart
  std::map<std::string, std::vector<OwnedRange>> Owned;
  size_t Delegated = 0, Held = 0;
  UnreadStyles Unread;       // After is not in these styles
  std::vector<Fault> Faults; // any: After is not to be used

  // Of the text at an offset of a file of After.
  Owners ownersAt(llvm::StringRef File, unsigned Offset) const;
};

// The classes of Chosen are known, convert, and make up whole groups; Servers go into the table of
// lock classes with them. Fails where the sources have changed since they were indexed.
llvm::Expected<RewriteResult> rewrite(const IndexResult &Index, const Decision &Decided,
                                      const Choice &Chosen,
                                      const std::vector<TableServer> &Servers);

} // namespace relock
