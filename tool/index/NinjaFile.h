// SPDX-License-Identifier: MIT
//
// A build file that indexes a program: one step per translation unit, which reads nothing but its
// sources and writes nothing but its facts, so that any executor that understands Ninja's files can
// run it, on this machine or on others that see the same paths. Then steps that link all facts, and
// keep the sections of a part of the units each.
#pragma once

#include "index/Index.h"

namespace relock {

struct SectionSteps {
  std::vector<std::string> Builds;    // absolute
  std::optional<std::string> Project; // the value of --project, if it is given
  unsigned Parts = 0;                 // into how many steps; 0: none
};

// The text of the build file. Tool: the relock command, by its absolute path.
std::string ninjaFile(llvm::ArrayRef<UnitPlace> Units, llvm::StringRef Tool,
                      const SectionSteps &Then);

// The rule for make or ninja that says which files these facts were made from.
std::string dependencyRule(llvm::StringRef FactsFile, const UnitFacts &Facts);

} // namespace relock
