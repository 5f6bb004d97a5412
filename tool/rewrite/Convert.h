// SPDX-License-Identifier: MIT
//
// Rewrites a program so that the result compiles as it did before. Where the new text of a section
// or of a class turns out to be wrong, which no user should have to read, that section holds, or
// that class stays, and everything else converts.
#pragma once

#include "rewrite/Reparse.h"
#include "rewrite/Rewrite.h"

#include "llvm/Support/Error.h"

namespace relock {

struct Conversion {
  Decision Decided; // as it was carried out
  Choice Chosen;    // what converts of it
  RewriteResult Result;
  // Sections and classes that were to be converted and could not be rewritten: why, and where.
  std::vector<Reason> Left;
  std::string Bug; // not empty: the text is wrong, and it is nobody's; Result is not to be used
  // Any: the user's cuts separate what the types of the program do not; Result is not to be used.
  std::vector<UnitDiagnostic> OfCuts;
};

// Chosen: as for rewrite(). Parsed: of Index; it remembers texts that were good. Fails where the
// sources have changed since they were indexed.
llvm::Expected<Conversion> convert(const IndexResult &Index, Decider &Facts, Restrictions But,
                                   Choice Chosen, const std::vector<TableServer> &Servers,
                                   Reparser &Parsed);

} // namespace relock
