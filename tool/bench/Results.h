// SPDX-License-Identifier: MIT
//
// What relock-bench measured, and the numbers that are made of it. Tables, plots and files are
// rendered elsewhere.
#pragma once

#include "../../runtime/bench/ratio.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace relock {

struct BenchRow {
  std::string Lock, Mode;
  std::string name() const { return Lock + " " + Mode; }
};

// Before and after a repetition.
using BenchAround = std::array<double, 2>;

// One repetition.
struct BenchSample {
  int64_t Repetition;
  double Operations, Seconds, MeanNs, P99Ns, WorstNs, Jain, Switches;
  BenchAround TransferNs, CyclesPerNs; // a line's, between two processors; 0: there is one
  double TicksPerNs;
  // With sections of several lengths: of the time that they took, and their cycles in all; else 0.
  double ServiceJain = 0, Work = 0;
  double Misses = 0; // lines that a simulated machine's caches did not have; else 0
  double throughput() const { return Operations / Seconds; }
  // What rows are compared by: of short sections there are more.
  double rate() const { return (Work > 0 ? Work : Operations) / Seconds; }
};

// Where in its program's code a simulated cell waited for cache lines.
struct BenchPlace {
  uint64_t Address; // behind the access, from the start of the image
  double Misses, Cycles;
};

// The repetitions of one row at one point.
struct BenchCell {
  size_t Row;
  int64_t Lines, Delay, Threads;
  std::vector<BenchSample> Samples;
  std::vector<BenchPlace> Places = {}; // of the last one, if they were asked for
};

struct BenchUncontended {
  size_t Row;
  std::vector<double> Ns, NsWithoutThreads, CyclesPerNs;
};

// What one table and one plot show.
struct BenchPoint {
  int64_t Lines, Delay;
  bool operator==(const BenchPoint &Other) const {
    return Lines == Other.Lines && Delay == Other.Delay;
  }
};

struct BenchResults {
  llvm::json::Object Machine;
  std::vector<BenchRow> Rows;
  std::vector<BenchCell> Cells;
  std::vector<BenchUncontended> Uncontended;
  uint64_t Expected = 0, Received = 0; // repetitions of cells
  bool Complete = false;

  // A line that relock-bench printed.
  llvm::Error addLine(llvm::StringRef Line);

  std::vector<BenchPoint> points() const;
  std::vector<int64_t> threads(const BenchPoint &Point) const; // ascending
  const BenchCell *find(size_t Row, const BenchPoint &Point, int64_t Threads) const;
  // Whether the threads' sections have lengths.
  bool hasLengths() const { return Machine.getArray("lengths"); }
  bool isSimulated() const { return Machine.getBoolean("simulated").value_or(false); }
  // The row that the others are to be compared with, if one was asked for.
  std::optional<size_t> baseline() const;
  const BenchUncontended *uncontendedBaseline() const;

private:
  llvm::Error add(const llvm::json::Object &Line);
  size_t row(llvm::StringRef Lock, llvm::StringRef Mode);
  BenchCell &cell(const BenchCell &Place);
  BenchUncontended &uncontended(size_t Row);
};

struct Spread {
  double Median = 0, Least = 0, Most = 0;
};
Spread spread(std::vector<double> Values);
Spread spread(const BenchCell &Cell, double (*Value)(const BenchSample &));

std::vector<double> both(const BenchCell &Cell, BenchAround BenchSample::*Member);

// Of throughputs; of two cells by repetition, leaving out those for which two processors were not
// as far apart.
relock_bench_ratio ratio(const BenchCell &Tried, const BenchCell &Against);
relock_bench_ratio ratio(const BenchUncontended &Tried, const BenchUncontended &Against);

// The versioned file of `relock bench --json`; see tool/doc/formats.md.
void writeBench(const BenchResults &Results, llvm::raw_ostream &OS);

} // namespace relock
