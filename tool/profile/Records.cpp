// SPDX-License-Identifier: MIT
#include "profile/Records.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

using namespace llvm;

namespace relock {

void RawCounts::add(const RawCounts &Other) {
  Acquisitions += Other.Acquisitions;
  Contended += Other.Contended;
  Wait += Other.Wait;
  Hold += Other.Hold;
  Weights += Other.Weights;
  Holds += Other.Holds;
  Handovers += Other.Handovers;
  TrylockFailures += Other.TrylockFailures;
  Timeouts += Other.Timeouts;
  CondWaits += Other.CondWaits;
  Reentries += Other.Reentries;
}

void RawHistogram::add(const RawHistogram &Other) {
  Count += Other.Count;
  Total += Other.Total;
  Max = std::max(Max, Other.Max);
  Values += Other.Values;
  Chance.weights += Other.Chance.weights;
  Chance.values += Other.Chance.values;
  Chance.squares += Other.Chance.squares;
  Waiters += Other.Waiters;
  WaitersMax = std::max(WaitersMax, Other.WaitersMax);
  for (size_t I = 0; I < Buckets.size(); ++I)
    Buckets[I] += Other.Buckets[I];
  for (size_t I = 0; I < CameFrom.size(); ++I)
    CameFrom[I] += Other.CameFrom[I];
}

void RawHistogram::add(uint64_t Value) {
  ++Count;
  ++Values;
  Total += Value;
  Max = std::max(Max, Value);
  ++Buckets[relock_bucket(Value)];
}

void RawTally::add(const RawTally &Other) {
  Acquisitions += Other.Acquisitions;
  Contended += Other.Contended;
  TryFailures += Other.TryFailures;
  Timeouts += Other.Timeouts;
  Signals += Other.Signals;
  Broadcasts += Other.Broadcasts;
  Holds += Other.Holds;
}

void RawEvents::add(const RawEvents &Other) {
  Samples += Other.Samples;
  Sections += Other.Sections;
  Events += Other.Events;
}

uint64_t RawThread::lived(uint64_t Until) const {
  return EndedTime + (Live && Until > StartTicks ? Until - StartTicks : 0);
}

uint64_t RawThread::inSections(uint64_t Until) const {
  uint64_t Present = SectionStart && Until > SectionStart ? Until - SectionStart : 0;
  return std::min(SectionTime + SectionWeight * Present, lived(Until));
}

// The middle of the bucket in which the percentile lies.
uint64_t RawHistogram::percentile(unsigned Percent) const {
  uint64_t Rank = (Count * Percent + 99) / 100, Seen = 0;
  for (unsigned I = 0; I < Buckets.size(); ++I) {
    Seen += Buckets[I];
    if (Count && Seen >= Rank) {
      uint64_t Floor = relock_bucket_floor(I);
      uint64_t Width = I < RELOCK_BUCKET_SMALL ? 1 : relock_bucket_floor(I + 1) - Floor;
      return std::min(Floor + Width / 2, Max);
    }
  }
  return 0;
}

double RawHistogram::total(uint64_t Exactly) const {
  return relock_likely_sum(Count, Total, Exactly, expected());
}

// What is written over may be no number.
double RawHistogram::expected() const {
  double Value = relock_expected(&Chance, Count, Total);
  return Value >= 0 && Value <= double(Max) ? Value : 0;
}

double RawHistogram::error(uint64_t Exactly) const {
  return std::sqrt(relock_relative_variance(&Chance, total(Exactly)));
}

double RawHistogram::chosen() const { return relock_chosen(&Chance, Count, Values); }

uint64_t RawProcess::acquisitions() const {
  uint64_t Sum = 0;
  for (const RawGroup &Group : Groups) {
    Sum += Group.Retired.Acquisitions + Group.Tally.Acquisitions;
    for (const RawObject &Object : Group.Objects)
      Sum += Object.Counts.Acquisitions;
  }
  return Sum;
}

// The latest one wins: a library can be loaded where another one was.
const RawModule *RawProcess::moduleOf(uint64_t Address) const {
  for (const RawModule &Module : reverse(Modules))
    if (Address >= Module.Low && Address < Module.High)
      return &Module;
  return nullptr;
}

namespace {

// Collects the records of one file; groups are addressed by their index, which may come later
// in the file than a histogram that names it.
class RecordReader {
public:
  explicit RecordReader(StringRef Bytes) : Bytes(Bytes) {}

  bool readHeader(RawProcess &Process) {
    if (Bytes.size() < RELOCK_RECORDS_FIRST)
      return false;
    std::memcpy(&Process.Header, Bytes.data(), sizeof Process.Header);
    Process.Header.executable[sizeof Process.Header.executable - 1] = 0;
    Process.Executable = Process.Header.executable;
    return Process.Header.magic == RELOCK_RECORDS_MAGIC &&
           Process.Header.version == RELOCK_RECORDS_VERSION;
  }

  void readRecords(RawProcess &Process) {
    uint64_t End = std::min<uint64_t>(Process.Header.used, Bytes.size());
    for (uint64_t At = RELOCK_RECORDS_FIRST; At + sizeof(relock_record) <= End;) {
      relock_record Record;
      std::memcpy(&Record, Bytes.data() + At, sizeof Record);
      if (Record.size < 64 || Record.size % 64 || At + Record.size > End)
        break;
      readRecord(Process, Record.kind, Bytes.substr(At, Record.size));
      At += Record.size;
    }
    for (const RawThread &Thread : Process.Threads)
      if (auto Group = Groups.find(Thread.WaitGroup); Thread.WaitStart && Group != Groups.end())
        Group->second.OpenWaits.push_back(Thread.WaitStart);
    for (auto &[Index, Group] : Groups)
      if (!Hidden[Index])
        Process.Groups.push_back(std::move(Group));
  }

private:
  template <typename T> static bool load(T &Record, StringRef From) {
    if (From.size() < sizeof Record)
      return false;
    std::memcpy(static_cast<void *>(&Record), From.data(), sizeof Record);
    return true;
  }

  // A program may give its threads any name.
  static std::string printable(StringRef Name) {
    std::string Text = json::fixUTF8(Name);
    std::replace_if(
        Text.begin(), Text.end(), [](unsigned char C) { return C < 32 || C == 127; }, '?');
    return Text;
  }

  // Of one lock, or of those of a group that were destroyed.
  template <typename CountsT>
  static RawCounts counts(const CountsT &Counts, const relock_times &Times,
                          const relock_rare &Rare) {
    RawCounts Result;
    Result.Acquisitions = Counts.acquisitions;
    Result.Contended = Times.contended;
    Result.Wait = Times.wait;
    Result.Hold = Times.hold;
    Result.Weights = Times.weights;
    Result.Holds = Counts.holds;
    Result.Handovers = Counts.handovers;
    Result.TrylockFailures = Rare.trylock_failures;
    Result.Timeouts = Rare.timeouts;
    Result.CondWaits = Rare.cond_waits;
    Result.Reentries = Rare.reentries;
    return Result;
  }

  void readRecord(RawProcess &Process, uint32_t Kind, StringRef From) {
    switch (Kind) {
    case RELOCK_RECORD_THREAD:
      return readThread(Process, From);
    case RELOCK_RECORD_MODULE:
      return readModule(Process, From);
    case RELOCK_RECORD_GROUP:
      return readGroup(From);
    case RELOCK_RECORD_OBJECT:
      return readObject(Process, From);
    case RELOCK_RECORD_HISTOGRAM:
      return readHistogram(Process, From);
    case RELOCK_RECORD_NESTING:
      return readNesting(Process, From);
    case RELOCK_RECORD_TALLY:
      return readTally(From);
    case RELOCK_RECORD_SITE:
      return readSite(Process, From);
    case RELOCK_RECORD_TIMELINE:
      return readTimeline(Process, From);
    case RELOCK_RECORD_EDGE:
      return readEdge(Process, From);
    case RELOCK_RECORD_INTERVALS:
      return readIntervals(Process, From);
    }
  }

  static void see(RawProcess &Process, uint64_t Ticks) {
    Process.LastSeen = std::max(Process.LastSeen, Ticks);
  }

  void readThread(RawProcess &Process, StringRef From) {
    relock_thread_record Thread;
    if (!load(Thread, From))
      return;
    Thread.name[sizeof Thread.name - 1] = 0;
    Process.Threads.push_back(
        {Thread.id, printable(Thread.name), Thread.entry, Thread.started, Thread.start_ticks,
         Thread.ended_time, Thread.section_start, Thread.section_weight, Thread.section_time,
         Thread.sections, Thread.sampling, Thread.wait_start, Thread.wait_group, Thread.live != 0});
    see(Process, Thread.start_ticks);
    see(Process, Thread.section_start);
    see(Process, Thread.wait_start);
  }

  void readModule(RawProcess &Process, StringRef From) {
    // The path follows the fixed part, within the record.
    constexpr size_t Fixed = offsetof(relock_module, path);
    alignas(relock_module) char Storage[sizeof(relock_module)];
    if (From.size() < Fixed)
      return;
    std::memcpy(Storage, From.data(), Fixed);
    auto *Module = reinterpret_cast<relock_module *>(Storage);
    StringRef Path = From.substr(Fixed, Module->path_size);
    Process.Modules.push_back({Path.take_until([](char C) { return C == 0; }).str(), Module->bias,
                               Module->low, Module->high});
  }

  static RawEvents events(const relock_events &Events) {
    return {Events.samples, Events.sections, Events.events};
  }

  static RawReaders &readersOf(RawGroup &Group) {
    return Group.Readers ? *Group.Readers : Group.Readers.emplace();
  }

  void readGroup(StringRef From) {
    relock_group Group;
    if (!load(Group, From))
      return;
    RawGroup &Result = Groups[Group.index];
    Hidden[Group.index] = Group.hidden != 0;
    Result.Index = Group.index;
    if (Group.primitive < RELOCK_PRIMITIVES)
      Result.Primitive = relock_primitive(Group.primitive);
    Result.Address = Group.address;
    Result.Initialised = Group.initialised != 0;
    Result.ObjectsCreated = Group.objects;
    Result.Frames.assign(Group.frames,
                         Group.frames + std::min<uint32_t>(Group.frame_count, RELOCK_FRAMES));
    Result.Retired = counts(Group.retired, Group.retired_times, Group.retired_rare);
    Result.Events = events(Group.events);
    if (Group.read_events.samples)
      readersOf(Result).Events = events(Group.read_events);
  }

  void readObject(RawProcess &Process, StringRef From) {
    relock_object Object;
    if (!load(Object, From) || !Object.live)
      return;
    RawObject Result;
    Result.Address = Object.address;
    Result.Held = Object.counts.depth != 0;
    Result.Counts = counts(Object.counts, Object.times, Object.rare);
    Groups[Object.group].Objects.push_back(Result);
    see(Process, Object.counts.hold_start);
  }

  void readHistogram(RawProcess &Process, StringRef From) {
    relock_histogram Histogram;
    if (!load(Histogram, From))
      return;
    RawHistogram Result;
    Result.Count = Histogram.count;
    Result.Total = Histogram.total;
    Result.Max = Histogram.max;
    Result.Values = Histogram.values;
    Result.Chance = Histogram.chance;
    Result.Waiters = Histogram.waiters;
    Result.WaitersMax = Histogram.waiters_max;
    Result.Buckets.assign(Histogram.buckets, Histogram.buckets + RELOCK_BUCKETS);
    // What is counted is where another thread had it.
    for (size_t I = 1; I < Result.CameFrom.size(); ++I)
      Result.CameFrom[I] = Histogram.handovers[I - 1];
    bool Wait = Histogram.measure == RELOCK_WAIT || Histogram.measure == RELOCK_READ_WAIT;
    bool Reading = Histogram.measure == RELOCK_READ_WAIT || Histogram.measure == RELOCK_READ_HOLD;
    // What is written over may be no number.
    double Variance = Histogram.chance.weights;
    Process.Shares.push_back({Histogram.thread, Histogram.group, Wait, Reading, Histogram.count,
                              Histogram.total, Histogram.values,
                              Variance > 0 && Variance < 1e18 ? uint64_t(Variance) : 0,
                              Result.expected()});
    RawGroup &Group = Groups[Histogram.group];
    switch (Histogram.measure) {
    case RELOCK_WAIT:
      return Group.Wait.add(Result);
    case RELOCK_HOLD:
      return Group.Hold.add(Result);
    case RELOCK_READ_WAIT:
      return readersOf(Group).Wait.add(Result);
    case RELOCK_READ_HOLD:
      return readersOf(Group).Hold.add(Result);
    }
  }

  void readTally(StringRef From) {
    relock_tally Tally;
    if (!load(Tally, From))
      return;
    RawTally Result;
    Result.Acquisitions = Tally.acquisitions;
    Result.Contended = Tally.contended;
    Result.TryFailures = Tally.try_failures;
    Result.Timeouts = Tally.timeouts;
    Result.Signals = Tally.signals;
    Result.Broadcasts = Tally.broadcasts;
    Result.Holds = Tally.holds;
    Groups[Tally.group].Tally.add(Result);
  }

  static void readNesting(RawProcess &Process, StringRef From) {
    relock_nesting Nesting;
    if (load(Nesting, From) && Nesting.count)
      Process.Nestings.push_back(
          {Nesting.inner, Nesting.outer, Nesting.reading, Nesting.count, Nesting.tried});
  }

  static void readEdge(RawProcess &Process, StringRef From) {
    relock_edge Edge;
    if (load(Edge, From) && Edge.count)
      Process.Edges.push_back({Edge.group, Edge.holder, Edge.waiter, Edge.count, Edge.wait});
  }

  static void readSite(RawProcess &Process, StringRef From) {
    relock_site Site;
    if (!load(Site, From) || !Site.samples)
      return;
    RawSite Result;
    Result.Group = Site.group;
    Result.Reading = Site.reading != 0;
    Result.Samples = Site.samples;
    Result.Acquisitions = Site.acquisitions;
    Result.Hold = Site.hold;
    Result.Contended = Site.contended;
    Result.Wait = Site.wait;
    Result.Frames.assign(Site.frames,
                         Site.frames + std::min<uint32_t>(Site.frame_count, RELOCK_FRAMES));
    Process.Sites.push_back(std::move(Result));
  }

  static void readTimeline(RawProcess &Process, StringRef From) {
    auto Timeline = std::make_unique<relock_timeline>();
    if (!load(*Timeline, From))
      return;
    for (const auto &Ring : Timeline->waits)
      for (const relock_wait &Wait : Ring)
        if (Wait.wait)
          Process.Waits.push_back({Wait.start, Wait.wait, Wait.thread, Wait.group});
  }

  static void readIntervals(RawProcess &Process, StringRef From) {
    relock_intervals Intervals;
    constexpr uint32_t Levels = 64 - RELOCK_INTERVAL_FIRST - 6; // so many fit the ticks
    if (!load(Intervals, From) || Intervals.level >= Levels)
      return;
    RawIntervals Result{Intervals.group, Intervals.level, {}};
    std::copy(std::begin(Intervals.wait), std::end(Intervals.wait), Result.Wait.begin());
    Process.Intervals.push_back(Result);
  }

  StringRef Bytes;
  std::map<uint32_t, RawGroup> Groups;
  std::map<uint32_t, bool> Hidden;
};

} // namespace

Expected<RawProcess> readRecords(StringRef File) {
  // Of a file that is mostly a hole only the used part is read.
  auto Buffer = MemoryBuffer::getFile(File, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return createStringError(Buffer.getError(), "cannot be read");
  RecordReader Records((*Buffer)->getBuffer());
  RawProcess Process;
  Process.File = File.str();
  if (!Records.readHeader(Process))
    return createStringError(inconvertibleErrorCode(), "was never begun");
  Process.IntervalsBegin = Process.Header.start_ticks;
  Records.readRecords(Process);
  return Process;
}

} // namespace relock
