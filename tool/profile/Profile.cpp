// SPDX-License-Identifier: MIT
#include "profile/Profile.h"

#include "profile/Buckets.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace relock {

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
  for (std::string *Text :
       {&Class.Primitive, &Class.Name, &Class.DeclaredAs, &Class.Kind, &Class.Module, &Class.File})
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

} // namespace relock
