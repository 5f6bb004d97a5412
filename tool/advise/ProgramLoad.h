// SPDX-License-Identifier: MIT
//
// A program as far as its locks go, of a profile: threads that compute, sleep and take locks. The
// simulated machine runs it with other locks, and on other processors (runtime/sim/README.md).
#pragma once

#include "profile/Profile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relock {

// What the sources say of a class of the profile.
struct LoadFacts {
  std::string Name;                  // by the program; empty: it is no class of it
  double Delegated = 0;              // of its acquisitions, from 0 to 1
  std::optional<double> SharedLines; // per section
};
using FindFacts = llvm::function_ref<LoadFacts(const ProfiledClass &)>;

// How many lines a section shares.
struct LineRange {
  double Least = 1, Likely = 2, Most = 4;
};

struct LoadClass {
  LoadFacts Facts;
  LineRange Lines;
  unsigned Objects = 1;
  std::vector<std::pair<double, double>> Section; // ns of computing, and how often
  std::vector<double> ObjectParts;                // of the acquisitions: the busiest objects'
  std::vector<std::pair<size_t, double>> Inner;   // classes that are taken in a section; how often
};

struct LoadThreads {
  std::string Name;
  unsigned Count = 1;
  double Work = 0;                              // ns, between two sections, in the mean
  double Sleep = 0, Sleeps = 0;                 // ns of each; how many for a section
  std::vector<std::pair<size_t, double>> Takes; // classes, and the part of the acquisitions
  double Visits = 0;                            // acquisitions outside of others, in the profile
};

struct ProgramLoad {
  std::vector<LoadClass> Classes;
  std::vector<LoadThreads> Threads;
  unsigned Processors = 1; // that the program might run on
  // What the profile says of its threads, for a comparison with what the simulated ones do.
  double Rate = 0;    // acquisitions outside of others, per second, but for the cost of profiling
  double Waiting = 0; // the part of these threads' time that they waited for locks
  double Idle = 0;    // and that they slept elsewhere

  size_t busiest() const; // of Threads: those that take most locks
  unsigned threads() const;
  double meanWork() const; // ns, of a visit
  void scaleWork(double Factor);
};

// None: nobody took a lock of a class that can be looked at.
// MovedLine: what a line of another processor costs, in ns.
std::optional<ProgramLoad> makeLoad(const Profile &P, double MovedLine, FindFacts Find);

// Classes are called c1, c2, ... Lines: which end of the range.
void writeLoad(llvm::raw_ostream &OS, const ProgramLoad &Load,
               double LineRange::*Lines = &LineRange::Likely);
std::string loadClassName(size_t Number);

} // namespace relock
