// SPDX-License-Identifier: MIT
#include "advise/Predict.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace relock {

// The ones with a combiner or a server; and the default, which becomes one of them.
static const char *const Tried[] = {"adaptive", "adaptive_rcl", "rcl", "hsynch", "ccsynch"};
ArrayRef<const char *> predictedAlgorithms() { return Tried; }

namespace {

// A class that less than this of the threads' time is waited for is not worth a lock.
constexpr double LeastWaiting = 0.003;
constexpr size_t MostTried = 8; // classes
// How much longer or shorter threads wait than they do in the simulation, nine times of ten, today
// and with another lock, one independent of the other: README.md says where from.
constexpr double Doubt = 1.9, MostDoubt = 4;
// The default is taken for the best one if it has this part of what that gains: it chooses its way
// as it runs.
constexpr double AlmostBest = 0.95;
// More delegated sections than these would show nothing.
constexpr double AllDelegated = 0.98;

double visits(const SimulatedProgram &Run) {
  double Sum = 0;
  for (const auto &Group : Run.Groups)
    Sum += Group.Visits;
  return Sum;
}

double lived(const SimulatedProgram &Run) {
  double Threads = 0;
  for (const auto &Group : Run.Groups)
    Threads += Group.Count;
  return std::max(Threads * Run.Seconds * 1e9, 1.0);
}

double waiting(const SimulatedProgram &Run) {
  double Sum = 0;
  for (const auto &Class : Run.Classes)
    Sum += Class.WaitingNs;
  return std::min(Sum, lived(Run));
}

// The speed of a program whose kinds of threads have changed theirs differently: by the time that
// they have.
double speedup(const SimulatedProgram &Before, const SimulatedProgram &After) {
  double Weighted = 0, Weight = 0;
  for (auto [B, A] : zip(Before.Groups, After.Groups)) {
    if (B.Visits <= 0)
      continue;
    Weighted += B.Count * (A.Visits / After.Seconds) / (B.Visits / Before.Seconds);
    Weight += B.Count;
  }
  return Weight > 0 ? Weighted / Weight : 1;
}

double odds(double Part) {
  return std::clamp(Part, 0.005, 0.99) / (1 - std::clamp(Part, 0.005, 0.99));
}

} // namespace

// Four chances of five that the program will not be more than 3 % slower: the logarithm of the gain
// is spread evenly to both sides, and Least is what one of twenty lies below.
bool isWorthIt(const Gain &G) {
  constexpr double LeastGain = 1.05, Slower = 0.97, OneOfFive = 0.84, OneOfTwenty = 1.64;
  return G.Likely >= LeastGain &&
         std::log(G.Likely / Slower) * OneOfTwenty >= std::log(G.Likely / G.Least) * OneOfFive;
}

std::string gainText(double Ratio) { return formatv("{0:f2}x", Ratio).str(); }

std::string gainText(const Gain &G) {
  return formatv("{0:f2}x ({1:f2} to {2:f2})", G.Likely, G.Least, G.Most).str();
}

Predictor::Predictor(ProgramLoad Profiled, std::string Machine, unsigned Processors,
                     unsigned Threads, Simulate Run)
    : Load(std::move(Profiled)), Run(std::move(Run)) {
  Result.Machine = std::move(Machine);
  Result.Processors = Processors;
  LoadThreads &Busiest = Load.Threads[Load.busiest()];
  if (Threads && Threads != Busiest.Count) {
    Result.Scaled = Busiest.Name;
    Result.ScaledTo = Threads;
  }
}

std::string Predictor::text(double LineRange::*Lines) const {
  std::string Text;
  raw_string_ostream OS(Text);
  writeLoad(OS, Load, Lines);
  return Text;
}

// What the gain is if threads waited longer or shorter than they do in the simulation, for today's
// locks and for those after it.
Gain Predictor::gain(const SimulatedProgram &Before, const SimulatedProgram &After) const {
  const double Speedup = std::max(speedup(Before, After), 1e-6);
  const double WaitBefore = waiting(Before) / lived(Before), RestBefore = 1 - WaitBefore;
  // Of the time that a section and its way there take now, as a part of what it took before.
  const double Whole = 1 / Speedup;
  const double WaitAfter = waiting(After) / lived(After) * Whole, RestAfter = Whole - WaitAfter;
  auto Log = [&](double BeforeFactor, double AfterFactor) {
    return std::log((RestBefore + WaitBefore * BeforeFactor) /
                    (RestAfter + WaitAfter * AfterFactor) / Speedup);
  };
  auto Part = [&](double Before, double After) {
    return std::hypot(Log(Before, 1), Log(1, After));
  };
  return {Speedup, Speedup / std::exp(Part(1 / DoubtToday, Doubt)),
          Speedup * std::exp(Part(DoubtToday, 1 / Doubt))};
}

// The run that was profiled, on as many processors. What the threads compute between sections is
// fitted so that they have as many sections in a second: the profile's processor time has what the
// system did for the lock, the more of it the more threads slept and were woken. The fit is best
// where both are as the profile has them, the pace and the waiting: on a slower machine no fit has
// both.
Error Predictor::fitToProfile() {
  constexpr unsigned Tries = 5;
  constexpr double NearEnough = 0.03, LeastWork = 0.05, MostWork = 3;
  SimulatedMachine Where;
  Where.Processors = Load.Processors;
  const double AtATime = std::min(Load.threads(), Load.Processors);
  const double First = Load.meanWork();
  double Work = First, BestWork = First, BestError = INFINITY;
  for (unsigned Try = 0; Try != Tries; ++Try) {
    auto Same = Run(text(), {""}, Where);
    if (!Same)
      return Same.takeError();
    const double Waits = waiting(Same->front()) / lived(Same->front());
    const double Pace = visits(Same->front()) / Same->front().Seconds;
    const double OffPace = Pace > 0 && Load.Rate > 0 ? std::log(Pace / Load.Rate) : 0;
    const double OffWaits = std::log(odds(Waits) / odds(Load.Waiting));
    // Waiting varies more from run to run.
    if (const double Off = std::hypot(OffPace, OffWaits / 2); Off < BestError) {
      BestError = Off;
      BestWork = Work;
      Result.SimulatedWaiting = Waits;
      DoubtToday =
          std::clamp(std::exp(std::max(std::abs(OffWaits), std::abs(OffPace))), Doubt, MostDoubt);
    }
    if (std::abs(OffPace) < NearEnough || First <= 0)
      break;
    const double Wanted = Work + AtATime * 1e9 * (1 / Load.Rate - 1 / Pace);
    const double Next = std::clamp(Wanted, LeastWork * First, MostWork * First);
    Load.scaleWork(Next / Work);
    Work = Next;
  }
  if (First > 0)
    Load.scaleWork(BestWork / Work);
  Result.ProfiledWaiting = Load.Waiting;
  Result.ProfiledSleep = Load.Idle;
  return Error::success();
}

Error Predictor::predictClasses() {
  if (Error Failed = fitToProfile())
    return Failed;
  if (Result.ScaledTo)
    Load.Threads[Load.busiest()].Count = Result.ScaledTo;
  Result.Threads = Load.threads();
  auto Base = Run(text(), {""}, {});
  if (!Base)
    return Base.takeError();
  Today = Base->front();
  Result.WaitingThere = waiting(Today) / lived(Today);
  std::map<std::string, double> Sections;
  for (size_t I = 0; I != Load.Classes.size(); ++I) {
    const std::string &Name = Load.Classes[I].Facts.Name;
    if (Name.empty())
      continue;
    ClassPrediction &Class = Result.Classes[Name];
    Class.Waiting += Today.Classes[I].WaitingNs / lived(Today);
    Class.Handovers += Today.Classes[I].Handovers;
    Sections[Name] += Today.Classes[I].Sections;
  }
  std::vector<std::pair<double, std::string>> Waited;
  for (auto &[Name, Class] : Result.Classes) {
    Class.Handovers /= std::max(Sections[Name], 1.0);
    if (Class.Waiting >= LeastWaiting)
      Waited.push_back({Class.Waiting, Name});
  }
  stable_sort(Waited, [](const auto &A, const auto &B) { return A.first > B.first; });
  if (Waited.size() > MostTried)
    Waited.resize(MostTried);
  std::vector<std::string> Names;
  for (auto &[Part, Name] : Waited)
    Names.push_back(std::move(Name));
  if (Error Failed = tryLocks(Names))
    return Failed;
  return tryWithoutHolds(Names);
}

// The best one of a class; the default is taken if it has nearly as much. A server that shares its
// processor with threads that wait for it is left waiting itself, for turns, which no figure of a
// simulation is sure of.
std::string Predictor::bestOf(const std::map<std::string, Gain> &Gains) const {
  const Gain &Default = Gains.at(Tried[0]);
  const bool ServerFits = Result.Threads < Result.Processors;
  std::string Best = Tried[0];
  for (const auto &[Algorithm, G] : Gains)
    if (G.Likely > Gains.at(Best).Likely && (ServerFits || Algorithm != "rcl"))
      Best = Algorithm;
  if (!isWorthIt(Gains.at(Best)))
    return "";
  bool Near = isWorthIt(Default) && Default.Likely >= AlmostBest * Gains.at(Best).Likely;
  return Near ? Tried[0] : Best;
}

// As relock-simulator takes it. A class of the sources may be several of the profile.
std::string Predictor::choice(const std::map<std::string, std::string> &Algorithms) const {
  std::vector<std::string> Items;
  for (size_t I = 0; I != Load.Classes.size(); ++I)
    if (auto Known = Algorithms.find(Load.Classes[I].Facts.Name);
        Known != Algorithms.end() && !Known->first.empty())
      Items.push_back(loadClassName(I) + "=" + Known->second);
  return join(Items, ",");
}

// Of each class, all locks, one class at a time.
Expected<std::vector<std::map<std::string, Gain>>>
Predictor::gainsOf(ArrayRef<std::string> Classes) {
  std::vector<std::string> Choices;
  for (const std::string &Name : Classes)
    for (const char *Algorithm : Tried)
      Choices.push_back(choice({{Name, Algorithm}}));
  std::vector<std::map<std::string, Gain>> Gains(Classes.size());
  if (Classes.empty())
    return Gains;
  auto Runs = Run(text(), Choices, {});
  if (!Runs)
    return Runs.takeError();
  auto Next = Runs->begin();
  for (auto &OfClass : Gains)
    for (const char *Algorithm : Tried)
      OfClass[Algorithm] = gain(Today, *Next++);
  return Gains;
}

Error Predictor::tryLocks(ArrayRef<std::string> Classes) {
  auto Gains = gainsOf(Classes);
  if (!Gains)
    return Gains.takeError();
  for (auto [Name, OfClass] : zip(Classes, *Gains)) {
    ClassPrediction &Class = Result.Classes[Name];
    Class.Best = bestOf(OfClass);
    Class.ByAlgorithm = std::move(OfClass);
  }
  return Error::success();
}

// What holds stand in the way of. Today's lock does not care which sections could be delegated.
Error Predictor::tryWithoutHolds(ArrayRef<std::string> Classes) {
  std::vector<std::string> Held;
  copy_if(Classes, std::back_inserter(Held), [&](const std::string &Name) {
    return any_of(Load.Classes, [&](const LoadClass &Class) {
      return Class.Facts.Name == Name && Class.Facts.Delegated < AllDelegated;
    });
  });
  ProgramLoad AsItIs = Load;
  for (LoadClass &Class : Load.Classes)
    Class.Facts.Delegated = 1;
  auto Gains = gainsOf(Held);
  Load = std::move(AsItIs);
  if (!Gains)
    return Gains.takeError();
  for (auto [Name, OfClass] : zip(Held, *Gains)) {
    ClassPrediction &Class = Result.Classes[Name];
    Class.BestWithoutHolds = bestOf(OfClass);
    if (!Class.BestWithoutHolds.empty())
      Class.WithoutHolds = OfClass.at(Class.BestWithoutHolds);
  }
  return Error::success();
}

// The interval has what changes where the time between sections does not vary, and where sections
// share as few or as many lines as they may.
Error Predictor::predictWhole(const std::map<std::string, std::string> &Algorithms) {
  const std::string Choice = choice(Algorithms);
  if (Choice.empty())
    return Error::success();
  std::optional<Gain> Whole;
  for (auto [Lines, Even] : {std::pair(&LineRange::Likely, false),
                             {&LineRange::Likely, true},
                             {&LineRange::Least, false},
                             {&LineRange::Most, false}}) {
    SimulatedMachine Where;
    Where.Even = Even;
    auto Runs = Run(text(Lines), {"", Choice}, Where);
    if (!Runs)
      return Runs.takeError();
    const Gain Found = gain((*Runs)[0], (*Runs)[1]);
    if (!Whole)
      Whole = Found;
    Whole->Least = std::min(Whole->Least, Found.Least);
    Whole->Most = std::max(Whole->Most, Found.Most);
  }
  Result.Whole = Whole;
  return Error::success();
}

} // namespace relock
