// SPDX-License-Identifier: MIT
//
// A profile: what one process did with its locks, by lock class. Written by `relock profile`,
// read by everything else. Format: tool/profile/doc/file.md.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relock {

inline constexpr char ProfileFormat[] = "relock-profile";
inline constexpr int64_t ProfileVersion = 1;

// What a profile keeps: of each class, and in all.
inline constexpr size_t LocksPerClass = 100, SitesPerClass = 20;
inline constexpr size_t ThreadsKept = 100, EdgesKept = 500, WaitsKept = 10000;
inline constexpr size_t ClassesOverTime = 20, MostIntervals = 128;

struct LockCounts {
  uint64_t Acquisitions = 0, Contended = 0, Handovers = 0;
  uint64_t TrylockFailures = 0, Timeouts = 0, CondWaits = 0, Reentries = 0;
};

// Holds by where the lock had been before, nearest first: with the same thread (or nobody), with
// another one on the same core, below the same last-level cache, on the same node, on another one,
// and where nobody knows.
inline constexpr size_t Distances = 6;
struct CameFromCounts : std::array<uint64_t, Distances> {
  CameFromCounts() : array() {}
  explicit CameFromCounts(const array &Counts) : array(Counts) {}

  // The share of holds that came from another thread; and from below another last-level cache, of
  // those of which that is known. None: of no holds, or not known of any that came from a thread.
  std::optional<double> otherThread() const;
  std::optional<double> otherCache() const;
};

// Nanoseconds.
struct Times {
  uint64_t Count = 0, Total = 0, Mean = 0, P50 = 0, P90 = 0, P99 = 0, Max = 0;
  uint64_t Timed = 0; // of holds: those on which the rest rests
  // Of holds: the standard error of total and mean, as a part of these; none: too few were timed to
  // tell.
  std::optional<double> Error = 0.0;
  double Expected = 0; // ns that a hold is expected to last that was not timed. In no file of ours
  std::vector<std::pair<uint64_t, uint64_t>> Histogram; // smallest value of a bucket, count
};

// What librelock's own statistics know of a class beyond a profile: of one that RELOCK_STATS=FILE
// wrote, or of the runtime's locks in one of `relock profile`.
struct RuntimeCounts {
  std::string Algorithm;
  uint64_t Held = 0, Executed = 0, Delegated = 0, Batches = 0, Parked = 0, Switches = 0;
  std::optional<uint64_t> Server; // of rcl and adaptive_rcl
  uint64_t RecordedAs = 0;        // the records' number of the class; 0: none. In no file of ours
};

// One of librelock's servers.
struct ServerCounts {
  uint64_t Number = 0;
  uint64_t Sections = 0, Passes = 0, ActivePasses = 0;
  double UseRate = 0, FalseSerialization = 0, SlowRate = 0;
  uint64_t ManagerWakes = 0, Activations = 0, Sleeps = 0, Threads = 0;
  std::optional<uint64_t> CacheMisses; // none: not counted
  std::optional<uint64_t> Cpu;         // none: any
  bool Fifo = false;
};

struct LockObject {
  std::string Name; // `name[3]`, or the address
  LockCounts Counts;
  uint64_t Wait = 0, Hold = 0;
};

// The event that was counted in sections, or was to be.
struct CountedEvent {
  std::string Name;
  bool CacheMisses = false;
  std::string NotAvailable; // why there are no counts; empty: there are
  std::string Reading;      // `register` or `descriptor`
  double PerReading = 0;    // counted by a reading itself, and taken off the sections
  uint64_t ThreadsNotCounted = 0;
};

// In the counted sections of a class; Sections: how many they stand for.
struct SectionEvents {
  uint64_t Samples = 0, Sections = 0;
  double PerSection = 0;
};

// Of those that had to wait: threads that they found waiting already.
struct WaiterCounts {
  double Mean = 0;
  uint64_t Max = 0;
};

// Readers of an rwlock.
struct ReaderCounts {
  uint64_t Acquisitions = 0, Contended = 0, TrylockFailures = 0, Timeouts = 0;
  Times Wait, Hold;
  WaiterCounts Waiters;
  std::optional<SectionEvents> Events;
};

// Acquisitions of one class while a lock of another one was held, by whether either was an rwlock
// taken for reading. Without trylocks, and without those where neither was.
struct ReadNesting {
  std::string Key; // of the one that was held
  uint64_t Inner = 0, Outer = 0, Both = 0;
};

// Of a condition, or posts of a semaphore.
struct WakeCounts {
  uint64_t Signals = 0, Broadcasts = 0;
};

// A call that acquires locks of a class: its share of the class, estimated from samples.
struct CallSite {
  std::vector<std::string> Stack; // innermost first
  bool Reading = false;           // of an rwlock; otherwise it writes
  uint64_t Samples = 0;
  uint64_t Acquisitions = 0, Contended = 0, Wait = 0, Hold = 0;
};

// A lock class; or what threads wait for otherwise, where acquisitions are waits that succeeded
// (for conditions, barriers and futexes: that were begun), and hold is empty.
struct ProfiledClass {
  std::string Primitive = "mutex"; // rwlock, spinlock; condition, semaphore, barrier, futex
  std::string Key;                 // stable from run to run
  std::string Name;
  std::string DeclaredAs; // as `relock check` names it; empty: only a call is known
  std::string Kind;       // static, initialised or first-use
  std::string Module;
  std::string File; // declaration, initialisation or first use
  int Line = 0;
  std::vector<std::string> Backtrace;
  uint64_t Objects = 0; // ever created
  uint64_t HeldAtEnd = 0;
  LockCounts Counts;
  Times Wait, Hold;
  // Acquisitions of this class while a lock of another one, named by its key, was held, those of
  // them that were trylocks, which need not keep to an order, and those in which somebody read.
  std::vector<std::pair<std::string, uint64_t>> Inside, TriedInside;
  std::vector<ReadNesting> ReadInside;
  std::vector<LockObject> Locks; // the costliest of those that lived at the end
  uint64_t LocksOmitted = 0;
  WaiterCounts Waiters;
  std::optional<CameFromCounts> CameFrom; // where it was recorded
  std::vector<CallSite> Sites;            // costliest first
  uint64_t SitesOmitted = 0;
  std::optional<RuntimeCounts> Runtime;
  std::optional<ReaderCounts> Readers; // of an rwlock, whose own counts and times are the writers'
  std::optional<WakeCounts> Wakes;
  std::optional<SectionEvents> Events;
  // By the program's text: with -p. Shared lines are per section.
  std::string SourceClass, NoSourceClass; // as `relock check` names it; or why it is none
  std::optional<double> EstimatedSharedLines;
  std::optional<double> CacheMissesPerSection; // measured: Events, where these are cache misses

  // By all who took the lock, or waited for it.
  uint64_t acquisitions() const;
  uint64_t waitTotal() const;
  uint64_t holdTotal() const;

  // False for a class of librelock without holds and percentiles: those that earlier versions
  // wrote.
  bool isTimed() const { return !Runtime || Hold.Count || !acquisitions(); }
};

// One class as one thread used it.
struct ThreadShare {
  std::string Key;
  uint64_t Acquisitions = 0, Wait = 0, Hold = 0; // acquisitions: its holds
  uint64_t Timed = 0;                            // of these; the rest is an estimate
  // Where the sum of Acquisitions is not known yet; in no file of ours: their variance, and the ns
  // that a hold is expected to last that was not timed.
  uint64_t Variance = 0;
  double Expected = 0;
};

// A thread, or threads that ran one after the other in one record.
struct ProfiledThread {
  uint64_t Id = 0, Threads = 1;
  uint64_t Run = 0; // in the sum of several: of which, from 1 on
  std::string Name; // the last one's; or the function that it began with; or empty. ThreadNames
                    // tells those apart that have the same one
  uint64_t Lived = 0, Section = 0, Wait = 0, Sections = 0;
  std::vector<ThreadShare> Classes; // costliest first
};

// Waits of one thread for locks of a class that another one held when they began.
struct WaitEdge {
  uint64_t Waiter = 0, Holder = 0; // ProfiledThread::Id; holder 0: unknown, or readers
  std::string Key;
  uint64_t Count = 0, Wait = 0;
};

// One wait for a lock.
struct ProfiledWait {
  uint64_t Thread = 0; // ProfiledThread::Id
  std::string Key;
  uint64_t Start = 0, Wait = 0; // since the start of the process, or of the first of several runs,
                                // which stand one after another
};

// How long all threads together waited for the locks of a class, by when.
struct WaitingOverTime {
  std::string Key;            // empty: of all classes that are not listed
  std::vector<uint64_t> Wait; // ns, in each interval of the run
};

// What lies between two bounds, in nanoseconds.
struct TimeRange {
  uint64_t Least = 0, Most = 0;
};

struct Ending {
  std::string How; // exit, signal, unknown or running
  int Status = 0;  // exit status or signal number
};

struct Dropped {
  uint64_t Mutexes = 0, Times = 0, Threads = 0, Nested = 0, Modules = 0, Processes = 0;
  uint64_t Nestings = 0, Samples = 0;
  uint64_t Runtimes = 0; // processes whose librelock could not write what it had counted
  uint64_t Edges = 0;
  bool any() const {
    return Mutexes || Times || Threads || Nested || Modules || Processes || Nestings || Samples ||
           Edges || Runtimes;
  }
};

struct Profile {
  uint64_t Runs = 1;  // more than one: added up by mergeProfiles
  std::string Source; // empty: the profiler; "librelock": RELOCK_STATS=FILE
  std::vector<std::string> Command;
  std::string Executable;
  int64_t Pid = 0;
  bool Forked = false;
  Ending End;
  std::string Machine;
  int Processors = 0, UsableProcessors = 0; // usable: that the program might run on
  uint64_t SpareTime = 0;                   // ns in which these ran nothing; 0: not known
  uint64_t Duration = 0, Threads = 0, ThreadsAtOnce = 0;
  uint64_t ThreadTime = 0, SectionTime = 0, Sections = 0; // the first metric and its denominator
  uint64_t RuntimeSectionTime = 0; // in sections of librelock's locks; some of it the same time
  bool RuntimeWithin = false;      // these are sections of SectionTime
  uint64_t TicksPerSecond = 0;
  // ns per acquisition, of one that is timed and one that is not
  double PairOverhead = 0, UntimedOverhead = 0, PairPlain = 0, HoldOverhead = 0;
  uint64_t Holds = 0, HoldsTimed = 0;
  uint64_t Overhead = 0;      // ns, estimated for this run
  uint64_t Sampling = 0;      // ns of backtraces and of making records, measured
  uint64_t ProcessorTime = 0; // ns, of the process; 0: not known
  uint64_t RecordsSize = 0;   // bytes, in shared memory
  uint64_t ForeignReleases = 0;
  Dropped Drops;
  std::optional<CountedEvent> Event;
  std::vector<ProfiledClass> Classes;   // of locks, costliest first
  std::vector<ProfiledClass> Waits;     // for anything else, longest first
  std::vector<ServerCounts> Servers;    // by number
  std::vector<ProfiledThread> ByThread; // costliest first
  uint64_t ThreadsOmitted = 0;
  std::vector<WaitEdge> Edges; // longest wait first
  uint64_t EdgesOmitted = 0;
  std::vector<ProfiledWait> Timeline; // by start
  uint64_t TimelineOmitted = 0;
  uint64_t Interval = 0;                 // ns, of those of OverTime; 0: it is not known
  std::vector<WaitingOverTime> OverTime; // longest wait first

  uint64_t acquisitions() const;

  // What threads waited for conditions, semaphores and barriers: mostly for something to do.
  uint64_t idleTime() const;
  // Whether its processors ran nothing most of the time: then a thread that did not run slept,
  // rather than wait for a processor.
  bool hadProcessorsToSpare() const;
  // What threads did besides sleeping outside of sections: processor time, waiting for locks that
  // do not spin, and what they slept in sections, of which only the bounds are known. Says
  // something where there were processors to spare; elsewhere threads wait for their turn.
  TimeRange workedTime() const;
  // Of which lock classes take their shares where it matters how busy the program was: that, or
  // else the threads' time without what is idle for sure.
  TimeRange busyTime() const;
};

// All that names something, other than keys.
void forEachText(Profile &P, llvm::function_ref<void(std::string &)> Do);
// Programs, their files, functions and arguments may be called anything; JSON is UTF-8.
void makeUtf8(Profile &P);

// Two classes that are each acquired, other than by trylock, while the other one is held, so that
// two threads can wait for each other: two readers of one rwlock do not. The more frequent order
// first.
struct Inversion {
  const ProfiledClass *A, *B;
  uint64_t AInsideB, BInsideA;
};
std::vector<Inversion> findInversions(const Profile &P);

struct HeadlineSources;

// With sources its headline says what they say of the lock class, and which command comes next.
void writeProfile(const Profile &P, llvm::raw_ostream &OS,
                  const HeadlineSources *Sources = nullptr);

// Why a file is not a profile, as a message code.
class ProfileError : public llvm::ErrorInfo<ProfileError> {
public:
  static char ID;
  std::string Code, Text;

  ProfileError(std::string Code, std::string Text) : Code(std::move(Code)), Text(std::move(Text)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

// `Document` gets the whole file, with the members that Profile does not know.
llvm::Expected<Profile> readProfile(llvm::StringRef File, llvm::json::Value *Document = nullptr);
llvm::Expected<Profile> parseProfile(llvm::StringRef Text, llvm::json::Value *Document = nullptr);

} // namespace relock
