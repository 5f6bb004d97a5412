// SPDX-License-Identifier: MIT
//
// Two commands run in turns until it is known which one is faster.
#pragma once

#include "bench/Comparison.h"

#include <functional>

namespace relock {

struct TurnLimits {
  double Seconds = 60; // no turn begins after that, once there are enough for an interval
  size_t MaxRuns = 1000;
  double RunTimeout = 0; // in seconds; 0: none
  bool IgnoreFailure = false, ShowOutput = false;
  // In the child that becomes a command of that side, or its setup, before its time begins.
  std::function<void(Side)> Enter;
};

// What is wrong with the options --figure and --higher-is-better; empty: nothing. To be asked
// before the turns.
std::string wrongFigure(llvm::StringRef Pattern, bool HigherIsBetter);

// Runs them and says what failed. Returns the signal that asked to end, or 0.
int runTurns(Comparison &C, const TurnLimits &Limits);

void warnOfNoise(const Comparison &C);

} // namespace relock
