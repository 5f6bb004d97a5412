// SPDX-License-Identifier: MIT
//
// Throughput against threads, or its ratio to the baseline's, as an SVG image: a panel for each way
// to use a lock, a line for each lock. The same results give the same bytes.
#pragma once

#include "bench/Results.h"

namespace relock {

// For results with a baseline.
void plotRatio(const BenchResults &Results, const BenchPoint &Point, llvm::raw_ostream &OS);
void plotThroughput(const BenchResults &Results, const BenchPoint &Point, llvm::raw_ostream &OS);

} // namespace relock
