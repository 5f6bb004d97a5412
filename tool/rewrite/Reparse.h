// SPDX-License-Identifier: MIT
//
// Parses the rewritten program before anything is written.
#pragma once

#include "index/Index.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

namespace relock {

// What the new texts add to the diagnostics of a unit.
struct NewDiagnostic {
  size_t Unit; // its number in the index, with those that are not C behind the others
  UnitDiagnostic What;
};

// Looks at all warnings that matter, also at those which the program's commands silence. Units
// whose new texts were found good are not parsed again.
class Reparser {
public:
  Reparser(const IndexResult &Index, unsigned Jobs);

  // Of all units that read these files. Empty: none.
  std::vector<NewDiagnostic> all(const FileTexts &Changed);
  bool reads(size_t Unit, llvm::StringRef File) const;
  // Of one unit.
  std::vector<UnitDiagnostic> of(size_t Unit, const FileTexts &Changed);

private:
  const IndexResult &Index;
  const size_t Count; // of units
  unsigned Jobs;
  llvm::StringSet<> Read; // the files of the program
  // By unit: the hashes of the texts with which it is known to be good; its own diagnostics, once
  // they are asked for.
  std::vector<std::set<std::string>> Good;
  std::vector<std::optional<std::vector<UnitDiagnostic>>> Before;

  void eachFile(size_t Unit, llvm::function_ref<void(const std::string &)> Visit) const;
  std::string hashOf(size_t Unit, const FileTexts &Changed) const;
};

} // namespace relock
