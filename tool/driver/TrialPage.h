// SPDX-License-Identifier: MIT
//
// The page of a trial: what hurt, what was changed, what that gained, and what was refused.
#pragma once

#include "advise/Plan.h"
#include "bench/Comparison.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace relock {

struct TrialStep {
  std::string Name, Command;
  double Seconds = 0;
  std::string Outcome; // `ok`, or what went wrong
};

struct TrialResult {
  std::string Program;  // its command
  std::string Sentence; // the result
  std::vector<TrialStep> Steps;
  std::string Report; // the text of `relock report`
  std::optional<Plan> Planned;
  std::string Diff, DiffOfProfiles, Check; // texts; empty: it did not come so far
  std::optional<Comparison> Measured;
};

// One file without scripts, for a browser or a printer.
void writeTrialPage(const TrialResult &Result, llvm::raw_ostream &OS);

} // namespace relock
