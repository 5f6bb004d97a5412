// SPDX-License-Identifier: MIT
#include "profile/Aggregate.h"
#include "profile/Symbolize.h"

#include "../../runtime/statistics/stats_share.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>
#include <pthread.h>
#include <semaphore.h>

using namespace llvm;

namespace relock {

ClockReading readClocks() {
  timespec Time;
  clock_gettime(CLOCK_MONOTONIC, &Time);
  return {relock_ticks(), uint64_t(Time.tv_sec) * 1000000000u + uint64_t(Time.tv_nsec)};
}

namespace {

// FNV-1a: the key must not change between runs, builds or machines.
std::string keyOf(StringRef Text) {
  uint64_t Hash = 0xcbf29ce484222325u;
  for (unsigned char C : Text)
    Hash = (Hash ^ C) * 0x100000001b3u;
  std::string Hex = utohexstr(Hash, /*LowerCase=*/true);
  return std::string(16 - Hex.size(), '0') + Hex;
}

// Of one lock or thread, with what is expected of its class: where that is longer than its own, too
// many are not taken off as more than they were.
uint64_t likelyHold(uint64_t Count, uint64_t Total, uint64_t Exact, double Expected) {
  double Mean = Count ? double(Total) / double(Count) : 0;
  return uint64_t(relock_likely_sum(Count, Total, Exact, std::min(Expected, Mean)) + 0.5);
}

std::string hex(uint64_t Value) { return "0x" + utohexstr(Value, /*LowerCase=*/true); }

// Sums over the groups of one class.
struct Sum {
  ProfiledClass Class;
  std::string Identity;
  relock_primitive Primitive = RELOCK_MUTEX;
  RawCounts Counts;
  RawHistogram Wait, Hold;
  uint64_t OpenWaits = 0, OpenWait = 0; // in Wait: those that had not ended, and their time
  std::map<std::string, uint64_t> Inside, TriedInside; // by key
  std::map<std::string, ReadNesting> ReadInside;
  std::map<std::pair<bool, std::vector<std::string>>, RawSite> Sites; // by reading and stack
  RawTally Tally;
  RawEvents Events;
  RawReaders Readers;
};

constexpr size_t NoArrays = SIZE_MAX; // any variable could be an array of something so small
struct PrimitiveFacts {
  const char *Name;
  size_t Size; // of one object
  bool IsLock;
  StringLiteral Prefixes[2]; // of the functions for it
};
constexpr PrimitiveFacts Primitives[RELOCK_PRIMITIVES] = {
    {"mutex", sizeof(pthread_mutex_t), true, {"pthread_mutex_", "mtx_"}},
    {"rwlock", sizeof(pthread_rwlock_t), true, {"pthread_rwlock_", ""}},
    {"spinlock", NoArrays, true, {"pthread_spin_", ""}},
    {"condition", sizeof(pthread_cond_t), false, {"pthread_cond_", "cnd_"}},
    {"semaphore", sizeof(sem_t), false, {"sem_", ""}},
    {"barrier", sizeof(pthread_barrier_t), false, {"pthread_barrier_", "relock_barrier_"}},
    {"futex", NoArrays, false, {"syscall", ""}},
    {RecordedPrimitive, NoArrays, true, {"relock_", ""}},
};

// A function of that name is called for the object's sake, and neither ends its life nor releases
// it.
bool isOperation(relock_primitive Primitive, StringRef Function) {
  if (Function.ends_with("unlock") || Function.ends_with("destroy"))
    return false;
  return any_of(Primitives[Primitive].Prefixes,
                [&](StringRef Prefix) { return !Prefix.empty() && Function.starts_with(Prefix); });
}

std::string recordedIdentity(uint64_t Number) { return "class " + std::to_string(Number); }

static_assert(Distances == RELOCK_DISTANCES);
static_assert(WaitsKept == RELOCK_RINGS * RELOCK_RING_SIZE);

class Aggregator {
public:
  Aggregator(const RawProcess &Process, ClockReading Early, ClockReading Late,
             std::optional<uint64_t> Died, Symbolizer &Names)
      : Process(Process), Names(Names) {
    const relock_header &Header = Process.Header;
    if (Late.Ticks > Early.Ticks && Late.Nanoseconds > Early.Nanoseconds)
      NsPerTick = double(Late.Nanoseconds - Early.Nanoseconds) / double(Late.Ticks - Early.Ticks);
    if (Header.end != RELOCK_END_UNKNOWN)
      End = Header.end_ticks;
    else
      End = Died ? *Died : std::max(Process.LastSeen, Header.start_ticks);
  }

  Profile run() {
    describe();
    for (const RawGroup &Group : Process.Groups)
      if (Group.ObjectsCreated || !Group.Objects.empty())
        add(Group);
    finishClasses();
    return std::move(P);
  }

private:
  double morePerPair(uint64_t Recorded) const {
    uint64_t Plain = Process.Header.pair_plain;
    return NsPerTick * double(Recorded - std::min(Plain, Recorded)) / 1024;
  }

  uint64_t ns(uint64_t Ticks) const { return uint64_t(double(Ticks) * NsPerTick + 0.5); }

  void describe() {
    const relock_header &Header = Process.Header;
    P.Executable = Process.Executable;
    P.Pid = Header.pid;
    P.Forked = Header.forked != 0;
    P.TicksPerSecond = NsPerTick > 0 ? uint64_t(1e9 / NsPerTick) : 0;
    P.Duration = ns(End - Header.start_ticks);
    describeThreads();
    P.PairPlain = NsPerTick * double(Header.pair_plain) / 1024;
    P.PairOverhead = morePerPair(Header.pair_timed);
    P.UntimedOverhead = morePerPair(Header.pair_untimed);
    P.HoldOverhead = NsPerTick * double(Header.pair_hold) / 1024;
    P.ProcessorTime = Header.processor_ns;
    P.RecordsSize = Header.used;
    P.ForeignReleases = Header.foreign_releases;
    P.Drops = {Header.dropped_objects,  Header.dropped_histograms, Header.dropped_threads,
               Header.dropped_nested,   Header.dropped_modules,    Header.unrecorded_children,
               Header.dropped_nestings, Header.dropped_samples,    Header.dropped_edges};
  }

  // Librelock's, for `relock profile`: not a thread of the program.
  static bool isProfilers(const RawThread &Thread) {
    return Thread.Name == RELOCK_SHARE_THREAD && Thread.Started == 1;
  }

  void describeThreads() {
    uint64_t Lived = 0, InSections = 0, Sampling = 0;
    for (const RawThread &Thread : Process.Threads) {
      if (isProfilers(Thread))
        continue;
      P.Threads += Thread.Started;
      P.ThreadsAtOnce += Thread.Started > 0;
      P.Sections += Thread.Sections;
      Lived += Thread.lived(End);
      InSections += Thread.inSections(End);
      Sampling += Thread.Sampling;
    }
    P.ThreadTime = ns(Lived);
    P.SectionTime = ns(InSections);
    P.Sampling = ns(Sampling + Process.Header.making);
  }

  struct Frame {
    std::string Module; // file name without folder
    uint64_t Offset;    // within it
    std::string Path;   // of the module
    CodePlace Place;
    std::vector<CodePlace> Into; // what the function of Place is inlined into

    std::vector<CodePlace> places() const {
      std::vector<CodePlace> Result = {Place};
      Result.insert(Result.end(), Into.begin(), Into.end());
      return Result;
    }
    std::string place() const { return Module + "+" + hex(Offset); }
    // Calls of one line are one place: compilers copy calls, and lines survive a rebuild.
    std::string identity() const { return Place.File.empty() ? place() : Module + " " + shown(); }
    std::string shown() const { return shown(Place); }
    std::string shown(const CodePlace &Place) const {
      if (!Place.File.empty())
        return Place.Function + " (" + sys::path::filename(Place.File).str() + ":" +
               std::to_string(Place.Line) + ")";
      return Place.Function.empty() ? place() : Place.Function + " (" + place() + ")";
    }
  };

  Frame frame(uint64_t Address) {
    auto [Known, New] = Frames.try_emplace(Address);
    Frame &Result = Known->second;
    if (!New)
      return Result;
    if (const RawModule *Module = Process.moduleOf(Address)) {
      Result.Module = sys::path::filename(Module->Path).str();
      Result.Path = Module->Path;
      Result.Offset = Address - Module->Bias;
      std::vector<CodePlace> Places = Names.code(Module->Path, Result.Offset);
      Result.Place = Places[0];
      Result.Into.assign(Places.begin() + 1, Places.end());
    } else {
      Result.Module = "unknown";
      Result.Offset = Address;
    }
    return Result;
  }

  // Of the calls behind the one that returns to Addresses[I] those that became jumps.
  std::vector<uint64_t> tailCalls(ArrayRef<uint64_t> Addresses, size_t I,
                                  function_ref<bool(StringRef)> IsOperation) {
    const RawModule *Module = Process.moduleOf(Addresses[I]);
    if (!Module || (I && Process.moduleOf(Addresses[I - 1]) != Module))
      return {};
    uint64_t Bias = Module->Bias, Call = Addresses[I] - Bias;
    std::vector<uint64_t> Jumps =
        I ? Names.tailCalls(Module->Path, Call, Addresses[I - 1] - Bias - 1)
          : Names.tailCalls(Module->Path, Call, IsOperation);
    for (uint64_t &Jump : Jumps)
      Jump += Bias;
    return Jumps;
  }

  // From the call of an operation outwards.
  // How a thread or a process starts is the C library's business and differs between versions.
  std::vector<Frame> backtrace(ArrayRef<uint64_t> Addresses,
                               function_ref<bool(StringRef)> IsOperation) {
    std::vector<Frame> Result;
    for (size_t I = 0; I < Addresses.size(); ++I) {
      for (uint64_t Jump : tailCalls(Addresses, I, IsOperation))
        Result.push_back(frame(Jump));
      Result.push_back(frame(Addresses[I]));
    }
    while (Result.size() > 1 && (StringRef(Result.back().Module).starts_with("libc.so") ||
                                 StringRef(Result.back().Module).starts_with("ld-linux") ||
                                 Result.back().Place.Function == "_start"))
      Result.pop_back();
    // librelock tells of its barriers from within; those of pthreads are recorded before the call.
    while (Result.size() > 1 &&
           StringRef(Result.front().Place.Function).starts_with("relock_barrier_"))
      Result.erase(Result.begin());
    return Result;
  }

  // With the calls that were inlined.
  static std::vector<std::string> shown(ArrayRef<Frame> Trace) {
    std::vector<std::string> Stack;
    for (const Frame &F : Trace)
      for (const CodePlace &Call : F.places())
        Stack.push_back(F.shown(Call));
    return Stack;
  }

  static std::string identityOf(ArrayRef<Frame> Trace) {
    std::string Identity = "backtrace";
    for (const Frame &F : Trace)
      Identity += " " + F.identity();
    return Identity;
  }

  // Objects of several primitives can be made in one line.
  Sum &sumOf(const RawGroup &Group, const std::string &Where) {
    const char *Primitive = Primitives[Group.Primitive].Name;
    std::string Identity = Group.Primitive == RELOCK_MUTEX ? Where : Primitive + (" " + Where);
    auto [At, New] = Index.try_emplace(Identity, Sums.size());
    if (New) {
      Sums.emplace_back();
      Sums.back().Identity = Identity;
      Sums.back().Primitive = Group.Primitive;
      Sums.back().Class.Primitive = Primitive;
    }
    return Sums[At->second];
  }

  static const char *kindOf(const RawGroup &Group) {
    return Group.Initialised ? "initialised" : "first-use";
  }

  void nameByBacktrace(Sum &S, const RawGroup &Group, ArrayRef<Frame> Trace) {
    S.Class.Kind = kindOf(Group);
    if (Trace.empty()) {
      S.Class.Name = "unknown";
      return;
    }
    size_t First = 0;
    while (First + 1 < Trace.size() && isLibraryFunction(Trace[First].Place.Function))
      ++First;
    S.Class.Name = Trace[First].shown();
    S.Class.Module = Trace[First].Module;
    S.Class.File = Trace[First].Place.File;
    S.Class.Line = Trace[First].Place.Line;
  }

  // One mutex of static storage. What symbols do not tell apart is one class; without a symbol
  // the mutexes that one call initialises are.
  Sum &sumOfStatic(const RawGroup &Group, const DataPlace &Data, const RawModule &Module,
                   ArrayRef<Frame> Trace) {
    std::string File = sys::path::filename(Module.Path).str();
    if (Data.Field)
      return sumOfDeclared(Group, Data.Is, File, "static");
    bool ByTrace = !Data.Exact && Group.Initialised && !Trace.empty();
    std::string Where = ByTrace ? identityOf(Trace) : File + "+" + hex(Group.Address - Module.Bias);
    std::string Identity = Where;
    if (Data.Exact)
      Identity =
          "static " + File + " " + Data.Is.ClassName +
          (Data.Is.File.empty() ? "" : " " + Data.Is.File + ":" + std::to_string(Data.Is.Line));
    else if (!Data.Symbol.empty())
      Identity = "static " + File + " " + Data.Symbol + " " + Where;
    Sum &S = sumOf(Group, Identity);
    if (!S.Class.Name.empty())
      return S;
    S.Class.Kind = "static";
    S.Class.Module = File;
    S.Class.File = Data.Is.File;
    S.Class.Line = int(Data.Is.Line);
    if (Data.Exact)
      S.Class.DeclaredAs = Data.Is.ClassName;
    if (!Data.Symbol.empty())
      S.Class.Name = Data.Is.ClassName;
    else if (ByTrace)
      nameByBacktrace(S, Group, Trace);
    else
      S.Class.Name = Where;
    return S;
  }

  // What one declaration makes in variables, on the heap and on stacks, in any module.
  Sum &sumOfDeclared(const RawGroup &Group, const Declared &D, StringRef Module, StringRef Kind) {
    Sum &S = sumOf(Group, "declared " + D.ClassName + " " + sys::path::filename(D.File).str() +
                              ":" + std::to_string(D.Line));
    S.Class.Name = S.Class.DeclaredAs = D.ClassName;
    S.Class.File = D.File;
    S.Class.Line = int(D.Line);
    if (S.Class.Module.empty())
      S.Class.Module = Module.str();
    if (S.Class.Kind.empty() || Kind == "static")
      S.Class.Kind = Kind.str();
    return S;
  }

  // A call may pass the mutex on to another one: the innermost that says where it is declared.
  Declared declaredIn(const RawGroup &Group, ArrayRef<Frame> Trace) {
    constexpr size_t Deepest = 4;
    for (const Frame &F : Trace.take_front(Deepest))
      for (const CodePlace &Call : F.places())
        if (Declared D = Names.declared(Group.Primitive, F.Path, F.Offset, Call, Group.Initialised);
            !D.ClassName.empty())
          return D;
    return {};
  }

  Sum &sumOfDynamic(const RawGroup &Group, ArrayRef<Frame> Trace) {
    Declared D = declaredIn(Group, Trace);
    if (D.ClassName.empty())
      return sumOf(Group, identityOf(Trace));
    return sumOfDeclared(Group, D, Trace[0].Module, kindOf(Group));
  }

  // All futexes are counted as one, which has no name in the program.
  Sum &sumOfFutexes(const RawGroup &Group) {
    Sum &S = sumOf(Group, "waits");
    S.Class.Name = "futex (raw)";
    return S;
  }

  void add(const RawGroup &Group) {
    if (Group.Primitive == RELOCK_FUTEX)
      return addCounts(sumOfFutexes(Group), Group, "");
    if (Group.Primitive == RELOCK_CONVERTED)
      return addCounts(sumOf(Group, recordedIdentity(Group.Index + 1)), Group, "");
    std::vector<Frame> Trace = backtrace(Group.Frames, [&](StringRef Function) {
      return isOperation(Group.Primitive, Function) &&
             Function.ends_with("_init") == Group.Initialised;
    });
    const RawModule *Module = Group.Address ? Process.moduleOf(Group.Address) : nullptr;
    DataPlace Data;
    if (Module)
      Data = Names.data(Module->Path, Group.Address - Module->Bias, Group.Primitive,
                        Primitives[Group.Primitive].Size);
    Sum &S = Module ? sumOfStatic(Group, Data, *Module, Trace) : sumOfDynamic(Group, Trace);
    if (S.Class.Name.empty())
      nameByBacktrace(S, Group, Trace);
    if (S.Class.Kind.empty())
      S.Class.Kind = kindOf(Group);
    if (S.Class.Backtrace.empty())
      S.Class.Backtrace = shown(Trace);
    addCounts(S, Group, Data.Path);
  }

  void addCounts(Sum &S, const RawGroup &Group, StringRef Path) {
    S.Class.Objects += Group.ObjectsCreated;
    ClassOf[Group.Index] = size_t(&S - Sums.data());
    S.Counts.add(Group.Retired);
    S.Wait.add(Group.Wait);
    S.Hold.add(Group.Hold);
    for (uint64_t Start : Group.OpenWaits) {
      S.Wait.add(End > Start ? End - Start : 0);
      S.OpenWait += End > Start ? End - Start : 0;
      ++S.OpenWaits;
    }
    S.Tally.add(Group.Tally);
    S.Events.add(Group.Events);
    if (Group.Readers) {
      S.Readers.Wait.add(Group.Readers->Wait);
      S.Readers.Hold.add(Group.Readers->Hold);
      S.Readers.Events.add(Group.Readers->Events);
    }
    for (const RawObject &Object : Group.Objects)
      addObject(S, Object, Path, Group.Hold.expected());
  }

  static LockCounts countsOf(const RawCounts &Raw) {
    LockCounts Counts;
    Counts.Acquisitions = Raw.Acquisitions;
    Counts.Contended = Raw.Contended;
    Counts.Handovers = Raw.Handovers;
    Counts.TrylockFailures = Raw.TrylockFailures;
    Counts.Timeouts = Raw.Timeouts;
    Counts.CondWaits = Raw.CondWaits;
    Counts.Reentries = Raw.Reentries;
    return Counts;
  }

  void addObject(Sum &S, const RawObject &Object, StringRef Path, double Expected) {
    const RawCounts &Raw = Object.Counts;
    S.Counts.add(Raw);
    S.Class.HeldAtEnd += Object.Held;
    if (!Primitives[S.Primitive].IsLock)
      return; // who waits counts for all objects of the class
    LockObject Lock;
    Lock.Name = Path.empty() ? hex(Object.Address) : Path.str();
    Lock.Counts = countsOf(Raw);
    Lock.Wait = ns(Raw.Wait);
    Lock.Hold = ns(likelyHold(Raw.Weights, Raw.Hold, Raw.Holds, Expected));
    S.Class.Locks.push_back(std::move(Lock));
  }

  // Of all holds, which were counted, by those that were timed. An estimate from a part of them has
  // their number as an estimate, too.
  Times holdTimes(const RawHistogram &Histogram, uint64_t Total, uint64_t Weights,
                  uint64_t Count) const {
    Times T = times(Histogram, Total, Weights);
    T.Timed = std::min(Histogram.Values, Count);
    if (T.Timed != Count)
      T.Error = Histogram.chosen() < RELOCK_CHOSEN_LEAST ? std::nullopt
                                                         : std::optional(Histogram.error(Count));
    T.Expected = Histogram.expected() * NsPerTick;
    correctHolds(T, Count);
    return T;
  }

  // The totals come from the histograms, which also know the waits that timed out, unless some
  // times found no room in a histogram.
  Times times(const RawHistogram &Histogram, uint64_t Total, uint64_t Count) const {
    Times T;
    T.Count = std::max(Histogram.Count, Count);
    T.Total = ns(std::max(Histogram.Total, Total));
    T.Mean = T.Count ? T.Total / T.Count : 0;
    T.P50 = ns(Histogram.percentile(50));
    T.P90 = ns(Histogram.percentile(90));
    T.P99 = ns(Histogram.percentile(99));
    T.Max = ns(Histogram.Max);
    for (unsigned I = 0; I < RELOCK_BUCKETS; ++I)
      if (Histogram.Buckets[I])
        T.Histogram.push_back({ns(relock_bucket_floor(I)), Histogram.Buckets[I]});
    return T;
  }

  template <typename T> static bool costlier(const T &A, const T &B) {
    return std::make_tuple(waitOf(B), holdOf(B), B.Counts.Acquisitions, StringRef(A.Name)) <
           std::make_tuple(waitOf(A), holdOf(A), A.Counts.Acquisitions, StringRef(B.Name));
  }
  static uint64_t waitOf(const LockObject &L) { return L.Wait; }
  static uint64_t holdOf(const LockObject &L) { return L.Hold; }
  static uint64_t waitOf(const ProfiledClass &C) { return C.waitTotal(); }
  static uint64_t holdOf(const ProfiledClass &C) { return C.holdTotal(); }

  // Returns how many operations it stands for.
  uint64_t addTally(Sum &S) {
    ProfiledClass &Class = S.Class;
    const RawTally &Tally = S.Tally;
    if (S.Primitive == RELOCK_RWLOCK) {
      ReaderCounts &Readers = Class.Readers.emplace();
      Readers.Acquisitions = Tally.Acquisitions;
      Readers.Contended = Tally.Contended;
      Readers.TrylockFailures = Tally.TryFailures;
      Readers.Timeouts = Tally.Timeouts;
      Readers.Wait = times(S.Readers.Wait, 0, 0);
      Readers.Hold = holdTimes(S.Readers.Hold, 0, 0, Tally.Holds);
      Readers.Waiters = waiters(S.Readers.Wait);
      Readers.Events = events(S.Readers.Events);
    } else if (!Primitives[S.Primitive].IsLock) {
      Class.Counts.Acquisitions = Tally.Acquisitions;
      Class.Counts.Contended = Tally.Contended;
      Class.Counts.TrylockFailures = Tally.TryFailures;
      Class.Counts.Timeouts = Tally.Timeouts;
      Class.Wakes = WakeCounts{Tally.Signals, Tally.Broadcasts};
    }
    return Tally.Acquisitions + Tally.TryFailures + Tally.Timeouts + Tally.Signals +
           Tally.Broadcasts;
  }

  // Reading the counter counts events of its own, too.
  std::optional<SectionEvents> events(const RawEvents &Raw) const {
    if (!Raw.Sections)
      return std::nullopt;
    double Counted = double(Raw.Events) / double(Raw.Sections);
    double Alone = double(Process.Header.event_alone) / 1024;
    return SectionEvents{Raw.Samples, Raw.Sections, std::max(Counted - Alone, 0.0)};
  }

  static WaiterCounts waiters(const RawHistogram &Wait) {
    return {Wait.Count ? double(Wait.Waiters) / double(Wait.Count) : 0, Wait.WaitersMax};
  }

  // How many holds another thread's came before is counted, from how far they came only of those
  // that were timed.
  static CameFromCounts cameFrom(const Sum &S) {
    CameFromCounts Result{};
    const uint64_t Others = std::min(S.Counts.Handovers, S.Counts.Holds);
    const auto First = std::next(S.Hold.CameFrom.begin());
    const double Known = double(std::accumulate(First, S.Hold.CameFrom.end(), uint64_t(0)));
    uint64_t Seen = 0, Given = 0;
    for (size_t I = 1; Known && I < Result.size(); ++I) {
      Seen += S.Hold.CameFrom[I];
      const uint64_t Until = uint64_t(std::llround(double(Others) * (double(Seen) / Known)));
      Result[I] = Until - Given;
      Given = Until;
    }
    Result[RELOCK_UNKNOWN_DISTANCE] += Others - Given;
    Result[RELOCK_SAME_THREAD] = S.Counts.Holds - Others;
    return Result;
  }

  void finishClass(Sum &S) {
    ProfiledClass &Class = S.Class;
    Class.Key = keyOf(S.Identity);
    Class.Counts = countsOf(S.Counts);
    Class.Inside = ranked(S.Inside);
    Class.TriedInside = ranked(S.TriedInside);
    for (auto &[Key, Nesting] : S.ReadInside)
      Class.ReadInside.push_back(std::move(Nesting));
    Class.Wait = times(S.Wait, S.Counts.Wait, S.Counts.Contended);
    // Librelock's locks have no counts in the records.
    uint64_t Holds = S.Primitive == RELOCK_CONVERTED ? S.Hold.Count : S.Counts.Holds;
    Class.Hold = holdTimes(S.Hold, S.Counts.Hold, S.Counts.Weights, Holds);
    Class.Waiters = waiters(S.Wait);
    Class.Events = events(S.Events);
    if (Primitives[S.Primitive].IsLock)
      Class.CameFrom = cameFrom(S);
    std::sort(Class.Locks.begin(), Class.Locks.end(), costlier<LockObject>);
    if (Class.Locks.size() > LocksPerClass) {
      Class.LocksOmitted = Class.Locks.size() - LocksPerClass;
      Class.Locks.resize(LocksPerClass);
    }
    uint64_t Operations = Class.Counts.Acquisitions + Class.Counts.TrylockFailures +
                          Class.Counts.CondWaits + Class.Counts.Timeouts;
    if (S.Primitive != RELOCK_MUTEX)
      Operations += addTally(S);
    finishSites(S);
    if (S.Primitive != RELOCK_CONVERTED) // librelock says it itself
      P.Overhead += costOf(Class, Operations);
    (Primitives[S.Primitive].IsLock ? P.Classes : P.Waits).push_back(std::move(Class));
  }

  // What is no lock is always timed.
  uint64_t costOf(const ProfiledClass &Class, uint64_t Operations) {
    uint64_t Untimed = 0;
    for (const Times *Hold : {&Class.Hold, Class.Readers ? &Class.Readers->Hold : nullptr})
      if (Hold) {
        P.Holds += Hold->Count;
        P.HoldsTimed += Hold->Timed;
        Untimed += Hold->Count - Hold->Timed;
      }
    Untimed = std::min(Untimed, Operations);
    return uint64_t(double(Operations - Untimed) * P.PairOverhead +
                    double(Untimed) * P.UntimedOverhead);
  }

  Sum *sumOfGroup(uint32_t Group) {
    auto At = ClassOf.find(Group);
    return At == ClassOf.end() ? nullptr : &Sums[At->second];
  }

  void addNesting(const RawNesting &Nesting) {
    Sum *Inner = sumOfGroup(Nesting.Inner), *Outer = sumOfGroup(Nesting.Outer);
    if (!Inner || !Outer)
      return;
    std::string Key = keyOf(Outer->Identity);
    Inner->Inside[Key] += Nesting.Count;
    if (Nesting.Tried)
      Inner->TriedInside[Key] += Nesting.Tried;
    if (uint64_t Waiting = Nesting.Count - std::min(Nesting.Tried, Nesting.Count);
        Nesting.Reading && Waiting) {
      ReadNesting &Read = Inner->ReadInside[Key];
      Read.Key = Key;
      bool OfInner = Nesting.Reading & RELOCK_READS_INNER;
      bool OfOuter = Nesting.Reading & RELOCK_READS_OUTER;
      (OfInner && OfOuter ? Read.Both : OfInner ? Read.Inner : Read.Outer) += Waiting;
    }
  }

  std::vector<std::string> stackOf(const Sum &S, const RawSite &Site) {
    auto MayWait = [&](StringRef Function) {
      return isOperation(S.Primitive, Function) && !Function.ends_with("_init");
    };
    ArrayRef<uint64_t> Frames = Site.Frames;
    if (S.Primitive != RELOCK_CONVERTED || Frames.size() < 2)
      return shown(backtrace(Frames, MayWait));
    // First where librelock has it: its section, which is no return address, or none, and the call.
    std::vector<std::string> Stack(1);
    std::vector<Frame> Section;
    if (Frames[0]) {
      Stack[0] = placeOf(Frames[0]) + " ";
      Section.push_back(frame(Frames[0] + 1));
    }
    Stack[0] += placeOf(Frames[1]);
    append_range(Stack, shown(Section));
    append_range(Stack, shown(backtrace(Frames.drop_front(), MayWait)));
    return Stack;
  }

  // As librelock writes it.
  std::string placeOf(uint64_t Address) const {
    const RawModule *Module = Process.moduleOf(Address);
    return Module ? Module->Path + "+0x" + utohexstr(Address - Module->Bias, /*LowerCase=*/true)
                  : "";
  }

  void addSite(const RawSite &Site) {
    Sum *S = sumOfGroup(Site.Group);
    if (!S)
      return;
    RawSite &Total = S->Sites[{Site.Reading, stackOf(*S, Site)}];
    Total.Samples += Site.Samples;
    Total.Acquisitions += Site.Acquisitions;
    Total.Hold += Site.Hold;
    Total.Contended += Site.Contended;
    Total.Wait += Site.Wait;
  }

  // The samples say how the exact numbers of the class divide among its calls.
  static uint64_t part(uint64_t Exact, uint64_t Sampled, uint64_t AllSampled) {
    return AllSampled ? uint64_t(double(Exact) * double(Sampled) / double(AllSampled) + 0.5) : 0;
  }

  // Of writers, or of all where there are no readers; or of readers.
  void addSites(Sum &S, bool Reading, uint64_t Acquisitions, uint64_t Contended, uint64_t Wait,
                uint64_t Hold) const {
    RawSite All;
    for (const auto &[Call, Site] : S.Sites)
      if (Call.first == Reading) {
        All.Acquisitions += Site.Acquisitions;
        All.Hold += Site.Hold;
        All.Contended += Site.Contended;
        All.Wait += Site.Wait;
      }
    for (const auto &[Call, Site] : S.Sites)
      if (Call.first == Reading)
        S.Class.Sites.push_back({Call.second, Reading, Site.Samples,
                                 part(Acquisitions, Site.Acquisitions, All.Acquisitions),
                                 part(Contended, Site.Contended, All.Contended),
                                 part(Wait, Site.Wait, All.Wait), part(Hold, Site.Hold, All.Hold)});
  }

  static void addSamples(Sum &S) {
    for (const auto &[Call, Site] : S.Sites)
      S.Class.Sites.push_back({Call.second, Call.first, Site.Samples, Site.Acquisitions,
                               Site.Contended, Site.Wait, Site.Hold});
  }

  void finishSites(Sum &S) const {
    ProfiledClass &Class = S.Class;
    bool IsLock = Primitives[S.Primitive].IsLock;
    // Waits that did not end have no samples.
    uint64_t Contended = IsLock ? Class.Counts.Contended : S.Wait.Count - S.OpenWaits;
    uint64_t Wait = Class.Wait.Total - std::min(ns(S.OpenWait), Class.Wait.Total);
    if (S.Primitive == RELOCK_CONVERTED) // librelock has the exact numbers of each call
      addSamples(S);
    else
      addSites(S, false, Class.Counts.Acquisitions, Contended, Wait, Class.Hold.Total);
    if (const auto &R = Class.Readers)
      addSites(S, true, R->Acquisitions, R->Contended, R->Wait.Total, R->Hold.Total);
    std::stable_sort(Class.Sites.begin(), Class.Sites.end(), [](const auto &A, const auto &B) {
      return std::make_tuple(A.Wait, A.Hold, A.Acquisitions) >
             std::make_tuple(B.Wait, B.Hold, B.Acquisitions);
    });
    if (Class.Sites.size() > SitesPerClass) {
      Class.SitesOmitted = Class.Sites.size() - SitesPerClass;
      Class.Sites.resize(SitesPerClass);
    }
  }

  // Of a thread without a name the function that it began with says what it is.
  std::string nameOf(const RawThread &Thread) {
    if (!Thread.Name.empty())
      return Thread.Name;
    if (!Thread.Entry)
      return Thread.Id == 1 ? "main" : "";
    const Frame &Entry = frame(Thread.Entry + 1); // it is no return address
    if (StringRef(Entry.Module).starts_with("libstdc++"))
      return ""; // where all of C++'s threads begin
    return Entry.Place.Function.empty() ? Entry.place() : Entry.Place.Function;
  }

  void addUpShares() {
    for (const RawShare &Part : Process.Shares)
      if (auto At = ClassOf.find(Part.Group); !Part.Wait && At != ClassOf.end()) {
        SharedHolds &All = AllShares[{At->second, Part.Reading}];
        All.Threads += Part.Count > 0;
        All.Count += Part.Count;
        All.Variance += Part.Variance;
      }
  }

  // The holds of a class were counted, those of one thread are estimated where not all were timed.
  uint64_t holdsOf(const RawShare &Part, const ThreadShare &Estimate) {
    size_t Class = ClassOf.at(Part.Group);
    if (Sums[Class].Primitive == RELOCK_CONVERTED) // librelock has counted them
      return Part.Count;
    uint64_t Exact = Part.Reading ? Sums[Class].Tally.Holds : Sums[Class].Counts.Holds;
    if (Process.Header.dropped_histograms)
      return Part.Count; // of some threads there is none
    return AllShares[{Class, Part.Reading}].likely(Estimate, Exact);
  }

  std::vector<ThreadShare> sharesOf(ArrayRef<const RawShare *> Raw) {
    std::map<std::string, ThreadShare> ByKey;
    for (const RawShare *Part : Raw) {
      const Sum *Class = sumOfGroup(Part->Group);
      if (!Class || !Part->Count || !Primitives[Class->Primitive].IsLock)
        continue;
      ThreadShare &Share = ByKey[keyOf(Class->Identity)];
      if (Part->Wait) {
        Share.Wait += ns(Part->Total);
      } else {
        ThreadShare Estimate;
        Estimate.Acquisitions = Part->Count;
        Estimate.Hold = ns(Part->Total);
        Estimate.Timed = Part->Values;
        Estimate.Variance = Part->Variance;
        Estimate.Expected = Part->Expected * NsPerTick;
        correctHolds(Estimate, holdsOf(*Part, Estimate));
        Share.Acquisitions += Estimate.Acquisitions;
        Share.Hold += Estimate.Hold;
        Share.Timed += std::min(Part->Values, Estimate.Acquisitions);
        Share.Variance += Part->Variance;
        Share.Expected = std::max(Share.Expected, Estimate.Expected);
      }
    }
    std::vector<ThreadShare> Result;
    for (auto &[Key, Share] : ByKey) {
      Share.Key = Key;
      Result.push_back(Share);
    }
    std::stable_sort(Result.begin(), Result.end(), [](const auto &A, const auto &B) {
      return std::make_pair(A.Wait, A.Hold) > std::make_pair(B.Wait, B.Hold);
    });
    return Result;
  }

  void finishThreads() {
    std::map<uint32_t, std::vector<const RawShare *>> Shares;
    for (const RawShare &Share : Process.Shares)
      Shares[Share.Thread].push_back(&Share);
    addUpShares();
    for (const RawThread &Thread : Process.Threads) {
      if (!Thread.Started || isProfilers(Thread))
        continue;
      ProfiledThread T;
      T.Id = Thread.Id;
      T.Threads = Thread.Started;
      T.Lived = ns(Thread.lived(End));
      T.Section = ns(Thread.inSections(End));
      T.Sections = Thread.Sections;
      T.Name = nameOf(Thread);
      T.Classes = sharesOf(Shares[Thread.Id]);
      for (const ThreadShare &Share : T.Classes)
        T.Wait += Share.Wait;
      P.ByThread.push_back(std::move(T));
    }
    std::stable_sort(P.ByThread.begin(), P.ByThread.end(), [](const auto &A, const auto &B) {
      return std::make_pair(A.Wait, A.Section) > std::make_pair(B.Wait, B.Section);
    });
    if (P.ByThread.size() > ThreadsKept) {
      P.ThreadsOmitted = P.ByThread.size() - ThreadsKept;
      P.ByThread.resize(ThreadsKept);
    }
  }

  void finishEdges() {
    std::map<std::tuple<uint32_t, uint32_t, std::string>, WaitEdge> Found;
    for (const RawEdge &Raw : Process.Edges) {
      const Sum *Class = sumOfGroup(Raw.Group);
      if (!Class)
        continue;
      std::string Key = keyOf(Class->Identity);
      WaitEdge &Edge = Found[{Raw.Waiter, Raw.Holder, Key}];
      Edge.Waiter = Raw.Waiter;
      Edge.Holder = Raw.Holder;
      Edge.Key = Key;
      Edge.Count += Raw.Count;
      Edge.Wait += ns(Raw.Wait);
    }
    for (auto &[Where, Edge] : Found)
      P.Edges.push_back(std::move(Edge));
    std::stable_sort(P.Edges.begin(), P.Edges.end(),
                     [](const auto &A, const auto &B) { return A.Wait > B.Wait; });
    if (P.Edges.size() > EdgesKept) {
      P.EdgesOmitted = P.Edges.size() - EdgesKept;
      P.Edges.resize(EdgesKept);
    }
  }

  // Waits that were displaced, or that found no room at all, are known by their number only.
  void finishTimeline() {
    uint64_t All = 0, Start = Process.Header.start_ticks;
    for (const ProfiledClass &Class : P.Classes) {
      All += std::max(Class.Wait.Count, Class.Counts.Contended + Class.Counts.Timeouts);
      if (const auto &R = Class.Readers)
        All += std::max(R->Wait.Count, R->Contended + R->Timeouts);
    }
    for (const RawWait &Wait : Process.Waits)
      if (const Sum *Class = sumOfGroup(Wait.Group); Class && Wait.Start >= Start)
        P.Timeline.push_back(
            {Wait.Thread, keyOf(Class->Identity), ns(Wait.Start - Start), ns(Wait.Wait)});
    std::stable_sort(P.Timeline.begin(), P.Timeline.end(),
                     [](const auto &A, const auto &B) { return A.Start < B.Start; });
    P.TimelineOmitted = All - std::min<uint64_t>(All, P.Timeline.size());
  }

  // In intervals of the width that the records have at the end of the run; those of before it are
  // parts of these, unless the run is a window of a longer one.
  void finishOverTime() {
    const uint64_t Start = Process.Header.start_ticks;
    if (Process.Intervals.empty() || Start < Process.IntervalsBegin || End <= Start)
      return;
    const uint64_t Begin = Start - Process.IntervalsBegin, Until = End - Process.IntervalsBegin;
    const relock_interval Last = relock_interval_at(Until - 1);
    const uint64_t Width = Last.end - Last.begin;
    std::map<std::string, std::vector<double>> Found;
    for (const RawIntervals &Raw : Process.Intervals)
      if (const Sum *Class = sumOfGroup(Raw.Group)) {
        std::vector<double> &Wait = Found[keyOf(Class->Identity)];
        Wait.resize((Until - Begin + Width - 1) / Width);
        for (uint32_t I = 0; I < RELOCK_INTERVALS; ++I)
          if (Raw.Wait[I])
            spread(double(Raw.Wait[I]), relock_interval_in(Raw.Level, I), Begin, Width, Wait);
      }
    P.Interval = ns(Width);
    std::vector<std::pair<double, std::string>> Order;
    for (const auto &[Key, Wait] : Found)
      Order.push_back({-std::accumulate(Wait.begin(), Wait.end(), 0.0), Key});
    std::sort(Order.begin(), Order.end());
    std::vector<double> Rest;
    for (auto [I, Each] : enumerate(Order)) {
      const std::vector<double> &Wait = Found[Each.second];
      if (I < ClassesOverTime)
        P.OverTime.push_back({Each.second, inNs(Wait)});
      Rest.resize(Wait.size());
      for (size_t At = 0; I >= ClassesOverTime && At < Wait.size(); ++At)
        Rest[At] += Wait[At];
    }
    if (Order.size() > ClassesOverTime)
      P.OverTime.push_back({"", inNs(Rest)});
  }

  // What lies before the window is not of it.
  static void spread(double Waited, relock_interval Over, uint64_t Begin, uint64_t Width,
                     std::vector<double> &Wait) {
    uint64_t From = std::max(Over.begin, Begin) - Begin, To = std::max(Over.end, Begin) - Begin;
    for (uint64_t At = From / Width; At < Wait.size() && At * Width < To; ++At) {
      uint64_t Part = std::min(To, (At + 1) * Width) - std::max(From, At * Width);
      Wait[At] += Waited * double(Part) / double(Over.end - Over.begin);
    }
  }

  std::vector<uint64_t> inNs(const std::vector<double> &Ticks) const {
    std::vector<uint64_t> Result;
    for (double Each : Ticks)
      Result.push_back(uint64_t(Each * NsPerTick + 0.5));
    return Result;
  }

  // Most frequent first.
  static std::vector<std::pair<std::string, uint64_t>>
  ranked(const std::map<std::string, uint64_t> &Counts) {
    std::vector<std::pair<std::string, uint64_t>> Result(Counts.begin(), Counts.end());
    std::stable_sort(Result.begin(), Result.end(),
                     [](const auto &A, const auto &B) { return A.second > B.second; });
    return Result;
  }

  // Two classes of one name: declarations are told apart by file, calls by their caller.
  static void separateNames(std::vector<ProfiledClass> &Classes) {
    StringMap<unsigned> Uses;
    for (const ProfiledClass &Class : Classes)
      ++Uses[Class.Name];
    for (ProfiledClass &Class : Classes) {
      if (Uses[Class.Name] < 2)
        continue;
      if (!Class.DeclaredAs.empty() && !Class.File.empty())
        Class.Name = sys::path::filename(Class.File).str() + ":" + Class.Name;
      else if (Class.Kind == "static")
        Class.Name = Class.Module + ":" + Class.Name;
      else if (Class.Backtrace.size() > 1)
        Class.Name += " from " + Class.Backtrace[1];
    }
    numberNames(Classes);
  }

  static void numberNames(std::vector<ProfiledClass> &Classes) {
    StringMap<unsigned> Uses;
    for (ProfiledClass &Class : Classes)
      if (unsigned Use = ++Uses[Class.Name]; Use > 1)
        Class.Name += " #" + std::to_string(Use);
  }

  void finishClasses() {
    P.Overhead = P.Sampling;
    for (const RawNesting &Nesting : Process.Nestings)
      addNesting(Nesting);
    for (const RawSite &Site : Process.Sites)
      addSite(Site);
    finishThreads();
    finishEdges();
    for (Sum &S : Sums)
      finishClass(S);
    finishTimeline();
    finishOverTime();
    for (std::vector<ProfiledClass> *Classes : {&P.Classes, &P.Waits}) {
      std::sort(Classes->begin(), Classes->end(), costlier<ProfiledClass>);
      separateNames(*Classes);
    }
  }

  const RawProcess &Process;
  Profile P;
  Symbolizer &Names;
  double NsPerTick = 0;
  uint64_t End = 0;
  std::map<uint64_t, Frame> Frames;
  std::map<std::string, size_t> Index;
  std::map<uint32_t, size_t> ClassOf;                       // of a group, in Sums
  std::map<std::pair<size_t, bool>, SharedHolds> AllShares; // of a class, by whether they read
  std::vector<Sum> Sums;
};

} // namespace

std::string recordedKey(uint64_t Number) {
  return keyOf(RecordedPrimitive + (" " + recordedIdentity(Number)));
}

uint64_t SharedHolds::likely(const ThreadShare &Estimate, uint64_t Exact) const {
  double Lacks = double(Exact) - double(Count), Its = Threads == 1 ? 1 : 0;
  if (Variance)
    Its = double(Estimate.Variance) / double(Variance);
  return uint64_t(
      std::max(double(Estimate.Acquisitions) + Lacks * Its + 0.5, double(Estimate.Timed)));
}

void correctHolds(Times &T, uint64_t Count) {
  double Factor = T.Count ? double(Count) / double(T.Count) : 0;
  if (T.Count == Count)
    return;
  T.Total = uint64_t(relock_likely_sum(T.Count, T.Total, Count, T.Expected) + 0.5);
  T.Count = Count;
  T.Mean = T.Count ? T.Total / T.Count : 0;
  for (auto &[Floor, N] : T.Histogram)
    N = std::max<uint64_t>(uint64_t(double(N) * Factor + 0.5), 1);
}

void correctHolds(ThreadShare &Share, uint64_t Count) {
  Share.Hold = likelyHold(Share.Acquisitions, Share.Hold, Count, Share.Expected);
  Share.Acquisitions = Count;
}

Profile aggregate(const RawProcess &Process, ClockReading Early, ClockReading Late,
                  std::optional<uint64_t> Died, Symbolizer &Names) {
  return Aggregator(Process, Early, Late, Died, Names).run();
}

Profile aggregate(const RawProcess &Process, ClockReading Early, ClockReading Late,
                  std::optional<uint64_t> Died) {
  Symbolizer Names;
  return aggregate(Process, Early, Late, Died, Names);
}

} // namespace relock
