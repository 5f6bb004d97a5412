// SPDX-License-Identifier: MIT
//
// What profiles say of a program's lock classes: figures of one or more runs, added up.
#pragma once

#include "advise/ProfileClasses.h"
#include "profile/Profile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relock {

// Of one class. Times are nanoseconds, shares are of the time of all threads.
struct ClassCost {
  uint64_t Acquisitions = 0, Contended = 0, Handovers = 0;
  uint64_t Wait = 0, Hold = 0, Holds = 0;
  bool Timed = false; // some profile has hold times: without them there is no share
  // Its sections with the waiting for them, and the waiting alone, in the profile in which it costs
  // most: a lock that one workload needs is not made cool by others.
  double Share = 0, WaitShare = 0;
  double LeastShare = 0; // if sections slept through all of their long holds; see Profile::busyTime
  std::string MostIn;    // that profile
  double ShareOfAll = 0; // of all profiles together
  double Missed = 0;     // cache misses, in that many sections
  uint64_t MissSections = 0;
  std::optional<double> SharedLines;      // per section; see program/SharedLines.h
  std::map<std::string, uint64_t> Inside; // how often it was taken while that class was held
  // Of one that is no class of the program: an earlier rewrite has converted it, or what is known.
  bool Converted = false;
  std::string WhyUnknown;

  uint64_t time() const { return Wait + Hold; }
  uint64_t meanHold() const { return Holds ? Hold / Holds : 0; }
  // A wait on a condition variable ends with an acquisition that only the holds count.
  double handovers() const {
    uint64_t Taken = std::max(Acquisitions, Holds);
    return Taken ? double(Handovers) / double(Taken) : 0;
  }
  std::optional<double> misses() const; // per section, measured
  // As many lines move as the sections share, each time that another thread had the lock before.
  std::optional<double> estimatedMisses() const;
};

struct ProfileFile {
  std::string File;
  Profile Run;
  bool timed() const { return Run.Source.empty(); }
};

struct Costs {
  std::vector<ProfileFile> Files;
  std::map<std::string, ClassCost> Classes; // by the program's names
  std::map<std::string, ClassCost> Unknown; // by the profile's: no class of the program
  // Of all profiles with times. Threads' time is always without what they waited idle.
  uint64_t ThreadTime = 0, SectionTime = 0;
  unsigned Processors = 0; // of the smallest machine
  bool Timed = false;

  double sectionShare() const { return ThreadTime ? double(SectionTime) / double(ThreadTime) : 0; }
};

// Which class of the program one of a profile is.
using FindClass = llvm::function_ref<SourceClass(const Profile &, const ProfiledClass &)>;
Costs addCosts(std::vector<ProfileFile> Files, FindClass Find);

// `0.42 %`, `1.2 M`, `310 ns`
std::string decimal(double Value); // with two digits
std::string percentText(double Share);
std::string countText(uint64_t Count);
std::string timeText(uint64_t Ns);

} // namespace relock
