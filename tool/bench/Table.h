// SPDX-License-Identifier: MIT
//
// Benchmark results for the terminal.
#pragma once

#include "bench/Results.h"

namespace relock {

void printBenchMachine(const BenchResults &Results, llvm::raw_ostream &OS);
// Two tables of one point: throughput; latency and fairness.
void printBenchPoint(const BenchResults &Results, const BenchPoint &Point, llvm::raw_ostream &OS);
void printBenchUncontended(const BenchResults &Results, llvm::raw_ostream &OS);

// "12.3M" and the like: three digits and a unit.
std::string shortCount(double Value);

} // namespace relock
