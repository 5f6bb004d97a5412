// SPDX-License-Identifier: MIT
//
// What many looks at a process say of its locks: for which of them threads wait, from where, and
// what those do meanwhile that have them.
#pragma once

#include "profile/Sampler.h"

#include "llvm/Support/raw_ostream.h"

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace relock {

class Symbolizer;

// What a thread does that has a lock.
struct Doing {
  enum { Runs, Sleeps, Waits } What;
  uint64_t Of; // the system call that it sleeps in, the mutex that it waits for
  friend auto operator<=>(const Doing &, const Doing &) = default;
};

// Of a mutex, or of all of one lock class.
struct SampledLock {
  std::string Name;
  std::set<uint64_t> Mutexes;
  uint64_t Waits = 0;                 // threads that waited, in all looks
  uint64_t Most = 0;                  // that waited in one look
  std::map<uint64_t, uint64_t> Calls; // by return address
  std::map<pid_t, uint64_t> Holders;  // in how many looks somebody waited for that thread
  std::map<Doing, uint64_t> Holding;  // what they did then

  void add(const SampledLock &Other);
};

class SampledLocks {
public:
  SampledLocks(Sampler &Process, Symbolizer &Names) : Process(Process), Names(Names) {}

  void add(const Look &Seen);

  uint64_t looks() const { return Looks; }
  // Threads that wait for each other in a circle, without a limit, in the last looks all the same:
  // each for the mutex that the next one has. Empty: none.
  std::vector<SeenWait> deadlock() const {
    return Same >= Enough ? Circle : std::vector<SeenWait>();
  }

  // While the process still runs: its threads and modules have names as long as it does.
  void print(llvm::raw_ostream &OS);
  std::string lockName(uint64_t Mutex); // of one that was waited for
  std::string threadName(pid_t Thread);
  std::string callName(uint64_t Call);

private:
  static constexpr unsigned Enough = 5; // looks that have to agree on a circle

  std::string declaredName(uint64_t Mutex, uint64_t Call);
  std::string doingName(const Doing &Now);
  std::vector<SampledLock> byClass();
  void print(const SampledLock &Lock, llvm::raw_ostream &OS);

  Sampler &Process;
  Symbolizer &Names;
  uint64_t Looks = 0, Threads = 0;
  std::map<uint64_t, SampledLock> Mutexes; // by address
  std::map<pid_t, std::string> ThreadNames;
  std::vector<SeenWait> Circle;
  unsigned Same = 0; // looks in a row that had this circle
};

} // namespace relock
