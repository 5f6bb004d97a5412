// SPDX-License-Identifier: MIT
//
// The interval is the one of runtime/bench/ratio.c: between the j-th least and the j-th greatest of
// the ratios, as the sign test has it, with a confidence of 95 % or more from six pairs on (W. R.
// Thompson, "On confidence ranges for the median and other expectation distributions", Annals of
// Mathematical Statistics 7, 1936). It is right for few pairs and any distribution, which neither a
// bootstrap of six values nor Student's t is. Medians are of logarithms, so that exchanging the
// sides gives the inverse.
#include "bench/PairedRatio.h"

#include "../../runtime/bench/ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace llvm;

namespace relock {

bool PairedRatio::hasInterval() const { return Pairs >= RELOCK_BENCH_LEAST_PAIRS; }

PairedRatio pairedRatio(ArrayRef<double> Numerators, ArrayRef<double> Denominators) {
  std::vector<double> Logarithms;
  for (size_t I = 0; I < std::min(Numerators.size(), Denominators.size()); ++I) {
    if (!(Numerators[I] > 0) || !(Denominators[I] > 0))
      return {};
    Logarithms.push_back(std::log(Numerators[I] / Denominators[I]));
  }
  if (Logarithms.empty())
    return {};
  relock_bench_ratio R = relock_bench_ratio_of(Logarithms.data(), int(Logarithms.size()));
  return {Logarithms.size(), std::exp(R.median), std::exp(R.low), std::exp(R.high)};
}

// Who looks after each pair and stops at the first interval that is narrow stops too often where it
// is narrow by chance. Simulated with ratios that vary by more than the precision (normal, and with
// a tenth of them four times as far off), such intervals hold the true median 92 times of 100;
// looking when there are a quarter more pairs, 94 times.
size_t pairsAtNextLook(size_t Pairs) {
  return std::max<size_t>(RELOCK_BENCH_LEAST_PAIRS, Pairs + std::max<size_t>(1, Pairs / 4));
}

} // namespace relock
