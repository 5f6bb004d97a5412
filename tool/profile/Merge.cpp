// SPDX-License-Identifier: MIT
#include "profile/Merge.h"

#include "profile/Buckets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace llvm;

namespace relock {

namespace {

StringRef programOf(const Profile &P) {
  return sys::path::filename(P.Executable.empty() && !P.Command.empty() ? P.Command[0]
                                                                        : P.Executable);
}

std::string sourceOf(const Profile &P) { return P.Source.empty() ? "relock profile" : P.Source; }

void add(LockCounts &Sum, const LockCounts &C) {
  Sum.Acquisitions += C.Acquisitions;
  Sum.Contended += C.Contended;
  Sum.Handovers += C.Handovers;
  Sum.TrylockFailures += C.TrylockFailures;
  Sum.Timeouts += C.Timeouts;
  Sum.CondWaits += C.CondWaits;
  Sum.Reentries += C.Reentries;
}

void add(Dropped &Sum, const Dropped &D) {
  Sum.Mutexes += D.Mutexes;
  Sum.Times += D.Times;
  Sum.Threads += D.Threads;
  Sum.Nested += D.Nested;
  Sum.Modules += D.Modules;
  Sum.Processes += D.Processes;
  Sum.Nestings += D.Nestings;
  Sum.Samples += D.Samples;
  Sum.Runtimes += D.Runtimes;
  Sum.Edges += D.Edges;
}

// Of one event only; where it could not be counted in every run, of those in which it was.
void add(std::optional<CountedEvent> &Sum, const std::optional<CountedEvent> &Event) {
  if (!Sum || !Event || Sum->Name != Event->Name)
    return Sum.reset();
  uint64_t NotCounted = Sum->ThreadsNotCounted + Event->ThreadsNotCounted;
  if (!Sum->NotAvailable.empty())
    Sum = Event;
  Sum->ThreadsNotCounted = NotCounted;
}

void add(std::optional<SectionEvents> &Sum, const std::optional<SectionEvents> &E) {
  if (!E)
    return;
  if (!Sum)
    Sum.emplace();
  Sum->PerSection =
      (Sum->PerSection * double(Sum->Sections) + E->PerSection * double(E->Sections)) /
      std::max(double(Sum->Sections + E->Sections), 1.0);
  Sum->Sections += E->Sections;
  Sum->Samples += E->Samples;
}

void add(CameFromCounts &Sum, const CameFromCounts &Counts) {
  for (size_t I = 0; I < Distances; ++I)
    Sum[I] += Counts[I];
}

void add(WakeCounts &Sum, const WakeCounts &W) {
  Sum.Signals += W.Signals;
  Sum.Broadcasts += W.Broadcasts;
}

// How often what was held under each key.
void add(std::vector<std::pair<std::string, uint64_t>> &Sum,
         const std::vector<std::pair<std::string, uint64_t>> &Inside) {
  for (const auto &[Key, Count] : Inside) {
    auto Same = find_if(Sum, [&](const auto &Known) { return Known.first == Key; });
    if (Same != Sum.end())
      Same->second += Count;
    else
      Sum.push_back({Key, Count});
  }
}

void add(std::vector<ReadNesting> &Sum, const std::vector<ReadNesting> &ReadInside) {
  for (const ReadNesting &Read : ReadInside) {
    auto Same = find_if(Sum, [&](const ReadNesting &Known) { return Known.Key == Read.Key; });
    if (Same == Sum.end()) {
      Sum.push_back(Read);
      continue;
    }
    Same->Inner += Read.Inner;
    Same->Outer += Read.Outer;
    Same->Both += Read.Both;
  }
}

void add(RuntimeCounts &Sum, const RuntimeCounts &R) {
  if (Sum.Algorithm != R.Algorithm)
    Sum.Algorithm = "several algorithms";
  if (Sum.Server != R.Server)
    Sum.Server.reset();
  Sum.Held += R.Held;
  Sum.Executed += R.Executed;
  Sum.Delegated += R.Delegated;
  Sum.Batches += R.Batches;
  Sum.Parked += R.Parked;
  Sum.Switches += R.Switches;
}

double mean(double A, uint64_t WeightA, double B, uint64_t WeightB) {
  return WeightA + WeightB ? (A * double(WeightA) + B * double(WeightB)) / double(WeightA + WeightB)
                           : 0;
}

void add(WaiterCounts &Sum, uint64_t Waits, const WaiterCounts &W, uint64_t TheirWaits) {
  Sum.Mean = mean(Sum.Mean, Waits, W.Mean, TheirWaits);
  Sum.Max = std::max(Sum.Max, W.Max);
}

// The rates are over what they are rates of.
void add(ServerCounts &Sum, const ServerCounts &S) {
  Sum.UseRate = mean(Sum.UseRate, Sum.ActivePasses, S.UseRate, S.ActivePasses);
  Sum.FalseSerialization =
      mean(Sum.FalseSerialization, Sum.ActivePasses, S.FalseSerialization, S.ActivePasses);
  Sum.SlowRate = mean(Sum.SlowRate, Sum.Sections, S.SlowRate, S.Sections);
  Sum.Sections += S.Sections;
  Sum.Passes += S.Passes;
  Sum.ActivePasses += S.ActivePasses;
  Sum.ManagerWakes += S.ManagerWakes;
  Sum.Activations += S.Activations;
  Sum.Sleeps += S.Sleeps;
  Sum.Threads = std::max(Sum.Threads, S.Threads);
  if (Sum.CacheMisses && S.CacheMisses)
    *Sum.CacheMisses += *S.CacheMisses;
  else
    Sum.CacheMisses.reset();
  if (Sum.Cpu != S.Cpu)
    Sum.Cpu.reset();
  Sum.Fifo &= S.Fifo;
}

void add(std::vector<CallSite> &Sum, std::vector<CallSite> Sites) {
  for (CallSite &Site : Sites) {
    auto Same = find_if(Sum, [&](const CallSite &Known) {
      return Known.Reading == Site.Reading && Known.Stack == Site.Stack;
    });
    if (Same == Sum.end()) {
      Sum.push_back(std::move(Site));
      continue;
    }
    Same->Samples += Site.Samples;
    Same->Acquisitions += Site.Acquisitions;
    Same->Contended += Site.Contended;
    Same->Wait += Site.Wait;
    Same->Hold += Site.Hold;
  }
}

// What has a name is the same in every run; addresses say nothing.
void add(ProfiledClass &Sum, std::vector<LockObject> Locks) {
  StringMap<size_t> Known;
  for (auto [I, Lock] : enumerate(Sum.Locks))
    if (!StringRef(Lock.Name).starts_with("0x"))
      Known[Lock.Name] = I;
  for (LockObject &Lock : Locks) {
    auto Found = Known.find(Lock.Name);
    if (Found == Known.end()) {
      Sum.Locks.push_back(std::move(Lock));
      continue;
    }
    LockObject &Same = Sum.Locks[Found->second];
    add(Same.Counts, Lock.Counts);
    Same.Wait += Lock.Wait;
    Same.Hold += Lock.Hold;
  }
}

auto costOf(const LockObject &L) { return std::tie(L.Wait, L.Hold, L.Counts.Acquisitions); }
auto costOf(const ProfiledClass &C) {
  return std::tie(C.Wait.Total, C.Hold.Total, C.Counts.Acquisitions);
}

auto costOf(const CallSite &S) { return std::tie(S.Wait, S.Hold, S.Acquisitions); }
auto costOf(const ProfiledThread &T) { return std::tie(T.Wait, T.Section, T.Sections); }
auto costOf(const WaitEdge &E) { return std::tie(E.Wait, E.Count); }
auto costOf(const ProfiledWait &W) { return std::tie(W.Wait); }
StringRef nameOf(const LockObject &L) { return L.Name; }
StringRef nameOf(const ProfiledClass &C) { return C.Name; }
StringRef nameOf(const CallSite &S) { return S.Stack.empty() ? StringRef() : S.Stack.front(); }
StringRef nameOf(const ProfiledThread &T) { return T.Name; }
StringRef nameOf(const WaitEdge &E) { return E.Key; }
StringRef nameOf(const ProfiledWait &W) { return W.Key; }

template <typename T> bool costlier(const T &A, const T &B) {
  return costOf(A) != costOf(B) ? costOf(B) < costOf(A) : nameOf(A) < nameOf(B);
}

class Merger {
public:
  explicit Merger(Profile First) : Sum(std::move(First)), Clock(Sum.TicksPerSecond) {
    for (ProfiledThread &Thread : Sum.ByThread)
      Thread.Run = std::max<uint64_t>(Thread.Run, 1);
    for (auto [I, Class] : enumerate(Sum.Classes))
      Locks[Class.Key] = I;
    for (auto [I, Class] : enumerate(Sum.Waits))
      Waits[Class.Key] = I;
  }

  void add(Profile P) {
    addOverTime(P);
    addThreads(P);
    addRun(P);
    Buckets Theirs(P.TicksPerSecond);
    for (ProfiledClass &Class : P.Classes)
      add(Sum.Classes, Locks, std::move(Class), Theirs);
    for (ProfiledClass &Class : P.Waits)
      add(Sum.Waits, Waits, std::move(Class), Theirs);
    for (const ServerCounts &Server : P.Servers)
      add(Server);
  }

  Profile finish() {
    for (std::vector<ProfiledClass> *Classes : {&Sum.Classes, &Sum.Waits}) {
      for (ProfiledClass &Class : *Classes) {
        for (Times *T : timesOf(Class))
          finish(*T);
        finishEvents(Class);
        keepCostliest(Class.Locks, LocksPerClass, Class.LocksOmitted);
        keepCostliest(Class.Sites, SitesPerClass, Class.SitesOmitted);
      }
      std::stable_sort(Classes->begin(), Classes->end(), costlier<ProfiledClass>);
    }
    keepCostliest(Sum.ByThread, ThreadsKept, Sum.ThreadsOmitted);
    keepCostliest(Sum.Edges, EdgesKept, Sum.EdgesOmitted);
    keepCostliest(Sum.Timeline, WaitsKept, Sum.TimelineOmitted);
    std::stable_sort(Sum.Timeline.begin(), Sum.Timeline.end(),
                     [](const auto &A, const auto &B) { return A.Start < B.Start; });
    return std::move(Sum);
  }

private:
  void finishEvents(ProfiledClass &Class) const {
    if (!Sum.Event) { // of several events, or not of all runs
      Class.Events.reset();
      if (Class.Readers)
        Class.Readers->Events.reset();
    }
    Class.CacheMissesPerSection.reset();
    if (Class.Events && Sum.Event->CacheMisses)
      Class.CacheMissesPerSection = Class.Events->PerSection;
  }

  void addRun(const Profile &P) {
    for (auto [Ours, Theirs] : {std::pair(&Sum.PairOverhead, P.PairOverhead),
                                {&Sum.UntimedOverhead, P.UntimedOverhead},
                                {&Sum.PairPlain, P.PairPlain},
                                {&Sum.HoldOverhead, P.HoldOverhead}})
      *Ours = mean(*Ours, Sum.Runs, Theirs, P.Runs);
    Sum.Runs += P.Runs;
    if (Sum.End.How != P.End.How || Sum.End.Status != P.End.Status)
      Sum.End = {"unknown", 0};
    if (!StringRef(Sum.Machine).contains(P.Machine))
      Sum.Machine += "; " + P.Machine;
    Sum.Processors = std::max(Sum.Processors, P.Processors);
    Sum.UsableProcessors = std::max(Sum.UsableProcessors, P.UsableProcessors);
    Sum.SpareTime += P.SpareTime;
    Sum.Duration += P.Duration;
    Sum.Threads += P.Threads;
    Sum.ThreadsAtOnce = std::max(Sum.ThreadsAtOnce, P.ThreadsAtOnce);
    Sum.ThreadTime += P.ThreadTime;
    Sum.SectionTime += P.SectionTime;
    if (P.RuntimeSectionTime)
      Sum.RuntimeWithin = P.RuntimeWithin && (Sum.RuntimeWithin || !Sum.RuntimeSectionTime);
    Sum.RuntimeSectionTime += P.RuntimeSectionTime;
    Sum.Sections += P.Sections;
    Sum.Overhead += P.Overhead;
    Sum.Holds += P.Holds;
    Sum.HoldsTimed += P.HoldsTimed;
    Sum.Sampling += P.Sampling;
    // Without that of all runs it is not that of the sum.
    Sum.ProcessorTime =
        Sum.ProcessorTime && P.ProcessorTime ? Sum.ProcessorTime + P.ProcessorTime : 0;
    Sum.RecordsSize = std::max(Sum.RecordsSize, P.RecordsSize);
    Sum.ForeignReleases += P.ForeignReleases;
    relock::add(Sum.Drops, P.Drops);
    relock::add(Sum.Event, P.Event);
    Sum.ThreadsOmitted += P.ThreadsOmitted;
    Sum.EdgesOmitted += P.EdgesOmitted;
    Sum.TimelineOmitted += P.TimelineOmitted;
  }

  // To intervals of that length, the first of which begins so much before the first of these. The
  // last one of a run ends with it.
  static void spread(const std::vector<uint64_t> &Wait, const Profile &Of, uint64_t Before,
                     uint64_t Length, std::vector<double> &To) {
    const double End = double(Before) + double(Of.Duration), Interval = double(Of.Interval);
    for (auto [I, Each] : enumerate(Wait)) {
      double From = double(Before) + double(I) * Interval, Until = std::min(From + Interval, End);
      for (size_t At = size_t(From / double(Length)); At < To.size(); ++At) {
        double Part = std::min(Until, double(At + 1) * double(Length)) -
                      std::max(From, double(At) * double(Length));
        if (Part <= 0)
          break;
        To[At] += double(Each) * Part / (Until - From);
      }
    }
  }

  // The runs stand one after another. Where one of them does not have it, the sum cannot.
  void addOverTime(const Profile &P) {
    if (!Sum.Interval || !P.Interval) {
      Sum.Interval = 0;
      Sum.OverTime.clear();
      return;
    }
    uint64_t All = Sum.Duration + P.Duration, Length = All / MostIntervals + 1;
    std::map<std::string, std::vector<double>> Found;
    for (auto [Of, Before] : {std::pair<const Profile *, uint64_t>(&Sum, 0), {&P, Sum.Duration}})
      for (const WaitingOverTime &Class : Of->OverTime) {
        std::vector<double> &To = Found[Class.Key];
        To.resize(All / Length + 1);
        spread(Class.Wait, *Of, Before, Length, To);
      }
    Sum.Interval = Length;
    Sum.OverTime.clear();
    for (const auto &[Key, Wait] : Found) {
      WaitingOverTime Class{Key, {}};
      for (double Each : Wait)
        Class.Wait.push_back(uint64_t(Each + 0.5));
      Sum.OverTime.push_back(std::move(Class));
    }
    auto Order = [](const WaitingOverTime &Class) {
      return std::make_pair(Class.Key.empty(),
                            -std::accumulate(Class.Wait.begin(), Class.Wait.end(), 0.0));
    };
    std::stable_sort(Sum.OverTime.begin(), Sum.OverTime.end(),
                     [&](const auto &A, const auto &B) { return Order(A) < Order(B); });
  }

  static uint64_t lastThread(const Profile &P) {
    uint64_t Last = 0;
    for (const ProfiledThread &Thread : P.ByThread)
      Last = std::max(Last, Thread.Id);
    for (const WaitEdge &Edge : P.Edges)
      Last = std::max({Last, Edge.Waiter, Edge.Holder});
    for (const ProfiledWait &Wait : P.Timeline)
      Last = std::max(Last, Wait.Thread);
    return Last;
  }

  // Threads are those of one run: they stay apart, under numbers of their own. Their waits follow
  // those of the runs before.
  void addThreads(const Profile &P) {
    uint64_t Before = lastThread(Sum);
    for (ProfiledThread Thread : P.ByThread) {
      Thread.Id += Before;
      Thread.Run = Sum.Runs + std::max<uint64_t>(Thread.Run, 1);
      Sum.ByThread.push_back(std::move(Thread));
    }
    for (WaitEdge Edge : P.Edges) {
      Edge.Waiter += Before;
      Edge.Holder += Edge.Holder ? Before : 0;
      Sum.Edges.push_back(std::move(Edge));
    }
    for (ProfiledWait Wait : P.Timeline) {
      Wait.Thread += Before;
      Wait.Start += Sum.Duration;
      Sum.Timeline.push_back(std::move(Wait));
    }
  }

  static std::vector<Times *> timesOf(ProfiledClass &Class) {
    std::vector<Times *> All = {&Class.Wait, &Class.Hold};
    if (Class.Readers)
      All.insert(All.end(), {&Class.Readers->Wait, &Class.Readers->Hold});
    return All;
  }

  void add(std::vector<ProfiledClass> &Classes, StringMap<size_t> &Index, ProfiledClass Class,
           const Buckets &Theirs) {
    auto [Where, New] = Index.try_emplace(Class.Key, Classes.size());
    if (New) {
      for (Times *T : timesOf(Class))
        T->Histogram = rebucket(T->Histogram, Theirs);
      Classes.push_back(std::move(Class));
      return;
    }
    ProfiledClass &Same = Classes[Where->second];
    Same.Objects += Class.Objects;
    Same.HeldAtEnd += Class.HeldAtEnd;
    relock::add(Same.Counts, Class.Counts);
    relock::add(Same.Waiters, Same.Wait.Count, Class.Waiters, Class.Wait.Count);
    add(Same.Wait, Class.Wait, Theirs);
    add(Same.Hold, Class.Hold, Theirs);
    if (Class.Readers)
      add(Same.Readers ? *Same.Readers : Same.Readers.emplace(), *Class.Readers, Theirs);
    if (Class.Wakes)
      relock::add(Same.Wakes ? *Same.Wakes : Same.Wakes.emplace(), *Class.Wakes);
    relock::add(Same.Events, Class.Events);
    if (Class.CameFrom)
      relock::add(Same.CameFrom ? *Same.CameFrom : Same.CameFrom.emplace(), *Class.CameFrom);
    relock::add(Same.Inside, Class.Inside);
    relock::add(Same.TriedInside, Class.TriedInside);
    relock::add(Same.ReadInside, Class.ReadInside);
    relock::add(Same, std::move(Class.Locks));
    Same.LocksOmitted += Class.LocksOmitted;
    relock::add(Same.Sites, std::move(Class.Sites));
    Same.SitesOmitted += Class.SitesOmitted;
    if (Same.Runtime && Class.Runtime)
      relock::add(*Same.Runtime, *Class.Runtime);
  }

  void add(const ServerCounts &Server) {
    auto Same = find_if(Sum.Servers, [&](auto &S) { return S.Number == Server.Number; });
    if (Same != Sum.Servers.end())
      relock::add(*Same, Server);
    else
      Sum.Servers.push_back(Server);
  }

  void add(ReaderCounts &Ours, const ReaderCounts &R, const Buckets &Theirs) {
    Ours.Acquisitions += R.Acquisitions;
    Ours.Contended += R.Contended;
    Ours.TrylockFailures += R.TrylockFailures;
    Ours.Timeouts += R.Timeouts;
    relock::add(Ours.Waiters, Ours.Wait.Count, R.Waiters, R.Wait.Count);
    relock::add(Ours.Events, R.Events);
    add(Ours.Wait, R.Wait, Theirs);
    add(Ours.Hold, R.Hold, Theirs);
  }

  void add(Times &Ours, const Times &T, const Buckets &Theirs) {
    Ours.Count += T.Count;
    Ours.Timed += T.Timed;
    if (Ours.Error && T.Error)
      Ours.Error = std::hypot(*Ours.Error * double(Ours.Total), *T.Error * double(T.Total)) /
                   std::max(double(Ours.Total + T.Total), 1.0);
    else
      Ours.Error.reset();
    Ours.Total += T.Total;
    Ours.Max = std::max(Ours.Max, T.Max);
    for (auto Bucket : rebucket(T.Histogram, Theirs))
      Ours.Histogram.push_back(Bucket);
  }

  // Into the buckets of the first profile's clock, by the middle of each bucket.
  using Histogram = std::vector<std::pair<uint64_t, uint64_t>>;
  Histogram rebucket(const Histogram &H, const Buckets &Theirs) const {
    Histogram Result;
    for (auto [Floor, Count] : H)
      Result.push_back({Clock.floor(Clock.holding(Theirs.middle(Theirs.named(Floor)))), Count});
    return Result;
  }

  void finish(Times &T) const {
    std::map<uint64_t, uint64_t> Counts;
    for (auto [Floor, Count] : T.Histogram)
      Counts[Floor] += Count;
    T.Histogram.assign(Counts.begin(), Counts.end());
    T.Mean = T.Count ? T.Total / T.Count : 0;
    T.P50 = Clock.percentile(T, 50);
    T.P90 = Clock.percentile(T, 90);
    T.P99 = Clock.percentile(T, 99);
  }

  template <typename T>
  static void keepCostliest(std::vector<T> &All, size_t Most, uint64_t &Omitted) {
    std::stable_sort(All.begin(), All.end(), costlier<T>);
    if (All.size() > Most) {
      Omitted += All.size() - Most;
      All.resize(Most);
    }
  }

  Profile Sum;
  Buckets Clock;
  StringMap<size_t> Locks, Waits; // the index of a class, by key
};

} // namespace

std::string whyNotMerged(const Profile &A, const Profile &B) {
  if (programOf(A) != programOf(B))
    return ("is a profile of '" + programOf(B) + "', and the first one of '" + programOf(A) +
            "'; only runs of one program can be added")
        .str();
  if (A.Source != B.Source)
    return "was written by " + sourceOf(B) + ", and the first one by " + sourceOf(A) +
           ", which measure different things; compare them with --diff";
  return "";
}

Profile mergeProfiles(std::vector<Profile> Runs) {
  if (Runs.size() == 1)
    return std::move(Runs.front());
  Merger M(std::move(Runs.front()));
  for (Profile &P : drop_begin(Runs))
    M.add(std::move(P));
  return M.finish();
}

} // namespace relock
