// SPDX-License-Identifier: MIT
//
// What other locks would gain on a machine: the program of a profile is run there with each, in a
// simulation. What the figures mean and how right they were: tool/advise/README.md.
#pragma once

#include "advise/ProgramLoad.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relock {

// A run of the program on a simulated machine.
struct SimulatedProgram {
  double Seconds = 0;
  struct Threads {
    unsigned Count = 0;
    double Visits = 0;
  };
  struct Class {
    double Sections = 0, WaitingNs = 0, InsideNs = 0, Handovers = 0;
  };
  std::vector<Threads> Groups;
  std::vector<Class> Classes;
};

// How a program is run there.
struct SimulatedMachine {
  unsigned Processors = 0; // so many of them; 0: all
  bool Even = false;       // the time between sections never varies
};

// Of a load (writeLoad) with each of the choices of locks, `c1=rcl:2,c3=mcs`; empty: as it is.
using Simulate = std::function<llvm::Expected<std::vector<SimulatedProgram>>(
    llvm::StringRef Load, llvm::ArrayRef<std::string> Choices, SimulatedMachine Where)>;

// Of the speed of the whole program, 1 being today's: between Least and Most nine times of ten.
struct Gain {
  double Likely = 1, Least = 1, Most = 1;
};

struct ClassPrediction {
  std::map<std::string, Gain> ByAlgorithm; // empty: its waits are too short to be worth one
  std::string Best;                        // empty: to be left
  // Where some sections hold: what would be gained if none did, and with which lock.
  std::optional<Gain> WithoutHolds;
  std::string BestWithoutHolds;
  double Waiting = 0;   // of the threads' time, there
  double Handovers = 0; // per section, there
};

struct ProgramPrediction {
  std::string Machine; // its name
  unsigned Processors = 0;
  unsigned Threads = 0; // all that take locks
  std::string Scaled;   // the threads whose number was changed; empty: as profiled
  unsigned ScaledTo = 0;
  // The part of the threads' time that they wait for locks: of the profile, and of the same run in
  // the simulation. How far they are apart is part of the intervals.
  double ProfiledWaiting = 0, SimulatedWaiting = 0;
  double WaitingThere = 0;  // on that machine
  double ProfiledSleep = 0; // the part that the threads slept elsewhere than for locks
  std::map<std::string, ClassPrediction> Classes; // by the program's names
  std::optional<Gain> Whole;                      // with all that the plan converts
};

class Predictor {
public:
  // Threads: of those that take most locks; 0: as profiled.
  Predictor(ProgramLoad Load, std::string Machine, unsigned Processors, unsigned Threads,
            Simulate Run);

  // Each class that is waited for, one at a time.
  llvm::Error predictClasses();
  // All these together, with their algorithms; `rcl:2` is on the second server.
  llvm::Error predictWhole(const std::map<std::string, std::string> &Algorithms);
  const ProgramPrediction &result() const { return Result; }

private:
  ProgramLoad Load;
  Simulate Run;
  ProgramPrediction Result;
  SimulatedProgram Today;
  double DoubtToday = 1; // of how long threads wait

  std::string text(double LineRange::*Lines = &LineRange::Likely) const;
  Gain gain(const SimulatedProgram &Before, const SimulatedProgram &After) const;
  llvm::Error fitToProfile();
  std::string bestOf(const std::map<std::string, Gain> &Gains) const;
  std::string choice(const std::map<std::string, std::string> &Algorithms) const;
  llvm::Expected<std::vector<std::map<std::string, Gain>>>
  gainsOf(llvm::ArrayRef<std::string> Classes);
  llvm::Error tryLocks(llvm::ArrayRef<std::string> Classes);
  llvm::Error tryWithoutHolds(llvm::ArrayRef<std::string> Classes);
};

// What decides where there is a prediction.
enum class Rule { Prediction, Thresholds, Either };

// The names of the algorithms that are tried.
llvm::ArrayRef<const char *> predictedAlgorithms();
// From where on a gain is worth a change, and what may be risked for it.
bool isWorthIt(const Gain &G);
// `1.90x`, `1.90x (1.50 to 2.20)`
std::string gainText(double Ratio);
std::string gainText(const Gain &G);

} // namespace relock
