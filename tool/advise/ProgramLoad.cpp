// SPDX-License-Identifier: MIT
//
// What the profile does not say is filled in so:
// - What a thread did outside of sections is computing as far as the processor time of the process
//   goes, and sleep beyond: where threads outnumber the processors and these had nothing to spare,
//   only what is known to be sleep, since a thread may have waited for its turn.
// - Sections compute all the time that they last, less the lines that moved and what was taken
//   within them.
// - Sections share no more lines than their text names, and than what the longest holds took longer
//   than most can have been: as many of them as there were handovers.
// - Threads of one name, but for the number behind it, are alike.
#include "advise/ProgramLoad.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace llvm;

namespace relock {
namespace {

constexpr size_t MostClasses = 60, MostKinds = 60, MostObjects = 4096, MostParts = 60;
constexpr double LeastPart = 0.1;   // of a section's time that is computing, whatever moved
constexpr double ShortSleep = 50e3; // ns, where the profile has no count of them
constexpr double DefaultLines = 4;  // at most, where the sources say nothing
// Handovers per acquisition from where on the longest holds can tell something, and up to where.
constexpr double FewHandovers = 0.005, ManyHandovers = 0.6;

class LoadMaker {
public:
  LoadMaker(const Profile &P, double MovedLine, FindFacts Find)
      : P(P), MovedLine(MovedLine), Find(Find) {}

  std::optional<ProgramLoad> run() {
    makeClasses();
    makeThreads();
    if (Result.Classes.empty() || Result.Threads.empty())
      return std::nullopt;
    divideTime();
    return std::move(Result);
  }

private:
  const Profile &P;
  const double MovedLine;
  FindFacts Find;
  ProgramLoad Result;
  std::map<std::string, size_t> ByKey;
  std::vector<double> OuterPart; // of each class's acquisitions: outside of other sections
  struct Kind {
    double Lived = 0, Longest = 0, Outside = 0, Waiting = 0;
  };
  std::vector<Kind> Kinds; // as Result.Threads

  static double holds(const ProfiledClass &Class) {
    return double(std::max<uint64_t>({Class.Hold.Count, Class.Counts.Acquisitions, 1}));
  }

  static bool isLock(const ProfiledClass &Class) {
    return Class.Primitive == "mutex" && !Class.Runtime && Class.Hold.Count &&
           Class.Counts.Acquisitions;
  }

  // --- Classes ----------------------------------------------------------------------------------

  void makeClasses() {
    std::vector<const ProfiledClass *> Locks;
    for (const ProfiledClass &Class : P.Classes)
      if (isLock(Class))
        Locks.push_back(&Class);
    stable_sort(Locks, [](const auto *A, const auto *B) {
      return A->Wait.Total + A->Hold.Total > B->Wait.Total + B->Hold.Total;
    });
    if (Locks.size() > MostClasses)
      Locks.resize(MostClasses);
    Locks = outerFirst(Locks);
    for (const ProfiledClass *Class : Locks)
      ByKey[Class->Key] = ByKey.size();
    for (const ProfiledClass *Class : Locks)
      addClass(*Class);
    for (const ProfiledClass *Class : Locks)
      addNesting(*Class);
    for (size_t I = 0; I != Locks.size(); ++I)
      setSection(*Locks[I], Result.Classes[I], Locks);
  }

  // A class comes before those that are taken within it; of two that are taken within each other,
  // the costlier one.
  static std::vector<const ProfiledClass *>
  outerFirst(const std::vector<const ProfiledClass *> &Locks) {
    std::vector<const ProfiledClass *> Sorted;
    std::map<std::string, const ProfiledClass *> Left;
    for (const ProfiledClass *Class : Locks)
      Left[Class->Key] = Class;
    while (!Left.empty()) {
      auto IsFree = [&](const ProfiledClass *Class) {
        return Left.count(Class->Key) && none_of(Class->Inside, [&](const auto &Outer) {
                 return Outer.first != Class->Key && Left.count(Outer.first);
               });
      };
      auto Next = find_if(Locks, IsFree);
      if (Next == Locks.end())
        Next = find_if(Locks, [&](const auto *Class) { return Left.count(Class->Key) != 0; });
      Left.erase((*Next)->Key);
      Sorted.push_back(*Next);
    }
    return Sorted;
  }

  void addClass(const ProfiledClass &Class) {
    LoadClass Made;
    Made.Facts = Find(Class);
    Made.Lines = linesOf(Class, Made.Facts.SharedLines.value_or(DefaultLines));
    size_t Objects = Class.Locks.size() + Class.LocksOmitted;
    if (!Objects) // none lived at the end: all that there ever were
      Objects = Class.Objects;
    Made.Objects = unsigned(std::clamp<size_t>(Objects, 1, MostObjects));
    for (const LockObject &Lock : Class.Locks)
      if (Made.ObjectParts.size() < std::min<size_t>(MostParts, Made.Objects))
        Made.ObjectParts.push_back(
            std::min(1.0, double(Lock.Counts.Acquisitions) / double(Class.Counts.Acquisitions)));
    double Sum = 0;
    for (double Part : Made.ObjectParts)
      Sum += Part;
    for (double &Part : Made.ObjectParts) // rounding, and objects of which only the end was seen
      Part /= std::max(Sum, 1.0);
    Result.Classes.push_back(std::move(Made));
    OuterPart.push_back(1);
  }

  static double handovers(const ProfiledClass &Class) {
    return double(Class.Counts.Handovers) / holds(Class);
  }

  // The mean of the longest ones of that part.
  static double longest(const Times &Hold, double Part) {
    double Listed = 0, All = 0, Sum = 0;
    for (auto [Floor, N] : Hold.Histogram)
      Listed += double(N);
    double Left = Part * Listed;
    for (auto [Floor, N] : reverse(Hold.Histogram)) {
      double Taken = std::min(Left, double(N));
      Sum += Taken * double(Floor);
      All += Taken;
      Left -= Taken;
    }
    return All > 0 ? Sum / All : 0;
  }

  LineRange linesOf(const ProfiledClass &Class, double Named) const {
    double Moves = handovers(Class), Most = Named;
    if (Moves >= ManyHandovers)
      Most = double(Class.Hold.P50) / MovedLine;
    else if (Moves >= FewHandovers)
      Most = (longest(Class.Hold, Moves) - double(Class.Hold.P50)) / MovedLine;
    LineRange Lines;
    Lines.Likely = std::clamp(Most, 0.0, Named);
    Lines.Least = std::min(1.0, Lines.Likely);
    Lines.Most = std::clamp(2 * Lines.Likely, Lines.Likely, std::max(Named, Lines.Likely));
    return Lines;
  }

  void addNesting(const ProfiledClass &Class) {
    size_t Inner = ByKey.at(Class.Key);
    double Nested = 0;
    for (const auto &[Key, Count] : Class.Inside) {
      auto Outer = ByKey.find(Key);
      if (Outer == ByKey.end() || Outer->second >= Inner)
        continue;
      const ProfiledClass *OuterClass = classOf(Key);
      Result.Classes[Outer->second].Inner.push_back({Inner, double(Count) / holds(*OuterClass)});
      Nested += double(Count);
    }
    OuterPart[Inner] = std::max(0.0, 1 - Nested / holds(Class));
  }

  const ProfiledClass *classOf(StringRef Key) const {
    return &*find_if(P.Classes, [&](const ProfiledClass &Class) { return Class.Key == Key; });
  }

  // The computing of a section: of the holds, without what it waited for lines and locks.
  void setSection(const ProfiledClass &Class, LoadClass &Made,
                  const std::vector<const ProfiledClass *> &Locks) const {
    double Mean = double(Class.Hold.Total) / double(Class.Hold.Count);
    double Moved = handovers(Class) * Made.Lines.Likely * MovedLine;
    double Within = 0;
    for (auto [Inner, Times] : Made.Inner) {
      const ProfiledClass &Other = *Locks[Inner];
      Within += Times * double(Other.Hold.Total + Other.Wait.Total) / holds(Other);
    }
    double Computes = std::max(Mean - Moved - Within, LeastPart * Mean);
    double Sum = 0, Count = 0;
    for (auto [Floor, N] : Class.Hold.Histogram) {
      Sum += double(Floor) * double(N);
      Count += double(N);
    }
    if (Count == 0 || Sum == 0) {
      Made.Section.push_back({Computes, 1});
      return;
    }
    for (auto [Floor, N] : Class.Hold.Histogram)
      Made.Section.push_back({double(Floor) * Computes * Count / Sum, double(N)});
    shorten(Made.Section);
  }

  // Neighbours become one until there are few enough.
  static void shorten(std::vector<std::pair<double, double>> &Parts) {
    while (Parts.size() > MostParts) {
      std::vector<std::pair<double, double>> Next;
      for (size_t I = 0; I < Parts.size(); I += 2) {
        if (I + 1 == Parts.size()) {
          Next.push_back(Parts[I]);
          break;
        }
        auto [A, N] = Parts[I];
        auto [B, M] = Parts[I + 1];
        Next.push_back({N + M > 0 ? (A * N + B * M) / (N + M) : A, N + M});
      }
      Parts = std::move(Next);
    }
  }

  // --- Threads ----------------------------------------------------------------------------------

  static std::string kindOf(const ProfiledThread &Thread) {
    StringRef Name = Thread.Name;
    return Name.rtrim("0123456789").rtrim("-_:#/ ").str();
  }

  void makeThreads() {
    std::map<std::string, size_t> ByName;
    for (const ProfiledThread &Thread : P.ByThread) {
      double Visits = 0;
      std::map<size_t, double> Takes;
      for (const ThreadShare &Share : Thread.Classes)
        if (auto Known = ByKey.find(Share.Key); Known != ByKey.end()) {
          double Outer = double(Share.Acquisitions) * OuterPart[Known->second];
          Takes[Known->second] += Outer;
          Visits += Outer;
        }
      if (Visits < 1)
        continue;
      auto [Known, IsNew] = ByName.try_emplace(kindOf(Thread), Result.Threads.size());
      if (IsNew && Result.Threads.size() == MostKinds)
        continue;
      if (IsNew) {
        Result.Threads.push_back({Known->first, 0, 0, 0, 0, {}, 0});
        Kinds.emplace_back();
      }
      addThread(Known->second, Thread, Visits, Takes);
    }
    for (size_t I = 0; I != Kinds.size(); ++I) {
      LoadThreads &Made = Result.Threads[I];
      // Threads one after another are as many as lived at a time.
      double AtATime = Kinds[I].Longest > 0 ? Kinds[I].Lived / Kinds[I].Longest : 1;
      Made.Count = std::clamp(unsigned(std::lround(AtATime)), 1u, std::max(Made.Count, 1u));
      for (auto &[Class, Part] : Made.Takes)
        Part /= Made.Visits;
    }
  }

  void addThread(size_t Number, const ProfiledThread &Thread, double Visits,
                 const std::map<size_t, double> &Takes) {
    LoadThreads &Made = Result.Threads[Number];
    Kind &Of = Kinds[Number];
    Made.Count += 1;
    Made.Visits += Visits;
    for (auto [Class, Count] : Takes) {
      auto Known = find_if(Made.Takes, [&, C = Class](auto &Take) { return Take.first == C; });
      if (Known == Made.Takes.end())
        Made.Takes.push_back({Class, Count});
      else
        Known->second += Count;
    }
    Of.Lived += double(Thread.Lived);
    Of.Longest = std::max(Of.Longest, double(Thread.Lived));
    Of.Outside += double(Thread.Lived - std::min(Thread.Lived, Thread.Section));
    Of.Waiting += double(Thread.Wait);
  }

  // --- Time -------------------------------------------------------------------------------------

  void divideTime() {
    double Lived = 0, Outside = 0, Waiting = 0;
    for (size_t I = 0; I != Kinds.size(); ++I) {
      Lived += Kinds[I].Lived;
      Outside += Kinds[I].Outside;
      Waiting += Kinds[I].Waiting;
    }
    double InSections = std::max(Lived - Outside - Waiting, 0.0);
    double Cost = double(P.Overhead + P.Sampling); // of profiling, which others will not have
    double Computed = P.ProcessorTime
                          ? std::clamp(double(P.ProcessorTime) - InSections - Cost, 0.0, Outside)
                          : std::max(Outside - double(P.idleTime()) - Cost, 0.0);
    double Asleep = std::max(Outside - Computed - Cost, 0.0);
    Result.Processors =
        unsigned(std::max(P.UsableProcessors ? P.UsableProcessors : P.Processors, 1));
    if (P.ThreadsAtOnce > Result.Processors && !P.hadProcessorsToSpare())
      Asleep = std::min(Asleep, double(P.idleTime()));
    uint64_t Sleeps = 0;
    for (const ProfiledClass &Wait : P.Waits)
      Sleeps += Wait.Wait.Count;
    if (!Sleeps)
      Sleeps = uint64_t(Asleep / ShortSleep);
    for (size_t I = 0; I != Kinds.size(); ++I) {
      LoadThreads &Made = Result.Threads[I];
      double Part = Outside > 0 ? Kinds[I].Outside / Outside : 0;
      Made.Work = Computed * Part / Made.Visits;
      Made.Sleeps = std::min(1.0, double(Sleeps) * Part / Made.Visits);
      Made.Sleep = Made.Sleeps > 0 ? Asleep * Part / Made.Visits / Made.Sleeps : 0;
    }
    for (size_t I = 0; I != Kinds.size(); ++I)
      if (Kinds[I].Lived > 0)
        Result.Rate += Result.Threads[I].Visits * Result.Threads[I].Count * 1e9 / Kinds[I].Lived;
    if (double(P.ProcessorTime) > 2 * Cost)
      Result.Rate /= 1 - Cost / double(P.ProcessorTime);
    Result.Waiting = Lived > 0 ? Waiting / Lived : 0;
    Result.Idle = Lived > 0 ? Asleep / Lived : 0;
  }
};

} // namespace

size_t ProgramLoad::busiest() const {
  auto Most = std::max_element(Threads.begin(), Threads.end(), [](const auto &A, const auto &B) {
    return std::pair(A.Count > 1, A.Visits) < std::pair(B.Count > 1, B.Visits);
  });
  return size_t(Most - Threads.begin());
}

unsigned ProgramLoad::threads() const {
  unsigned Sum = 0;
  for (const LoadThreads &T : Threads)
    Sum += T.Count;
  return Sum;
}

double ProgramLoad::meanWork() const {
  double Work = 0, Visits = 0;
  for (const LoadThreads &T : Threads) {
    Work += T.Work * T.Visits;
    Visits += T.Visits;
  }
  return Visits > 0 ? Work / Visits : 0;
}

void ProgramLoad::scaleWork(double Factor) {
  for (LoadThreads &T : Threads)
    T.Work *= Factor;
}

std::optional<ProgramLoad> makeLoad(const Profile &P, double MovedLine, FindFacts Find) {
  return LoadMaker(P, MovedLine, Find).run();
}

std::string loadClassName(size_t Number) { return "c" + std::to_string(Number + 1); }

void writeLoad(raw_ostream &OS, const ProgramLoad &Load, double LineRange::*Lines) {
  for (size_t I = 0; I != Load.Classes.size(); ++I) {
    const LoadClass &Class = Load.Classes[I];
    OS << "class " << loadClassName(I) << " objects " << Class.Objects << " lines "
       << std::clamp(unsigned(std::lround(Class.Lines.*Lines)), 0u, 64u) << " delegated "
       << format("%.4f", Class.Facts.Delegated) << "  # " << Class.Facts.Name << "\nsection "
       << loadClassName(I);
    for (auto [Ns, Weight] : Class.Section)
      OS << format(" %.1f:%.0f", Ns, Weight);
    OS << "\n";
    if (!Class.ObjectParts.empty()) {
      OS << "object " << loadClassName(I);
      for (double Part : Class.ObjectParts)
        OS << format(" %.5f", Part);
      OS << "\n";
    }
  }
  for (size_t I = 0; I != Load.Classes.size(); ++I)
    for (auto [Inner, Times] : Load.Classes[I].Inner)
      OS << "inside " << loadClassName(I) << " " << loadClassName(Inner)
         << format(" %.6f\n", Times);
  for (size_t I = 0; I != Load.Threads.size(); ++I) {
    const LoadThreads &Threads = Load.Threads[I];
    OS << "threads t" << I + 1 << " count " << Threads.Count
       << format(" work %.1f sleep %.1f sleeps %.6f", Threads.Work, Threads.Sleep, Threads.Sleeps)
       << "  # " << Threads.Name << "\n";
    for (auto [Class, Part] : Threads.Takes)
      OS << "takes t" << I + 1 << " " << loadClassName(Class) << format(" %.6f\n", Part);
  }
}

} // namespace relock
