// SPDX-License-Identifier: MIT
#include "profile/Profile.h"

#include "profile/Buckets.h"
#include "profile/ProfileMembers.h"
#include "support/Json.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace relock {

char ProfileError::ID;

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
         O.mapOptional("declared_as", C.DeclaredAs) && O.map("objects", C.Objects) &&
         O.map("held_at_end", C.HeldAtEnd) && fromCounts(V, C.Counts, Path) &&
         O.map("wait", C.Wait) && O.map("hold", C.Hold) && O.mapOptional("waiters", C.Waiters) &&
         mapInside(O, "inside", C.Inside) && mapInside(O, "tried_inside", C.TriedInside) &&
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

bool fromJSON(const json::Value &V, WaitingOverTime &W, json::Path Path) {
  json::ObjectMapper O(V, Path);
  return O && O.mapOptional("key", W.Key) && O.map("wait_ns", W.Wait);
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

bool fromOverTime(const json::Object &Root, Profile &P, json::Path Path) {
  const json::Value *V = Root.get("waiting_over_time");
  if (!V)
    return true;
  json::ObjectMapper O(*V, Path.field("waiting_over_time"));
  return O && O.map("interval_ns", P.Interval) && O.map("classes", P.OverTime);
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
         O.mapOptional("runs", P.Runs) && fromOverTime(Root, P, Path);
}

// Profiles from before `p90_ns` have it in their histograms.
void fillPercentiles(Profile &P) {
  Buckets Clock(P.TicksPerSecond);
  auto Fill = [&](Times &T) {
    if (!T.P90)
      T.P90 = Clock.percentile(T, 90);
  };
  for (std::vector<ProfiledClass> *Classes : {&P.Classes, &P.Waits})
    for (ProfiledClass &Class : *Classes) {
      Fill(Class.Wait);
      Fill(Class.Hold);
      if (Class.Readers) {
        Fill(Class.Readers->Wait);
        Fill(Class.Readers->Hold);
      }
    }
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
  Expected<json::Value> Value = parseJson(Text);
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
