// SPDX-License-Identifier: MIT
//
// Turns decisions into the new text of every file that they touch.
#pragma once

#include "program/Decide.h"
#include "rewrite/Files.h"
#include "rewrite/LockTable.h"
#include "rewrite/Outline.h"

#include "llvm/Support/Error.h"

namespace relock {

// By Id of a class: the algorithm that it is converted to.
using Choice = std::map<std::string, std::string>;

struct RewriteResult {
  FileTexts Before; // the files as they are now; a file that is new is absent
  FileTexts After;
  std::map<std::string, std::vector<TextEdit>> Edits; // from Before to After, in order, apart
  size_t Delegated = 0, Held = 0;
  std::string Collision; // two edits of one place: a bug, and After is not to be used
};

// The classes of Chosen are known, convert, and make up whole groups; Servers go into the table of
// lock classes with them. Fails where the sources have
// changed since they were indexed.
llvm::Expected<RewriteResult> rewrite(const IndexResult &Index, const Decision &Decided,
                                      const Choice &Chosen,
                                      const std::vector<TableServer> &Servers);

} // namespace relock
