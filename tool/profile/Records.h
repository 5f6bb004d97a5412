// SPDX-License-Identifier: MIT
//
// Reads what the profiler library left behind for one process (runtime/profiler/layout.h). The
// process may have died at any moment, so everything is checked before it is believed.
#pragma once

#include "../../runtime/profiler/layout.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace relock {

struct RawModule {
  std::string Path;
  uint64_t Bias, Low, High;
};

// Counts of one mutex or of several.
struct RawCounts {
  uint64_t Acquisitions = 0, Contended = 0, Wait = 0, Holds = 0, Handovers = 0;
  // Of the holds that were timed, each as often as those that it stands for; and how many that is.
  uint64_t Hold = 0, Weights = 0;
  uint64_t TrylockFailures = 0, Timeouts = 0, CondWaits = 0, Reentries = 0;

  void add(const RawCounts &Other);
};

struct RawObject {
  uint64_t Address = 0;
  bool Held = false;
  RawCounts Counts;
};

// Of values of which each counts as often as those that it stands for.
struct RawHistogram {
  uint64_t Count = 0, Total = 0, Max = 0;
  uint64_t Values = 0; // measured
  relock_chance Chance = {};
  uint64_t Waiters = 0, WaitersMax = 0; // of waits
  std::vector<uint64_t> Buckets = std::vector<uint64_t>(RELOCK_BUCKETS);
  std::array<uint64_t, RELOCK_DISTANCES> CameFrom = {}; // of holds, by relock_distance

  void add(const RawHistogram &Other);
  void add(uint64_t Value);
  uint64_t percentile(unsigned Percent) const;
  // The likely total if there are exactly so many values, and the standard error of it and of the
  // mean, as a part of these; and on how many values that chance chose it rests, all of which stand
  // for the same number of others.
  double total(uint64_t Exactly) const;
  double expected() const; // of a value that was not measured
  double error(uint64_t Exactly) const;
  double chosen() const;
};

// What one thread waited for and held the mutexes of one group.
struct RawShare {
  uint32_t Thread, Group;
  bool Wait, Reading;
  uint64_t Count, Total;
  uint64_t Values;   // measured
  uint64_t Variance; // of the count, of which Values are known
  double Expected;   // see RawHistogram
};

// What threads counted by themselves: readers of rwlocks, and waits that are not for locks.
struct RawTally {
  uint64_t Acquisitions = 0, Contended = 0, TryFailures = 0, Timeouts = 0;
  uint64_t Signals = 0, Broadcasts = 0;
  uint64_t Holds = 0; // that are over

  void add(const RawTally &Other);
};

// Of counted sections; see relock_events.
struct RawEvents {
  uint64_t Samples = 0, Sections = 0, Events = 0;

  void add(const RawEvents &Other);
};

struct RawReaders {
  RawHistogram Wait, Hold;
  RawEvents Events;
};

struct RawGroup {
  uint32_t Index = 0;
  relock_primitive Primitive = RELOCK_MUTEX;
  uint64_t Address = 0; // 0: not of static storage
  bool Initialised = false;
  uint64_t ObjectsCreated = 0;
  std::vector<uint64_t> Frames;
  std::vector<RawObject> Objects;
  RawCounts Retired;
  RawHistogram Wait, Hold;
  std::vector<uint64_t> OpenWaits; // when those began that have not ended; for no lock
  RawTally Tally;
  RawEvents Events;
  std::optional<RawReaders> Readers; // their times, if an rwlock was read under
};

// Acquisitions in one group while a lock of another one was held, by one thread.
struct RawNesting {
  uint32_t Inner, Outer;
  uint32_t Reading; // see relock_nesting
  uint64_t Count, Tried;
};

// A call that acquires locks of a group. Estimates: see relock_site.
struct RawSite {
  uint32_t Group = 0;
  bool Reading = false;
  uint64_t Samples = 0, Acquisitions = 0, Hold = 0, Contended = 0, Wait = 0;
  std::vector<uint64_t> Frames;
};

// Waits of one thread for locks of a group that another one held.
struct RawEdge {
  uint32_t Group, Holder, Waiter; // holder 0: unknown
  uint64_t Count, Wait;
};

struct RawWait {
  uint64_t Start, Wait;
  uint32_t Thread, Group;
};

// See relock_intervals.
struct RawIntervals {
  uint32_t Group, Level;
  std::array<uint64_t, RELOCK_INTERVALS> Wait;
};

struct RawThread {
  uint32_t Id;
  std::string Name;
  uint64_t Entry; // the function it began with; 0: unknown
  uint64_t Started, StartTicks, EndedTime, SectionStart, SectionWeight, SectionTime, Sections;
  uint64_t Sampling;
  uint64_t WaitStart, WaitGroup; // 0 and any: waits for nothing but a lock
  bool Live;

  uint64_t lived(uint64_t Until) const;
  uint64_t inSections(uint64_t Until) const; // an estimate, but never more than it lived
};

struct RawProcess {
  relock_header Header;
  std::string File, Executable;
  std::vector<RawModule> Modules;
  std::vector<RawGroup> Groups;
  std::vector<RawThread> Threads;
  std::vector<RawNesting> Nestings;
  std::vector<RawEdge> Edges;
  std::vector<RawShare> Shares;
  std::vector<RawSite> Sites;
  std::vector<RawWait> Waits; // in no order
  std::vector<RawIntervals> Intervals;
  uint64_t IntervalsBegin = 0; // the tick from which on these count
  uint64_t LastSeen = 0;       // the latest tick in any record

  uint64_t acquisitions() const; // and waits of other kinds
  const RawModule *moduleOf(uint64_t Address) const;
};

llvm::Expected<RawProcess> readRecords(llvm::StringRef File);

} // namespace relock
