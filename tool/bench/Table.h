// SPDX-License-Identifier: MIT
//
// Benchmark results for the terminal.
#pragma once

#include "bench/Results.h"
#include "support/Color.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace relock {

void printBenchMachine(const BenchResults &Results, llvm::raw_ostream &OS);
// Two tables of one point: throughput; latency and fairness.
void printBenchPoint(const BenchResults &Results, const BenchPoint &Point, llvm::raw_ostream &OS);
void printBenchUncontended(const BenchResults &Results, llvm::raw_ostream &OS);

// The text of a cell, and what it says of what it compares, if that is sure: faster or slower.
struct BenchText {
  std::string Text;
  std::optional<Style> Look;

  BenchText(std::string Text, std::optional<Style> Look = std::nullopt)
      : Text(std::move(Text)), Look(Look) {}
  BenchText(const char *Text) : Text(Text) {}
};

// What those are made of: the line that names a point; a text for each cell of a point, rows by
// threads; any columns, the first one to the left and the others to the right.
void printBenchPointName(const BenchPoint &Point, llvm::raw_ostream &OS);
void printBenchRows(const BenchResults &Results, const BenchPoint &Point, llvm::StringRef Title,
                    llvm::function_ref<BenchText(const BenchCell &)> Text, llvm::raw_ostream &OS);
void printBenchColumns(const std::vector<std::vector<BenchText>> &Lines, llvm::raw_ostream &OS);

// "12.3M" and the like: three digits and a unit.
std::string shortCount(double Value);
// "12.3ms [11.9-13.0]": the bounds in the unit of the median.
std::string shortTimes(const Spread &Seconds);
std::string shortCounts(const Spread &Values);

} // namespace relock
