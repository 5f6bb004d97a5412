// SPDX-License-Identifier: MIT
//
// Parses the rewritten program before anything is written.
#pragma once

#include "index/Index.h"

#include "llvm/ADT/StringSet.h"

#include <set>

namespace relock {

// What the new texts add to the diagnostics of a unit.
struct NewDiagnostic {
  size_t Unit; // its number in the index
  UnitDiagnostic What;
};

// Looks at all warnings that matter, also at those which the program's commands silence. Units
// whose new texts were found good are not parsed again.
class Reparser {
public:
  Reparser(const IndexResult &Index, unsigned Jobs)
      : Index(Index), Jobs(Jobs), Good(Index.Units.size()), Before(Index.Units.size()) {
    for (const UnitFacts &Unit : Index.Units)
      for (const Dependency &D : Unit.Dependencies)
        Read.insert(D.File);
  }

  // Of all units that read these files. Empty: none.
  std::vector<NewDiagnostic> all(const FileTexts &Changed);
  // Of one unit.
  std::vector<UnitDiagnostic> of(size_t Unit, const FileTexts &Changed);

private:
  const IndexResult &Index;
  unsigned Jobs;
  llvm::StringSet<> Read; // the files of the program
  // By unit: the hashes of the texts with which it is known to be good; its own diagnostics, once
  // they are asked for.
  std::vector<std::set<std::string>> Good;
  std::vector<std::optional<std::vector<UnitDiagnostic>>> Before;

  std::string hashOf(size_t Unit, const FileTexts &Changed) const;
};

} // namespace relock
