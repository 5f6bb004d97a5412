// SPDX-License-Identifier: MIT
//
// What `relock compare` measured of two commands that ran in turns, and what that says. Tables are
// rendered elsewhere.
#pragma once

#include "bench/PairedRatio.h"
#include "bench/Results.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace relock {

enum Figure {
  Printed, // by the command
  WallTime,
  ProcessorTime, // user and system, in seconds like the wall time
  VoluntarySwitches,
  InvoluntarySwitches,
  MaxResident, // in bytes
  FigureCount
};
using FigureValues = std::array<double, FigureCount>; // 0 also where it is not known

enum Side { Before, After };

struct ComparedTurn {
  Side First = Before;
  std::array<FigureValues, 2> Runs = {}; // by side
};

struct Quartiles {
  double First = 0, Median = 0, Third = 0;
};

enum class ComparisonVerdict { TooFewPairs, NotToldApart, SlowerWithinThreshold, Slower, Faster };

enum class EndOfComparison { Precision, Time, Runs, Interrupted, Failed };

// That the runs of a side differ so much among each other that something else than the commands
// is the cause: by the distance of the quartiles, as a fraction of the median.
struct Noise {
  Side Of;
  double Distance;
};

struct Prediction {
  double Low, High;    // the same, if it is one number
  std::string Machine; // what it is for; empty: the one that it is compared on
};

struct Comparison {
  llvm::json::Object Machine;
  std::array<std::string, 2> Commands; // by side
  std::string Setup, Cleanup;
  unsigned WarmUps = 1; // turns that are not there
  std::string Pattern;  // of the printed figure; empty: wall time is what decides
  bool HigherIsBetter = false;
  double Precision = 0, Threshold = 0; // as fractions
  double Seconds = 0;                  // for all of it
  std::optional<Prediction> Predicted; // how many times as fast after is
  double LeastResident = 0;            // in bytes; less cannot be told

  std::vector<ComparedTurn> Turns;
  EndOfComparison Ended = EndOfComparison::Failed;

  Figure deciding() const { return Pattern.empty() ? WallTime : Printed; }
  std::vector<double> values(Side S, Figure F) const;
  Quartiles quartiles(Side S, Figure F) const;
  // What after has, divided by what before has.
  PairedRatio quotient(Figure F) const;
  // How many times as fast as before after is.
  PairedRatio speed() const;
  ComparisonVerdict verdict() const;
  // Of the noisier side; none: the runs are alike enough.
  std::optional<Noise> noise() const;
};

// How this machine is called, as relock-bench says it.
llvm::json::Object describeMachine();

// The versioned file of `relock compare --json`; see tool/doc/formats.md.
void writeComparison(const Comparison &C, llvm::raw_ostream &OS);
// Comma-separated values: a line for each run, in the order in which they were, below their names.
void writeComparedRuns(const Comparison &C, llvm::raw_ostream &OS);

// `1.9` or `1.5-2.2`; none: it is neither.
std::optional<Prediction> parsePrediction(llvm::StringRef Text);

} // namespace relock
