// SPDX-License-Identifier: MIT
#include "profile/Profile.h"

#include "profile/Buckets.h"
#include "llvm/ADT/StringMap.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace relock {

char ProfileError::ID;

std::optional<double> CameFromCounts::otherThread() const {
  uint64_t All = std::accumulate(begin(), end(), uint64_t(0));
  return All ? std::optional(1 - double(front()) / double(All)) : std::nullopt;
}

std::optional<double> CameFromCounts::otherCache() const {
  constexpr size_t OtherCache = 3; // and all that are farther away, but the last one
  uint64_t Far = std::accumulate(begin() + OtherCache, end() - 1, uint64_t(0));
  uint64_t Known = std::accumulate(begin(), end() - 1, uint64_t(0));
  if (!Known || (back() && Known == front()))
    return std::nullopt;
  return double(Far) / double(Known);
}

uint64_t ProfiledClass::acquisitions() const {
  return Counts.Acquisitions + (Readers ? Readers->Acquisitions : 0);
}

uint64_t ProfiledClass::waitTotal() const {
  return Wait.Total + (Readers ? Readers->Wait.Total : 0);
}

uint64_t ProfiledClass::holdTotal() const {
  return Hold.Total + (Readers ? Readers->Hold.Total : 0);
}

std::string ProfiledThread::label() const {
  return (Run ? "run " + std::to_string(Run) + ": " : "") +
         (Name.empty() ? "#" + std::to_string(Id) : Name);
}

uint64_t Profile::acquisitions() const {
  uint64_t Sum = 0;
  for (const ProfiledClass &Class : Classes)
    Sum += Class.acquisitions();
  return Sum;
}

uint64_t Profile::idleTime() const {
  uint64_t Sum = 0;
  for (const ProfiledClass &Class : Waits)
    if (Class.Primitive != "futex") // may be a lock of the program's own making
      Sum += Class.Wait.Total;
  return Sum;
}

bool Profile::hadProcessorsToSpare() const {
  return ProcessorTime && double(SpareTime) > 0.5 * double(UsableProcessors) * double(Duration);
}

namespace {

// Of a class, the holds that are long enough for a thread to have slept in them: it is put away and
// woken again, which takes some microseconds.
uint64_t timeInLongHolds(const Times &Hold, const Buckets &Clock) {
  constexpr uint64_t Long = 4000;
  double All = 0, InLong = 0;
  for (auto [Floor, Count] : Hold.Histogram) {
    double Time = double(std::min(Clock.middle(Clock.named(Floor)), Hold.Max)) * double(Count);
    All += Time;
    InLong += Floor >= Long ? Time : 0;
  }
  return All > 0 ? uint64_t(double(Hold.Total) * (InLong / All)) : 0;
}

} // namespace

// A section is processor time, waiting for locks, or sleep. What it computed is part of the
// processor time, but not known by itself: at most, sections computed wherever they did not wait;
// at least, they slept through all of their long holds, as far as threads lived to do so besides
// waiting idle.
TimeRange Profile::workedTime() const {
  Buckets Clock(TicksPerSecond);
  uint64_t Waits = 0, LongHolds = 0;
  for (const ProfiledClass &Class : Classes) {
    if (!Class.isTimed())
      continue;
    if (Class.Primitive != "spinlock")
      Waits += Class.waitTotal();
    LongHolds += timeInLongHolds(Class.Hold, Clock);
    if (Class.Readers)
      LongHolds += timeInLongHolds(Class.Readers->Hold, Clock);
  }
  uint64_t InSections = SectionTime + (RuntimeWithin ? 0 : RuntimeSectionTime);
  uint64_t Lived = std::max(ThreadTime, SectionTime);
  uint64_t Asleep = std::min(LongHolds, InSections - std::min(InSections, Waits));
  uint64_t Idle = idleTime(); // some of it perhaps in sections
  uint64_t Awake = Lived - std::min(Lived, Idle - std::min(Idle, Asleep));
  uint64_t Least = std::clamp(ProcessorTime + Waits, SectionTime, Lived);
  return {Least, std::max(Least, std::min(ProcessorTime + Waits + Asleep, Awake))};
}

TimeRange Profile::busyTime() const {
  if (hadProcessorsToSpare())
    return workedTime();
  uint64_t Active = std::max(ThreadTime - std::min(ThreadTime, idleTime()), SectionTime);
  return {Active, Active};
}

namespace {

using TextVisitor = function_ref<void(std::string &)>;

void forEachText(ProfiledClass &Class, TextVisitor Do) {
  for (std::string *Text : {&Class.Primitive, &Class.Name, &Class.Kind, &Class.Module, &Class.File})
    Do(*Text);
  for (std::string &Frame : Class.Backtrace)
    Do(Frame);
  for (LockObject &Lock : Class.Locks)
    Do(Lock.Name);
  for (CallSite &Site : Class.Sites)
    for (std::string &Frame : Site.Stack)
      Do(Frame);
  if (Class.Runtime)
    Do(Class.Runtime->Algorithm);
}

} // namespace

void forEachText(Profile &P, TextVisitor Do) {
  for (std::string &Word : P.Command)
    Do(Word);
  for (std::string *Text : {&P.Source, &P.Executable, &P.End.How, &P.Machine})
    Do(*Text);
  if (P.Event)
    for (std::string *Text : {&P.Event->Name, &P.Event->NotAvailable})
      Do(*Text);
  for (std::vector<ProfiledClass> *Classes : {&P.Classes, &P.Waits})
    for (ProfiledClass &Class : *Classes)
      forEachText(Class, Do);
  for (ProfiledThread &Thread : P.ByThread)
    Do(Thread.Name);
}

void makeUtf8(Profile &P) {
  forEachText(P, [](std::string &Text) { Text = json::fixUTF8(Text); });
}

namespace {

// How often one class was acquired, other than by trylock, while another one was held: [of these,
// whether the inner one was taken for reading][the same of the outer one].
struct Order {
  uint64_t Count[2][2] = {};

  Order(const ProfiledClass &Inner, StringRef Outer) {
    for (const auto &[Key, Value] : Inner.Inside)
      Count[0][0] += Key == Outer ? Value : 0;
    for (const auto &[Key, Value] : Inner.TriedInside)
      less(Key == Outer ? Value : 0);
    for (const ReadNesting &Read : Inner.ReadInside)
      if (Read.Key == Outer) {
        Count[1][0] = Read.Inner, Count[0][1] = Read.Outer, Count[1][1] = Read.Both;
        less(Read.Inner + Read.Outer + Read.Both);
      }
  }
  void less(uint64_t Value) { Count[0][0] -= std::min(Value, Count[0][0]); }
  uint64_t all() const { return Count[0][0] + Count[0][1] + Count[1][0] + Count[1][1]; }

  // A thread of each order can have what the other one waits for: not by reading what it reads.
  bool locksUpWith(const Order &Other) const {
    for (bool Inner : {false, true})
      for (bool Outer : {false, true})
        for (bool OtherInner : {false, true})
          for (bool OtherOuter : {false, true})
            if (Count[Inner][Outer] && Other.Count[OtherInner][OtherOuter] &&
                !(Outer && OtherInner) && !(OtherOuter && Inner))
              return true;
    return false;
  }
};

} // namespace

std::vector<Inversion> findInversions(const Profile &P) {
  std::vector<Inversion> Found;
  StringMap<const ProfiledClass *> ByKey;
  for (const ProfiledClass &A : P.Classes) {
    for (const auto &[Key, Count] : A.Inside)
      if (const ProfiledClass *B = ByKey.lookup(Key))
        if (Order Here(A, B->Key), There(*B, A.Key); Here.locksUpWith(There))
          Found.push_back(Here.all() < There.all() ? Inversion{B, &A, There.all(), Here.all()}
                                                   : Inversion{&A, B, Here.all(), There.all()});
    ByKey[A.Key] = &A; // after the loop: a class inside itself has no second order
  }
  return Found;
}

namespace {

void writeCounts(json::OStream &J, const LockCounts &Counts) {
  J.attribute("acquisitions", Counts.Acquisitions);
  J.attribute("contended", Counts.Contended);
  J.attribute("handovers", Counts.Handovers);
  J.attribute("trylock_failures", Counts.TrylockFailures);
  J.attribute("timeouts", Counts.Timeouts);
  J.attribute("condition_waits", Counts.CondWaits);
  J.attribute("reentries", Counts.Reentries);
}

constexpr StringLiteral DistanceNames[Distances] = {"same_thread", "same_core",  "same_cache",
                                                    "same_node",   "other_node", "unknown"};

void writeCameFrom(json::OStream &J, const CameFromCounts &Counts) {
  J.attributeObject("came_from", [&] {
    for (size_t I = 0; I < Distances; ++I)
      J.attribute(DistanceNames[I], Counts[I]);
  });
}

void writeTimes(json::OStream &J, StringRef Name, const Times &T, bool Hold = false) {
  J.attributeObject(Name, [&] {
    J.attribute("count", T.Count);
    if (Hold) {
      J.attribute("timed", T.Timed);
      J.attribute("relative_standard_error", T.Error);
    }
    J.attribute("total_ns", T.Total);
    J.attribute("mean_ns", T.Mean);
    J.attribute("p50_ns", T.P50);
    J.attribute("p90_ns", T.P90);
    J.attribute("p99_ns", T.P99);
    J.attribute("max_ns", T.Max);
    J.attributeArray("histogram", [&] {
      for (auto [Floor, Count] : T.Histogram)
        J.value(json::Array{Floor, Count});
    });
  });
}

void writeInside(json::OStream &J, StringRef Name,
                 ArrayRef<std::pair<std::string, uint64_t>> Inside) {
  J.attributeArray(Name, [&] {
    for (const auto &[Key, Count] : Inside)
      J.object([&] {
        J.attribute("key", Key);
        J.attribute("count", Count);
      });
  });
}

void writeReadInside(json::OStream &J, ArrayRef<ReadNesting> ReadInside) {
  J.attributeArray("read_inside", [&] {
    for (const ReadNesting &Read : ReadInside)
      J.object([&] {
        J.attribute("key", Read.Key);
        J.attribute("inner", Read.Inner);
        J.attribute("outer", Read.Outer);
        J.attribute("both", Read.Both);
      });
  });
}

void writeWaiters(json::OStream &J, const WaiterCounts &Waiters) {
  J.attributeObject("waiters", [&] {
    J.attribute("mean", Waiters.Mean);
    J.attribute("max", Waiters.Max);
  });
}

void writeEvents(json::OStream &J, const SectionEvents &Events) {
  J.attributeObject("events", [&] {
    J.attribute("samples", Events.Samples);
    J.attribute("sections", Events.Sections);
    J.attribute("per_section", Events.PerSection);
  });
}

void writeRuntime(json::OStream &J, const RuntimeCounts &R) {
  J.attributeObject("librelock", [&] {
    J.attribute("algorithm", R.Algorithm);
    J.attribute("held", R.Held);
    J.attribute("executed", R.Executed);
    J.attribute("delegated", R.Delegated);
    J.attribute("batches", R.Batches);
    J.attribute("parked", R.Parked);
    J.attribute("switches", R.Switches);
    if (R.Server)
      J.attribute("server", *R.Server);
  });
}

void writeReaders(json::OStream &J, const ReaderCounts &R) {
  J.attributeObject("readers", [&] {
    J.attribute("acquisitions", R.Acquisitions);
    J.attribute("contended", R.Contended);
    J.attribute("trylock_failures", R.TrylockFailures);
    J.attribute("timeouts", R.Timeouts);
    writeTimes(J, "wait", R.Wait);
    writeTimes(J, "hold", R.Hold, true);
    writeWaiters(J, R.Waiters);
    if (R.Events)
      writeEvents(J, *R.Events);
  });
}

void writeServer(json::OStream &J, const ServerCounts &S) {
  J.object([&] {
    J.attribute("number", S.Number);
    J.attribute("sections", S.Sections);
    J.attribute("passes", S.Passes);
    J.attribute("active_passes", S.ActivePasses);
    J.attribute("use_rate", S.UseRate);
    J.attribute("false_serialization", S.FalseSerialization);
    J.attribute("slow_rate", S.SlowRate);
    J.attribute("manager_wakes", S.ManagerWakes);
    J.attribute("activations", S.Activations);
    J.attribute("sleeps", S.Sleeps);
    J.attribute("cache_misses", S.CacheMisses);
    J.attribute("threads", S.Threads);
    J.attribute("cpu", S.Cpu);
    J.attribute("fifo", S.Fifo);
  });
}

void writeEvent(json::OStream &J, const CountedEvent &Event) {
  J.attributeObject("event", [&] {
    J.attribute("name", Event.Name);
    J.attribute("cache_misses", Event.CacheMisses);
    if (!Event.NotAvailable.empty()) {
      J.attribute("not_available", Event.NotAvailable);
      return;
    }
    J.attribute("read", Event.Reading);
    J.attribute("per_reading", Event.PerReading);
    J.attribute("threads_not_counted", Event.ThreadsNotCounted);
  });
}

void writeLock(json::OStream &J, const LockObject &Lock) {
  J.object([&] {
    J.attribute("name", Lock.Name);
    writeCounts(J, Lock.Counts);
    J.attribute("wait_ns", Lock.Wait);
    J.attribute("hold_ns", Lock.Hold);
  });
}

void writeSites(json::OStream &J, const ProfiledClass &Class) {
  J.attributeArray("sites", [&] {
    for (const CallSite &Site : Class.Sites)
      J.object([&] {
        J.attributeArray("stack", [&] {
          for (const std::string &Frame : Site.Stack)
            J.value(Frame);
        });
        if (Site.Reading)
          J.attribute("reading", true);
        J.attribute("samples", Site.Samples);
        J.attribute("acquisitions", Site.Acquisitions);
        J.attribute("contended", Site.Contended);
        J.attribute("wait_ns", Site.Wait);
        J.attribute("hold_ns", Site.Hold);
      });
  });
  J.attribute("sites_omitted", Class.SitesOmitted);
}

double shareOf(uint64_t Part, uint64_t Whole) { return Whole ? double(Part) / double(Whole) : 0; }

double arrivals(const ProfiledClass &Class, uint64_t Duration) {
  return Duration ? double(Class.Counts.Acquisitions) * 1e9 / double(Duration) : 0;
}

void writeClass(json::OStream &J, const ProfiledClass &Class, uint64_t Duration) {
  J.object([&] {
    J.attribute("name", Class.Name);
    J.attribute("key", Class.Key);
    J.attribute("primitive", Class.Primitive);
    J.attribute("kind", Class.Kind);
    J.attribute("module", Class.Module);
    J.attribute("file", Class.File);
    J.attribute("line", Class.Line);
    J.attribute("objects", Class.Objects);
    J.attribute("held_at_end", Class.HeldAtEnd);
    writeCounts(J, Class.Counts);
    writeTimes(J, "wait", Class.Wait);
    writeTimes(J, "hold", Class.Hold, true);
    writeWaiters(J, Class.Waiters);
    J.attribute("arrivals_per_s", arrivals(Class, Duration));
    if (Class.CameFrom)
      writeCameFrom(J, *Class.CameFrom);
    if (!Class.Inside.empty())
      writeInside(J, "inside", Class.Inside);
    if (!Class.TriedInside.empty())
      writeInside(J, "tried_inside", Class.TriedInside);
    if (!Class.ReadInside.empty())
      writeReadInside(J, Class.ReadInside);
    if (Class.Runtime)
      writeRuntime(J, *Class.Runtime);
    if (Class.Readers)
      writeReaders(J, *Class.Readers);
    if (Class.Wakes) {
      J.attribute("signals", Class.Wakes->Signals);
      J.attribute("broadcasts", Class.Wakes->Broadcasts);
    }
    if (Class.Events)
      writeEvents(J, *Class.Events);
    if (Class.CacheMissesPerSection)
      J.attribute("cache_misses_per_section", *Class.CacheMissesPerSection);
    if (Class.EstimatedSharedLines)
      J.attribute("estimated_shared_lines_per_section", *Class.EstimatedSharedLines);
    J.attributeArray("backtrace", [&] {
      for (const std::string &Frame : Class.Backtrace)
        J.value(Frame);
    });
    J.attributeArray("locks", [&] {
      for (const LockObject &Lock : Class.Locks)
        writeLock(J, Lock);
    });
    J.attribute("locks_omitted", Class.LocksOmitted);
    if (!Class.Sites.empty())
      writeSites(J, Class);
  });
}

void writeProgram(json::OStream &J, const Profile &P) {
  J.attributeObject("program", [&] {
    J.attributeArray("command", [&] {
      for (const std::string &Word : P.Command)
        J.value(Word);
    });
    J.attribute("executable", P.Executable);
    J.attribute("pid", P.Pid);
    J.attribute("forked", P.Forked);
    J.attribute("ended", P.End.How);
    J.attribute("status", P.End.Status);
  });
}

void writeRun(json::OStream &J, const Profile &P) {
  J.attributeObject("machine", [&] {
    J.attribute("model", P.Machine);
    J.attribute("processors", P.Processors);
    J.attribute("usable_processors", P.UsableProcessors);
    J.attribute("spare_ns", P.SpareTime);
    J.attribute("ticks_per_second", P.TicksPerSecond);
  });
  J.attribute("duration_ns", P.Duration);
  J.attribute("threads", P.Threads);
  J.attribute("threads_at_once", P.ThreadsAtOnce);
  J.attribute("thread_ns", P.ThreadTime);
  J.attribute("section_ns", P.SectionTime);
  J.attribute("sections", P.Sections);
  J.attribute("section_share", shareOf(P.SectionTime, P.ThreadTime));
  if (P.hadProcessorsToSpare()) {
    TimeRange Worked = P.workedTime();
    J.attribute("worked_ns", Worked.Least);
    J.attribute("worked_at_most_ns", Worked.Most);
    J.attribute("section_share_of_work", shareOf(P.SectionTime, Worked.Least));
    J.attribute("section_share_of_work_at_least", shareOf(P.SectionTime, Worked.Most));
  }
  if (P.RuntimeSectionTime)
    J.attribute("librelock_section_ns", P.RuntimeSectionTime);
  if (P.RuntimeWithin)
    J.attribute("librelock_within", true);
  J.attribute("foreign_releases", P.ForeignReleases);
  J.attributeObject("overhead", [&] {
    J.attribute("per_acquisition_ns", P.PairOverhead);
    J.attribute("untimed_acquisition_ns", P.UntimedOverhead);
    J.attribute("holds", P.Holds);
    J.attribute("holds_timed", P.HoldsTimed);
    J.attribute("plain_pair_ns", P.PairPlain);
    J.attribute("hold_bias_ns", P.HoldOverhead);
    J.attribute("total_ns", P.Overhead);
    J.attribute("sampling_ns", P.Sampling);
    J.attribute("processor_ns", P.ProcessorTime);
    J.attribute("records_bytes", P.RecordsSize);
  });
  J.attributeObject("dropped", [&] {
    J.attribute("mutex_operations", P.Drops.Mutexes);
    J.attribute("times", P.Drops.Times);
    J.attribute("threads", P.Drops.Threads);
    J.attribute("nested_operations", P.Drops.Nested);
    J.attribute("modules", P.Drops.Modules);
    J.attribute("processes", P.Drops.Processes);
    J.attribute("nestings", P.Drops.Nestings);
    J.attribute("samples", P.Drops.Samples);
    J.attribute("runtimes", P.Drops.Runtimes);
    J.attribute("edges", P.Drops.Edges);
  });
}

void writeThread(json::OStream &J, const ProfiledThread &T) {
  J.object([&] {
    J.attribute("id", T.Id);
    if (T.Run)
      J.attribute("run", T.Run);
    J.attribute("name", T.Name);
    J.attribute("threads", T.Threads);
    J.attribute("lived_ns", T.Lived);
    J.attribute("section_ns", T.Section);
    J.attribute("wait_ns", T.Wait);
    J.attribute("sections", T.Sections);
    J.attributeArray("classes", [&] {
      for (const ThreadShare &S : T.Classes)
        J.object([&] {
          J.attribute("key", S.Key);
          J.attribute("acquisitions", S.Acquisitions);
          J.attribute("timed", S.Timed);
          J.attribute("wait_ns", S.Wait);
          J.attribute("hold_ns", S.Hold);
        });
    });
  });
}

void writeTimeline(json::OStream &J, const Profile &P) {
  J.attributeArray("timeline", [&] {
    for (const ProfiledWait &Wait : P.Timeline)
      J.object([&] {
        J.attribute("thread", Wait.Thread);
        J.attribute("key", Wait.Key);
        J.attribute("start_ns", Wait.Start);
        J.attribute("wait_ns", Wait.Wait);
      });
  });
  J.attribute("timeline_omitted", P.TimelineOmitted);
}

void writeThreads(json::OStream &J, const Profile &P) {
  J.attributeArray("by_thread", [&] {
    for (const ProfiledThread &T : P.ByThread)
      writeThread(J, T);
  });
  J.attribute("threads_omitted", P.ThreadsOmitted);
}

void writeEdges(json::OStream &J, const Profile &P) {
  J.attributeArray("waited_for", [&] {
    for (const WaitEdge &Edge : P.Edges)
      J.object([&] {
        J.attribute("waiter", Edge.Waiter);
        J.attribute("holder", Edge.Holder);
        J.attribute("key", Edge.Key);
        J.attribute("count", Edge.Count);
        J.attribute("wait_ns", Edge.Wait);
      });
  });
  J.attribute("waited_for_omitted", P.EdgesOmitted);
}

} // namespace

void writeProfile(const Profile &P, raw_ostream &OS) {
  json::OStream J(OS, 1);
  J.object([&] {
    J.attribute("format", ProfileFormat);
    J.attribute("version", ProfileVersion);
    if (!P.Source.empty())
      J.attribute("source", P.Source);
    if (P.Runs > 1)
      J.attribute("runs", P.Runs);
    writeProgram(J, P);
    writeRun(J, P);
    if (P.Event)
      writeEvent(J, *P.Event);
    J.attributeArray("classes", [&] {
      for (const ProfiledClass &Class : P.Classes)
        writeClass(J, Class, P.Duration);
    });
    if (!P.ByThread.empty())
      writeThreads(J, P);
    if (!P.Edges.empty() || P.EdgesOmitted)
      writeEdges(J, P);
    J.attributeArray("waits", [&] {
      for (const ProfiledClass &Class : P.Waits)
        writeClass(J, Class, P.Duration);
    });
    if (!P.Timeline.empty() || P.TimelineOmitted)
      writeTimeline(J, P);
    if (!P.Servers.empty())
      J.attributeArray("servers", [&] {
        for (const ServerCounts &Server : P.Servers)
          writeServer(J, Server);
      });
  });
  OS << '\n';
}

namespace {

// Unknown members are a later writer's business, missing ones make the file unreadable.
bool fromCounts(const json::Value &V, LockCounts &C, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("acquisitions", C.Acquisitions) && O.map("contended", C.Contended) &&
         O.map("handovers", C.Handovers) && O.map("trylock_failures", C.TrylockFailures) &&
         O.map("timeouts", C.Timeouts) && O.map("condition_waits", C.CondWaits) &&
         O.map("reentries", C.Reentries);
}

} // namespace

bool fromJSON(const json::Value &V, Times &T, json::Path Path) {
  json::ObjectMapper O(V, Path);
  std::vector<std::vector<uint64_t>> Histogram;
  if (!O || !O.map("count", T.Count) || !O.map("total_ns", T.Total) || !O.map("mean_ns", T.Mean) ||
      !O.map("p50_ns", T.P50) || !O.mapOptional("p90_ns", T.P90) || !O.map("p99_ns", T.P99) ||
      !O.map("max_ns", T.Max) || !O.map("histogram", Histogram))
    return false;
  T.Timed = T.Count; // where a profile does not say it
  if (!O.mapOptional("timed", T.Timed))
    return false;
  if (T.Timed != T.Count && !O.map("relative_standard_error", T.Error))
    return false;
  for (const std::vector<uint64_t> &Bucket : Histogram) {
    if (Bucket.size() != 2) {
      Path.field("histogram").report("expected pairs");
      return false;
    }
    T.Histogram.push_back({Bucket[0], Bucket[1]});
  }
  return true;
}

bool fromJSON(const json::Value &V, RuntimeCounts &R, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("algorithm", R.Algorithm) && O.map("held", R.Held) &&
         O.map("executed", R.Executed) && O.map("delegated", R.Delegated) &&
         O.map("batches", R.Batches) && O.map("parked", R.Parked) &&
         O.map("switches", R.Switches) && O.mapOptional("server", R.Server) &&
         O.mapOptional("recorded_as", R.RecordedAs);
}

bool fromJSON(const json::Value &V, ServerCounts &S, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("number", S.Number) && O.map("sections", S.Sections) &&
         O.map("passes", S.Passes) && O.map("active_passes", S.ActivePasses) &&
         O.map("use_rate", S.UseRate) && O.map("false_serialization", S.FalseSerialization) &&
         O.map("slow_rate", S.SlowRate) && O.map("manager_wakes", S.ManagerWakes) &&
         O.map("activations", S.Activations) && O.map("sleeps", S.Sleeps) &&
         O.map("cache_misses", S.CacheMisses) && O.map("threads", S.Threads) &&
         O.map("cpu", S.Cpu) && O.map("fifo", S.Fifo);
}

bool fromJSON(const json::Value &V, LockObject &L, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("name", L.Name) && fromCounts(V, L.Counts, Path) && O.map("wait_ns", L.Wait) &&
         O.map("hold_ns", L.Hold);
}

bool fromJSON(const json::Value &V, CallSite &S, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("stack", S.Stack) && O.mapOptional("reading", S.Reading) &&
         O.mapOptional("samples", S.Samples) && O.map("acquisitions", S.Acquisitions) &&
         O.map("contended", S.Contended) && O.map("wait_ns", S.Wait) && O.map("hold_ns", S.Hold);
}

bool fromJSON(const json::Value &V, WaiterCounts &W, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("mean", W.Mean) && O.map("max", W.Max);
}

bool fromJSON(const json::Value &V, ReadNesting &R, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("key", R.Key) && O.map("inner", R.Inner) && O.map("outer", R.Outer) &&
         O.map("both", R.Both);
}

struct KeyCount : std::pair<std::string, uint64_t> {};

bool fromJSON(const json::Value &V, KeyCount &Count, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("key", Count.first) && O.map("count", Count.second);
}

static bool mapInside(json::ObjectMapper &O, StringLiteral Name,
                      std::vector<std::pair<std::string, uint64_t>> &Inside) {
  std::vector<KeyCount> Read;
  if (!O.mapOptional(Name, Read))
    return false;
  Inside.assign(Read.begin(), Read.end());
  return true;
}

bool fromJSON(const json::Value &V, CountedEvent &E, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("name", E.Name) && O.map("cache_misses", E.CacheMisses) &&
         O.mapOptional("not_available", E.NotAvailable) && O.mapOptional("read", E.Reading) &&
         O.mapOptional("per_reading", E.PerReading) &&
         O.mapOptional("threads_not_counted", E.ThreadsNotCounted);
}

bool fromJSON(const json::Value &V, SectionEvents &E, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("samples", E.Samples) && O.map("sections", E.Sections) &&
         O.map("per_section", E.PerSection);
}

bool fromJSON(const json::Value &V, ReaderCounts &R, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("acquisitions", R.Acquisitions) && O.map("contended", R.Contended) &&
         O.map("trylock_failures", R.TrylockFailures) && O.map("timeouts", R.Timeouts) &&
         O.map("wait", R.Wait) && O.map("hold", R.Hold) && O.mapOptional("waiters", R.Waiters) &&
         O.mapOptional("events", R.Events);
}

namespace {

bool fromWakes(const json::Value &V, std::optional<WakeCounts> &W, json::Path Path) {
  json::ObjectMapper O(V, Path);
  if (O && V.getAsObject()->get("signals"))
    W.emplace();
  return O && (!W || (O.map("signals", W->Signals) && O.map("broadcasts", W->Broadcasts)));
}

} // namespace

bool fromJSON(const json::Value &V, CameFromCounts &Counts, json::Path Path) {
  json::ObjectMapper O(V, Path);
  for (size_t I = 0; I < Distances; ++I)
    if (!O || !O.map(DistanceNames[I], Counts[I]))
      return false;
  return true;
}

bool fromJSON(const json::Value &V, ProfiledClass &C, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("name", C.Name) && O.map("key", C.Key) && O.map("kind", C.Kind) &&
         O.map("module", C.Module) && O.map("file", C.File) && O.map("line", C.Line) &&
         O.map("objects", C.Objects) && O.map("held_at_end", C.HeldAtEnd) &&
         fromCounts(V, C.Counts, Path) && O.map("wait", C.Wait) && O.map("hold", C.Hold) &&
         O.mapOptional("waiters", C.Waiters) && mapInside(O, "inside", C.Inside) &&
         mapInside(O, "tried_inside", C.TriedInside) &&
         O.mapOptional("read_inside", C.ReadInside) && O.mapOptional("came_from", C.CameFrom) &&
         O.mapOptional("backtrace", C.Backtrace) && O.mapOptional("locks", C.Locks) &&
         O.mapOptional("locks_omitted", C.LocksOmitted) && O.mapOptional("librelock", C.Runtime) &&
         O.mapOptional("sites", C.Sites) && O.mapOptional("sites_omitted", C.SitesOmitted) &&
         O.mapOptional("primitive", C.Primitive) && O.mapOptional("readers", C.Readers) &&
         O.mapOptional("events", C.Events) &&
         O.mapOptional("cache_misses_per_section", C.CacheMissesPerSection) &&
         fromWakes(V, C.Wakes, Path);
}

bool fromJSON(const json::Value &V, ThreadShare &S, json::Path Path) {
  json::ObjectMapper O(V, Path);
  if (!O || !O.map("key", S.Key) || !O.map("acquisitions", S.Acquisitions) ||
      !O.map("wait_ns", S.Wait) || !O.map("hold_ns", S.Hold))
    return false;
  S.Timed = S.Acquisitions; // where a profile does not say it
  return O.mapOptional("timed", S.Timed);
}

bool fromJSON(const json::Value &V, ProfiledThread &T, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("id", T.Id) && O.map("name", T.Name) && O.mapOptional("threads", T.Threads) &&
         O.mapOptional("run", T.Run) && O.map("lived_ns", T.Lived) &&
         O.map("section_ns", T.Section) && O.map("wait_ns", T.Wait) &&
         O.map("sections", T.Sections) && O.map("classes", T.Classes);
}

bool fromJSON(const json::Value &V, ProfiledWait &W, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("thread", W.Thread) && O.map("key", W.Key) && O.map("start_ns", W.Start) &&
         O.map("wait_ns", W.Wait);
}

bool fromJSON(const json::Value &V, WaitEdge &E, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("waiter", E.Waiter) && O.map("holder", E.Holder) && O.map("key", E.Key) &&
         O.map("count", E.Count) && O.map("wait_ns", E.Wait);
}

bool fromJSON(const json::Value &V, Dropped &D, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.map("mutex_operations", D.Mutexes) && O.map("times", D.Times) &&
         O.map("threads", D.Threads) && O.map("nested_operations", D.Nested) &&
         O.map("modules", D.Modules) && O.map("processes", D.Processes) &&
         O.mapOptional("nestings", D.Nestings) && O.mapOptional("samples", D.Samples) &&
         O.mapOptional("runtimes", D.Runtimes) && O.mapOptional("edges", D.Edges);
}

namespace {

bool fromProgram(const json::Object &Root, Profile &P, json::Path Path) {
  json::Path Here = Path.field("program");
  const json::Value Missing = nullptr, *V = Root.get("program");
  json::ObjectMapper O(V ? *V : Missing, Here);
  return O && O.map("command", P.Command) && O.map("executable", P.Executable) &&
         O.map("pid", P.Pid) && O.map("forked", P.Forked) && O.map("ended", P.End.How) &&
         O.map("status", P.End.Status);
}

bool fromMachine(const json::Object &Root, Profile &P, json::Path Path) {
  json::Path Here = Path.field("machine");
  const json::Value Missing = nullptr, *V = Root.get("machine");
  json::ObjectMapper O(V ? *V : Missing, Here);
  return O && O.map("model", P.Machine) && O.map("processors", P.Processors) &&
         O.mapOptional("usable_processors", P.UsableProcessors) &&
         O.mapOptional("spare_ns", P.SpareTime) && O.map("ticks_per_second", P.TicksPerSecond);
}

bool fromOverhead(const json::Object &Root, Profile &P, json::Path Path) {
  json::Path Here = Path.field("overhead");
  const json::Value Missing = nullptr, *V = Root.get("overhead");
  json::ObjectMapper O(V ? *V : Missing, Here);
  return O && O.map("per_acquisition_ns", P.PairOverhead) && O.map("plain_pair_ns", P.PairPlain) &&
         O.mapOptional("untimed_acquisition_ns", P.UntimedOverhead) &&
         O.mapOptional("holds", P.Holds) && O.mapOptional("holds_timed", P.HoldsTimed) &&
         O.map("hold_bias_ns", P.HoldOverhead) && O.map("total_ns", P.Overhead) &&
         O.mapOptional("sampling_ns", P.Sampling) &&
         O.mapOptional("processor_ns", P.ProcessorTime) &&
         O.mapOptional("records_bytes", P.RecordsSize);
}

bool fromRoot(const json::Value &V, Profile &P, json::Path Path) {
  json::ObjectMapper O(V, Path);
  const json::Object &Root = *V.getAsObject();
  return O && fromProgram(Root, P, Path) && fromMachine(Root, P, Path) &&
         fromOverhead(Root, P, Path) && O.map("duration_ns", P.Duration) &&
         O.map("threads", P.Threads) && O.map("threads_at_once", P.ThreadsAtOnce) &&
         O.map("thread_ns", P.ThreadTime) && O.map("section_ns", P.SectionTime) &&
         O.map("sections", P.Sections) &&
         O.mapOptional("librelock_section_ns", P.RuntimeSectionTime) &&
         O.mapOptional("librelock_within", P.RuntimeWithin) &&
         O.map("foreign_releases", P.ForeignReleases) && O.map("dropped", P.Drops) &&
         O.mapOptional("event", P.Event) && O.map("classes", P.Classes) &&
         O.mapOptional("by_thread", P.ByThread) &&
         O.mapOptional("threads_omitted", P.ThreadsOmitted) &&
         O.mapOptional("waited_for", P.Edges) &&
         O.mapOptional("waited_for_omitted", P.EdgesOmitted) &&
         O.mapOptional("timeline", P.Timeline) &&
         O.mapOptional("timeline_omitted", P.TimelineOmitted) && O.mapOptional("waits", P.Waits) &&
         O.mapOptional("servers", P.Servers) && O.mapOptional("source", P.Source) &&
         O.mapOptional("runs", P.Runs);
}

// Profiles from before `p90_ns` have it in their histograms.
void fillPercentiles(Profile &P) {
  Buckets Clock(P.TicksPerSecond);
  for (std::vector<ProfiledClass> *Classes : {&P.Classes, &P.Waits})
    for (ProfiledClass &Class : *Classes)
      for (Times *T : {&Class.Wait, &Class.Hold})
        if (!T->P90)
          T->P90 = Clock.percentile(*T, 90);
}

Error unreadable(StringRef Code, const Twine &Text) {
  return make_error<ProfileError>(Code.str(), Text.str());
}

Error notJson(StringRef Text) {
  if (Text.trim().empty())
    return unreadable("profile-empty", "is empty: the run that should have written it was cut "
                                       "short; profile the program again");
  // The envelope comes first, so what is cut off still shows what it was.
  if (Text.substr(0, 64).contains(ProfileFormat))
    return unreadable("profile-truncated",
                      "is cut off or damaged in the middle; profile the program again");
  return unreadable("profile-foreign", "is not a profile; `relock profile -o FILE -- COMMAND` "
                                       "writes one");
}

} // namespace

Expected<Profile> readProfile(StringRef File, json::Value *Document) {
  auto Buffer = MemoryBuffer::getFile(File);
  if (!Buffer)
    return unreadable("profile-unreadable", "cannot be read: " + Buffer.getError().message() +
                                                "; `relock profile -o FILE -- COMMAND` writes "
                                                "a profile");
  return parseProfile((*Buffer)->getBuffer(), Document);
}

Expected<Profile> parseProfile(StringRef Text, json::Value *Document) {
  Expected<json::Value> Value = json::parse(Text);
  if (!Value) {
    consumeError(Value.takeError());
    return notJson(Text);
  }
  const json::Object *Root = Value->getAsObject();
  if (!Root || Root->getString("format") != StringRef(ProfileFormat))
    return notJson("foreign");
  std::optional<int64_t> Version = Root->getInteger("version");
  if (Version != ProfileVersion)
    return unreadable("profile-version",
                      "is a profile of version " + (Version ? Twine(*Version) : Twine("unknown")) +
                          ", and this relock reads version " + Twine(ProfileVersion) +
                          "; use the relock that wrote it, or profile again");
  Profile P;
  json::Path::Root Path("profile");
  if (!fromRoot(*Value, P, Path))
    return unreadable("profile-truncated", "lacks a part or has it in the wrong form (" +
                                               toString(Path.getError()) +
                                               "); profile the program again");
  fillPercentiles(P);
  if (Document)
    *Document = std::move(*Value);
  return P;
}

} // namespace relock
