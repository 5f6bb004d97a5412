// SPDX-License-Identifier: MIT
//
// How many times as much one side needs as the other, by runs that were made in turns: what the
// machine does meanwhile meets both of a pair, so their ratio varies much less than the runs do.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace relock {

struct PairedRatio {
  size_t Pairs = 0;
  // The median of the pairs' ratios, and an interval of it that nothing needs to be assumed for.
  double Median = 0, Low = 0, High = 0;

  // Of fewer pairs Low and High are the extremes, and no such interval.
  bool hasInterval() const;
  bool isNarrowerThan(double Fraction) const { return High - Low < Fraction * Median; }
  PairedRatio inverse() const { return {Pairs, 1 / Median, 1 / High, 1 / Low}; }
};

// Values of the same number are of one pair. No pairs where a value is not above 0.
PairedRatio pairedRatio(llvm::ArrayRef<double> Numerators, llvm::ArrayRef<double> Denominators);

// Whoever measures until the interval is narrow looks at it after so many pairs, and not after the
// last pair that they looked at (0: never yet) plus one.
size_t pairsAtNextLook(size_t Pairs);

} // namespace relock
