// SPDX-License-Identifier: MIT
#include "profile/RuntimeWindow.h"

#include "profile/AddRuntime.h"
#include "profile/Buckets.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace relock {

namespace {

// The statistics of one moment are read while threads count.
uint64_t less(uint64_t After, uint64_t Before) { return After - std::min(After, Before); }

// By keys of their own, such as the names of classes.
template <typename T, typename KeyOf> auto byKey(const std::vector<T> &All, KeyOf Key) {
  std::map<decltype(Key(All[0])), const T *> Known;
  for (const T &Each : All)
    Known[Key(Each)] = &Each;
  return Known;
}

// The longest one of before says of the window only in which bucket its longest one is.
uint64_t longest(const Times &Window, uint64_t After, uint64_t Before, const Buckets &Clock) {
  if (After > Before)
    return After;
  if (Window.Histogram.empty())
    return 0;
  return std::min(After, Clock.middle(Clock.named(Window.Histogram.back().first)));
}

void subtract(Times &After, const Times &Before, const Buckets &Clock) {
  // Small buckets share a name where a tick is shorter than a nanosecond.
  std::map<uint64_t, uint64_t> Left;
  for (auto [Floor, Count] : After.Histogram)
    Left[Floor] += Count;
  for (auto [Floor, Count] : Before.Histogram)
    Left[Floor] = less(Left[Floor], Count);
  After.Histogram.assign(Left.begin(), Left.end());
  llvm::erase_if(After.Histogram, [](const auto &Bucket) { return !Bucket.second; });
  After.Count = less(After.Count, Before.Count);
  After.Total = less(After.Total, Before.Total);
  After.Timed = less(After.Timed, Before.Timed);
  // What chance had a part in is not told of the window; the records tell it, where they have it.
  After.Error = After.Timed == After.Count ? std::optional(0.0) : std::nullopt;
  After.Mean = After.Count ? After.Total / After.Count : 0;
  After.Max = longest(After, After.Max, Before.Max, Clock);
  After.P50 = Clock.percentile(After, 50);
  After.P90 = Clock.percentile(After, 90);
  After.P99 = Clock.percentile(After, 99);
}

void subtract(LockCounts &After, const LockCounts &Before) {
  for (uint64_t LockCounts::*Field :
       {&LockCounts::Acquisitions, &LockCounts::Contended, &LockCounts::Handovers,
        &LockCounts::TrylockFailures, &LockCounts::Timeouts, &LockCounts::CondWaits,
        &LockCounts::Reentries})
    After.*Field = less(After.*Field, Before.*Field);
}

void subtract(RuntimeCounts &After, const RuntimeCounts &Before) {
  for (uint64_t RuntimeCounts::*Field :
       {&RuntimeCounts::Held, &RuntimeCounts::Executed, &RuntimeCounts::Delegated,
        &RuntimeCounts::Batches, &RuntimeCounts::Parked, &RuntimeCounts::Switches})
    After.*Field = less(After.*Field, Before.*Field);
}

// The most waiters are those of the run.
void subtractWaiters(ProfiledClass &After, const ProfiledClass &Before, uint64_t Waits) {
  double Sum = After.Waiters.Mean * double(Waits) - Before.Waiters.Mean * double(Before.Wait.Count);
  After.Waiters.Mean = After.Wait.Count ? std::max(Sum, 0.0) / double(After.Wait.Count) : 0;
  if (!After.Wait.Count)
    After.Waiters.Max = 0;
}

void subtractSites(std::vector<CallSite> &After, const std::vector<CallSite> &Before) {
  auto Known = byKey(Before, [](const CallSite &Site) { return Site.Stack; });
  for (CallSite &Site : After)
    if (const CallSite *Then = Known[Site.Stack])
      for (uint64_t CallSite::*Field : {&CallSite::Samples, &CallSite::Acquisitions,
                                        &CallSite::Contended, &CallSite::Wait, &CallSite::Hold})
        Site.*Field = less(Site.*Field, Then->*Field);
  llvm::erase_if(After, [](const CallSite &Site) { return !Site.Acquisitions; });
}

void subtract(ProfiledClass &After, const ProfiledClass &Before, const Buckets &Clock) {
  const uint64_t Waits = After.Wait.Count;
  subtract(After.Counts, Before.Counts);
  subtract(After.Wait, Before.Wait, Clock);
  subtract(After.Hold, Before.Hold, Clock);
  subtractWaiters(After, Before, Waits);
  subtractSites(After.Sites, Before.Sites);
  if (After.CameFrom && Before.CameFrom)
    for (auto [Now, Then] : zip_equal(*After.CameFrom, *Before.CameFrom))
      Now = less(Now, Then);
  if (After.Runtime && Before.Runtime)
    subtract(*After.Runtime, *Before.Runtime);
}

bool inWindow(const ProfiledClass &Class) {
  const LockCounts &C = Class.Counts;
  return C.Acquisitions || C.TrylockFailures || C.Timeouts || C.CondWaits || Class.Wait.Count ||
         Class.Hold.Count;
}

void subtractClasses(std::vector<ProfiledClass> &After, const std::vector<ProfiledClass> &Before,
                     const Buckets &Clock) {
  auto Known = byKey(Before, [](const ProfiledClass &Class) { return Class.Key; });
  for (ProfiledClass &Class : After)
    if (const ProfiledClass *Then = Known[Class.Key])
      subtract(Class, *Then, Clock);
  llvm::erase_if(After, [](const ProfiledClass &Class) { return !inWindow(Class); });
}

// Of two rates and what each is a rate of.
double rateBetween(double After, uint64_t OfAfter, double Before, uint64_t OfBefore) {
  double Events = After * double(OfAfter) - Before * double(OfBefore);
  return OfAfter > OfBefore ? std::clamp(Events / double(OfAfter - OfBefore), 0.0, 1.0) : 0;
}

// The use rate is one of slots that were looked at, of which there are so many.
double slotsSeen(const ServerCounts &S) {
  return S.UseRate > 0 ? double(S.Sections) / S.UseRate : 0;
}

void subtract(ServerCounts &After, const ServerCounts &Before) {
  const double Seen = slotsSeen(After) - slotsSeen(Before);
  After.FalseSerialization = rateBetween(After.FalseSerialization, After.ActivePasses,
                                         Before.FalseSerialization, Before.ActivePasses);
  After.SlowRate = rateBetween(After.SlowRate, After.Sections, Before.SlowRate, Before.Sections);
  for (uint64_t ServerCounts::*Field :
       {&ServerCounts::Sections, &ServerCounts::Passes, &ServerCounts::ActivePasses,
        &ServerCounts::ManagerWakes, &ServerCounts::Activations, &ServerCounts::Sleeps})
    After.*Field = less(After.*Field, Before.*Field);
  After.UseRate = Seen > 0 ? std::min(double(After.Sections) / Seen, 1.0) : 0;
  if (After.CacheMisses && Before.CacheMisses)
    After.CacheMisses = less(*After.CacheMisses, *Before.CacheMisses);
}

void subtractServers(std::vector<ServerCounts> &After, const std::vector<ServerCounts> &Before) {
  auto Known = byKey(Before, [](const ServerCounts &S) { return S.Number; });
  for (ServerCounts &Server : After)
    if (const ServerCounts *Then = Known[Server.Number])
      subtract(Server, *Then);
  llvm::erase_if(After, [](const ServerCounts &Server) { return !Server.Sections; });
}

} // namespace

Profile runtimeBetween(Profile Before, Profile After) {
  renameBuckets(Before, After.TicksPerSecond);
  const Buckets Clock(After.TicksPerSecond);
  subtractClasses(After.Classes, Before.Classes, Clock);
  subtractClasses(After.Waits, Before.Waits, Clock);
  subtractServers(After.Servers, Before.Servers);
  After.SectionTime = less(After.SectionTime, Before.SectionTime);
  After.Overhead = less(After.Overhead, Before.Overhead);
  After.Holds = less(After.Holds, Before.Holds);
  After.HoldsTimed = less(After.HoldsTimed, Before.HoldsTimed);
  After.ForeignReleases = less(After.ForeignReleases, Before.ForeignReleases);
  After.Drops.Times = less(After.Drops.Times, Before.Drops.Times);
  return After;
}

} // namespace relock
