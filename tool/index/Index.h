// SPDX-License-Identifier: MIT
//
// The facts of a whole compile database, cached beside it.
#pragma once

#include "index/Records.h"
#include "support/Unit.h"

#include "llvm/Support/Error.h"

namespace relock {

struct IndexResult {
  std::vector<clang::tooling::CompileCommand> Commands; // in the order of their files
  std::vector<UnitFacts> Units;                         // Units[i] belongs to Commands[i]
  std::vector<std::string> Unparsed;                    // main files that have errors
  std::vector<ForeignFile> NotC;                        // files in other languages
  unsigned Refreshed = 0;                               // units that were not in the cache
  bool CacheWritable = true;
};

// Indexes what is stale in the compile database of the folder Build, with up to Jobs threads
// (0: one per core). Says on standard error which units do not parse, and why. Fails where there is
// no usable database.
llvm::Expected<IndexResult> indexBuild(llvm::StringRef Build, unsigned Jobs);

} // namespace relock
