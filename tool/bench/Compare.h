// SPDX-License-Identifier: MIT
//
// Two runs of the benchmark: which cells changed by more than their repetitions differ.
#pragma once

#include "bench/Results.h"

#include <map>
#include <tuple>

namespace relock {

// An earlier summary, as writeBench wrote it.
class BenchSummary {
public:
  static llvm::Expected<BenchSummary> read(llvm::StringRef File);

  // Null when the summary lacks the cell.
  const Spread *throughput(const BenchRow &Row, const BenchCell &Cell) const;
  // Median, in ns; 0: the file does not say it.
  double transfer(const BenchRow &Row, const BenchCell &Cell) const;
  const Spread *uncontended(const BenchRow &Row) const;
  llvm::StringRef model() const { return Model; }

private:
  llvm::Error add(const llvm::json::Object &File);
  using Place = std::tuple<std::string, int64_t, int64_t, int64_t>;
  static Place place(const BenchRow &Row, const BenchCell &Cell) {
    return {Row.name(), Cell.Lines, Cell.Delay, Cell.Threads};
  }
  std::map<Place, Spread> Throughputs;
  std::map<Place, double> Transfers;
  std::map<std::string, Spread> Uncontended;
  std::string Model;
};

struct BenchChanges {
  size_t Compared = 0, Slower = 0, Faster = 0;
  size_t Moved = 0; // the processors were not as far apart: not compared
};

// Prints the ratio of medians for each cell that both have, and counts.
BenchChanges compareBench(const BenchResults &Results, const BenchSummary &Earlier,
                          llvm::raw_ostream &OS);

} // namespace relock
