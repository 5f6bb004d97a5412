// SPDX-License-Identifier: MIT
//
// From where on a lock class is worth another lock. The shipped values and where they come from:
// tool/advise/README.md.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace relock {

// Shares are of the time of all threads, from 0 to 1.
struct Thresholds {
  // A class's sections with the waiting for them. The thesis on Remote Core Locking found them with
  // its microbenchmark on 48 cores (Magnycours, a thread on each): 15 % and 60 %.
  double Lower = 0.15, Upper = 0.60;
  // Its waiting alone: no lock gives back more.
  double Waits = 0.01;
  // What rescues a class below the lower threshold: cache misses per section, or handovers per
  // acquisition where the profile has no misses, from this share on. The thesis converted two
  // classes so, with 16.5 and 73.4 misses and at 0.99 and 0.45 of its lower threshold.
  double Misses = 10, Handovers = 0.5, Rescued = 0.05;

  std::string File; // empty: the shipped ones

  // Fails with YamlError.
  static llvm::Expected<Thresholds> read(llvm::StringRef File);
};

// Remarks are comments at the head, a line each.
void writeThresholds(llvm::raw_ostream &OS, const Thresholds &T,
                     const std::vector<std::string> &Remarks);

// A server takes a processor away from the program's threads: on fewer than these none is given.
constexpr unsigned ProcessorsPerServer = 4;
// A server is for a class that takes this part of the time in all sections.
constexpr double DominantPart = 0.25;

} // namespace relock
