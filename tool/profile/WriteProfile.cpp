// SPDX-License-Identifier: MIT
#include "profile/Profile.h"

#include "profile/Headline.h"
#include "profile/ProfileMembers.h"
#include "profile/ThreadNames.h"

using namespace llvm;

namespace relock {

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
    if (!Class.DeclaredAs.empty())
      J.attribute("declared_as", Class.DeclaredAs);
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
    if (!Class.SourceClass.empty())
      J.attribute("source_class", Class.SourceClass);
    if (!Class.NoSourceClass.empty())
      J.attribute("no_source_class", Class.NoSourceClass);
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

void writeThread(json::OStream &J, const ProfiledThread &T, const ThreadNames &Names) {
  J.object([&] {
    J.attribute("id", T.Id);
    if (T.Run)
      J.attribute("run", T.Run);
    J.attribute("name", T.Name);
    J.attribute("label", Names.of(T.Id));
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

void writeOverTime(json::OStream &J, const Profile &P) {
  J.attributeObject("waiting_over_time", [&] {
    J.attribute("interval_ns", P.Interval);
    J.attributeArray("classes", [&] {
      for (const WaitingOverTime &Class : P.OverTime)
        J.object([&] {
          if (!Class.Key.empty())
            J.attribute("key", Class.Key);
          J.attribute("wait_ns", json::Array(Class.Wait));
        });
    });
  });
}

void writeThreads(json::OStream &J, const Profile &P) {
  const ThreadNames Names(P);
  J.attributeArray("by_thread", [&] {
    for (const ProfiledThread &T : P.ByThread)
      writeThread(J, T, Names);
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

void writeProfile(const Profile &P, raw_ostream &OS, const HeadlineSources *Sources) {
  json::OStream J(OS, 1);
  J.object([&] {
    J.attribute("format", ProfileFormat);
    J.attribute("version", ProfileVersion);
    if (!P.Source.empty())
      J.attribute("source", P.Source);
    if (P.Runs > 1)
      J.attribute("runs", P.Runs);
    writeHeadline(J, headlineOf(P, Sources));
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
    if (P.Interval)
      writeOverTime(J, P);
    if (!P.Servers.empty())
      J.attributeArray("servers", [&] {
        for (const ServerCounts &Server : P.Servers)
          writeServer(J, Server);
      });
  });
  OS << '\n';
}

} // namespace relock
