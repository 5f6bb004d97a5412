// SPDX-License-Identifier: MIT
//
// The experiments of the papers and theses whose systems the runtime has: what was published, how
// it is had again, and what is not had again, and why. All of it stands in published.json; this
// reads it, and puts the figures that a run has given beside it.
#pragma once

#include "bench/Results.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relock {

// Which cell of a run. An empty mode: the way that the lock's delegated sections take; no threads:
// the run's only number of them; the same of lines.
struct PublishedCell {
  std::string Lock, Mode;
  int64_t Threads = 0, Lines = 0;
};

struct PublishedRow {
  std::string Name;
  std::optional<double> Published; // none: a bound is all that was published
  std::optional<double> Above, Below;
  PublishedCell Of;
  std::optional<PublishedCell> To; // the figure is a ratio
  std::string Crossing;            // or where the two cross, along "delay" or "threads"
  std::string HereOf, HereTo;      // other names on the machine at hand
};

struct PublishedExperiment {
  std::string Name, Title, From, Machine, Remark, Unit;
  std::string Uses; // has no run of its own, but this one's figures
  std::string
      Measure; // "cycles" or "microseconds" of a section, "rate" of them, nanoseconds of a "round"
  std::string Tune;
  double Clock = 0; // cycles that were published with each figure, for reading the clock
  int Decimals = 0;
  std::map<std::string, std::string> Run; // options of the simulator
  std::vector<PublishedRow> Rows;
  bool isOfBarriers() const { return Run.count("barrier"); }
};

struct PublishedMissing {
  std::string What, From, Why;
};

struct PublishedSource {
  std::string Name, Source;
  std::vector<PublishedExperiment> Experiments;
  std::vector<PublishedMissing> Missing;
  const PublishedExperiment *find(llvm::StringRef Name) const;
};

PublishedSource publishedSource(llvm::StringRef Name);

// A figure beside the published one.
struct ReproducedRow {
  std::string Name;
  std::optional<double> Published, Above, Below;
  std::optional<double> Obtained;
  std::optional<double> Misses; // of a section, where the run knows
  bool IsCount = false;         // of threads, or of cycles: a whole number
  std::string Why;              // there is no figure
  // In the published sense; of a bound, whether it holds.
  std::optional<double> error() const;
  std::optional<bool> holds() const;
};

struct Reproduced {
  const PublishedExperiment *Experiment;
  std::string Machine;
  std::vector<ReproducedRow> Rows;
};

// What a run has given: results of relock-bench or relock-simulator.
Reproduced reproduce(const PublishedSource &Source, const PublishedExperiment &Experiment,
                     const BenchResults &Results, bool IsHere);

void printReproduced(const Reproduced &R, llvm::raw_ostream &OS);
void printMissing(const PublishedSource &Source, llvm::raw_ostream &OS);
// The versioned file of `relock bench --reproduce --json`; see tool/doc/formats.md.
void writeReproduced(const PublishedSource &Source, const std::vector<Reproduced> &All,
                     llvm::raw_ostream &OS);

} // namespace relock
