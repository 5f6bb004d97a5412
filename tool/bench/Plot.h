// SPDX-License-Identifier: MIT
//
// Throughput against threads as an SVG image: a panel for each way to use a lock, a line for each
// lock. The same results give the same bytes.
#pragma once

#include "bench/Results.h"

namespace relock {

void plotThroughput(const BenchResults &Results, const BenchPoint &Point, llvm::raw_ostream &OS);

} // namespace relock
