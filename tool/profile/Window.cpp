// SPDX-License-Identifier: MIT
#include "profile/Window.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

using namespace llvm;

namespace relock {

namespace {

// The program goes on while its records are read, so that a sum can be ahead of its parts.
uint64_t less(uint64_t After, uint64_t Before) { return After - std::min(After, Before); }

void subtract(RawCounts &After, const RawCounts &Before) {
  for (uint64_t RawCounts::*Field :
       {&RawCounts::Acquisitions, &RawCounts::Contended, &RawCounts::Wait, &RawCounts::Hold,
        &RawCounts::Holds, &RawCounts::Weights, &RawCounts::Handovers, &RawCounts::TrylockFailures,
        &RawCounts::Timeouts, &RawCounts::CondWaits, &RawCounts::Reentries})
    After.*Field = less(After.*Field, Before.*Field);
}

// A longest one from before the window says nothing of it.
uint64_t longest(const RawHistogram &Window, uint64_t After, uint64_t Before) {
  if (After > Before)
    return After;
  for (unsigned I = RELOCK_BUCKETS; I-- > 0;)
    if (Window.Buckets[I])
      return I + 1 < RELOCK_BUCKETS ? std::min(After, relock_bucket_floor(I + 1) - 1) : After;
  return 0;
}

void subtract(RawHistogram &After, const RawHistogram &Before) {
  After.Count = less(After.Count, Before.Count);
  After.Total = less(After.Total, Before.Total);
  After.Values = less(After.Values, Before.Values);
  After.Chance.weights -= Before.Chance.weights;
  After.Chance.values -= Before.Chance.values;
  After.Chance.squares -= Before.Chance.squares;
  After.Waiters = less(After.Waiters, Before.Waiters);
  for (auto [Now, Then] : zip_equal(After.Buckets, Before.Buckets))
    Now = less(Now, Then);
  for (auto [Now, Then] : zip_equal(After.CameFrom, Before.CameFrom))
    Now = less(Now, Then);
  After.Max = longest(After, After.Max, Before.Max);
  if (!After.Count)
    After.WaitersMax = 0;
}

void subtract(RawTally &After, const RawTally &Before) {
  for (uint64_t RawTally::*Field :
       {&RawTally::Acquisitions, &RawTally::Contended, &RawTally::TryFailures, &RawTally::Timeouts,
        &RawTally::Signals, &RawTally::Broadcasts, &RawTally::Holds})
    After.*Field = less(After.*Field, Before.*Field);
}

void subtract(RawEvents &After, const RawEvents &Before) {
  for (uint64_t RawEvents::*Field : {&RawEvents::Samples, &RawEvents::Sections, &RawEvents::Events})
    After.*Field = less(After.*Field, Before.*Field);
}

// What was destroyed in the window has passed its counts to its group, those from before the
// window included.
void subtractObjects(RawGroup &After, const RawGroup &Before) {
  std::map<uint64_t, RawObject *> Live;
  for (RawObject &Object : After.Objects)
    Live[Object.Address] = &Object;
  for (const RawObject &Object : Before.Objects) {
    RawCounts Passed = Object.Counts;
    if (RawObject *Same = Live[Object.Address]) {
      subtract(Passed, Same->Counts);
      subtract(Same->Counts, Object.Counts);
    }
    subtract(After.Retired, Passed);
  }
}

void subtract(RawGroup &After, const RawGroup &Before) {
  subtract(After.Retired, Before.Retired);
  subtractObjects(After, Before);
  subtract(After.Wait, Before.Wait);
  subtract(After.Hold, Before.Hold);
  subtract(After.Tally, Before.Tally);
  subtract(After.Events, Before.Events);
  if (After.Readers && Before.Readers) {
    subtract(After.Readers->Wait, Before.Readers->Wait);
    subtract(After.Readers->Hold, Before.Readers->Hold);
    subtract(After.Readers->Events, Before.Readers->Events);
  }
}

// A class that nobody used in the window is not of it; one that was held all the time is.
bool inWindow(const RawGroup &Group) {
  const RawTally &Tally = Group.Tally;
  auto Any = [](const RawCounts &C) {
    return C.Acquisitions || C.TrylockFailures || C.Timeouts || C.CondWaits || C.Holds;
  };
  if (Group.Primitive == RELOCK_CONVERTED)
    return true; // that is for librelock to say
  return Any(Group.Retired) || Tally.Acquisitions || Tally.TryFailures || Tally.Timeouts ||
         Tally.Signals || Tally.Broadcasts || Group.Wait.Count || Group.Hold.Count ||
         !Group.OpenWaits.empty() || (Group.Readers && Group.Readers->Hold.Count) ||
         any_of(Group.Objects, [&](const RawObject &O) { return O.Held || Any(O.Counts); });
}

void subtractGroups(RawProcess &After, const RawProcess &Before, uint64_t Begin) {
  std::map<uint32_t, const RawGroup *> Known;
  for (const RawGroup &Group : Before.Groups)
    Known[Group.Index] = &Group;
  for (RawGroup &Group : After.Groups) {
    if (const RawGroup *Then = Known[Group.Index])
      subtract(Group, *Then);
    for (uint64_t &Start : Group.OpenWaits)
      Start = std::max(Start, Begin);
  }
  llvm::erase_if(After.Groups, [](const RawGroup &Group) { return !inWindow(Group); });
}

void subtractThreads(RawProcess &After, const RawProcess &Before, uint64_t Begin, uint64_t End) {
  std::map<uint32_t, const RawThread *> Known;
  for (const RawThread &Thread : Before.Threads)
    Known[Thread.Id] = &Thread;
  for (RawThread &Thread : After.Threads) {
    Thread.SectionTime = Thread.inSections(End);
    Thread.EndedTime = Thread.lived(End);
    Thread.Live = false;
    Thread.SectionStart = 0;
    if (const RawThread *Then = Known[Thread.Id]) {
      Thread.Started = less(Thread.Started, Then->Started) + Then->Live;
      Thread.EndedTime = less(Thread.EndedTime, Then->lived(Begin));
      Thread.SectionTime = less(Thread.SectionTime, Then->inSections(Begin));
      Thread.Sections = less(Thread.Sections, Then->Sections);
      Thread.Sampling = less(Thread.Sampling, Then->Sampling);
    }
  }
}

// Of records of one key, of which there may be several, the sums; `Fields` begins with the count.
template <typename Record, typename KeyOf>
void subtractSums(std::vector<Record> &After, const std::vector<Record> &Before, KeyOf Key,
                  std::initializer_list<uint64_t Record::*> Fields) {
  std::map<decltype(Key(std::declval<Record>())), Record> Sums;
  for (const Record &R : After)
    if (auto [At, New] = Sums.try_emplace(Key(R), R); !New)
      for (auto Field : Fields)
        At->second.*Field += R.*Field;
  for (const Record &R : Before)
    if (auto At = Sums.find(Key(R)); At != Sums.end())
      for (auto Field : Fields)
        At->second.*Field = less(At->second.*Field, R.*Field);
  After.clear();
  for (const auto &[Key, Sum] : Sums)
    if (Sum.**Fields.begin())
      After.push_back(Sum);
}

void subtractIntervals(std::vector<RawIntervals> &After, ArrayRef<RawIntervals> Before) {
  std::map<std::pair<uint32_t, uint32_t>, RawIntervals> Sums;
  for (const RawIntervals &I : After)
    if (auto [At, New] = Sums.try_emplace({I.Group, I.Level}, I); !New)
      for (auto [Sum, Wait] : zip_equal(At->second.Wait, I.Wait))
        Sum += Wait;
  for (const RawIntervals &I : Before)
    if (auto At = Sums.find({I.Group, I.Level}); At != Sums.end())
      for (auto [Sum, Wait] : zip_equal(At->second.Wait, I.Wait))
        Sum = less(Sum, Wait);
  After.clear();
  for (const auto &[Which, Sum] : Sums)
    After.push_back(Sum);
}

void subtractSites(std::vector<RawSite> &After, ArrayRef<RawSite> Before) {
  std::map<std::tuple<uint32_t, bool, std::vector<uint64_t>>, const RawSite *> Known;
  for (const RawSite &Site : Before)
    Known[{Site.Group, Site.Reading, Site.Frames}] = &Site;
  for (RawSite &Site : After)
    if (const RawSite *Then = Known[{Site.Group, Site.Reading, Site.Frames}])
      for (uint64_t RawSite::*Field : {&RawSite::Samples, &RawSite::Acquisitions, &RawSite::Hold,
                                       &RawSite::Contended, &RawSite::Wait})
        Site.*Field = less(Site.*Field, Then->*Field);
  llvm::erase_if(After, [](const RawSite &Site) { return !Site.Samples; });
}

void subtractDrops(relock_header &After, const relock_header &Before) {
  for (uint64_t relock_header::*Field :
       {&relock_header::dropped_objects, &relock_header::dropped_histograms,
        &relock_header::dropped_threads, &relock_header::dropped_nested,
        &relock_header::dropped_modules, &relock_header::unrecorded_children,
        &relock_header::foreign_releases, &relock_header::dropped_nestings,
        &relock_header::dropped_samples, &relock_header::dropped_edges,
        &relock_header::dropped_counters, &relock_header::making})
    After.*Field = less(After.*Field, Before.*Field);
}

} // namespace

RawProcess between(const RawProcess &Before, RawProcess After, ClockReading Begin,
                   ClockReading End) {
  bool Ended = After.Header.end != RELOCK_END_UNKNOWN;
  subtractGroups(After, Before, Begin.Ticks);
  subtractThreads(After, Before, Begin.Ticks, Ended ? After.Header.end_ticks : End.Ticks);
  subtractSums(After.Nestings, Before.Nestings,
               [](const RawNesting &N) { return std::make_tuple(N.Inner, N.Outer, N.Reading); },
               {&RawNesting::Count, &RawNesting::Tried});
  subtractSums(After.Edges, Before.Edges,
               [](const RawEdge &E) { return std::make_tuple(E.Group, E.Holder, E.Waiter); },
               {&RawEdge::Count, &RawEdge::Wait});
  subtractSums(
      After.Shares, Before.Shares,
      [](const RawShare &S) { return std::make_tuple(S.Thread, S.Group, S.Wait, S.Reading); },
      {&RawShare::Count, &RawShare::Total, &RawShare::Values, &RawShare::Variance});
  subtractIntervals(After.Intervals, Before.Intervals);
  subtractSites(After.Sites, Before.Sites);
  subtractDrops(After.Header, Before.Header);
  llvm::erase_if(After.Waits, [&](const RawWait &Wait) { return Wait.Start < Begin.Ticks; });
  After.Header.start_ticks = Begin.Ticks;
  After.Header.processor_ns = 0; // known of the whole run only
  return After;
}

} // namespace relock
