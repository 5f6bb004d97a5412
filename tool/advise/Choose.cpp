// SPDX-License-Identifier: MIT
#include "advise/Choose.h"

#include "advise/Algorithms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {
namespace {

// A wait of so many sections is none for the threads that came before.
constexpr uint64_t ManySections = 100;

enum class Level { Unwaited, Below, FewWaits, Rescued, Between, Above };

bool hasPoorLocality(const ClassCost &Cost, const Thresholds &Limits) {
  if (std::optional<double> Measured = Cost.misses())
    return *Measured >= Limits.Misses;
  // The text of the sections names fewer lines than they touch in a list or a tree: few of them
  // do not speak against handovers, many speak for themselves.
  return Cost.handovers() >= Limits.Handovers ||
         Cost.estimatedMisses().value_or(0) >= Limits.Misses;
}

Level levelOf(const ClassCost &Cost, const Thresholds &Limits) {
  if (!Cost.Contended)
    return Level::Unwaited;
  bool Reaches = Cost.Share >= Limits.Lower, Waits = Cost.WaitShare >= Limits.Waits;
  if (Reaches && Waits)
    return Cost.Share >= Limits.Upper ? Level::Above : Level::Between;
  if (Cost.Share >= Limits.Rescued && hasPoorLocality(Cost, Limits))
    return Level::Rescued;
  return Reaches ? Level::FewWaits : Level::Below;
}

std::string moved(const ClassCost &Cost) {
  return decimal(Cost.handovers()) + " handovers per acquisition" +
         (Cost.SharedLines ? ", of " + decimal(*Cost.SharedLines) + " shared lines per section"
                           : "");
}

// The second metric, and whether it was measured.
std::string locality(const ClassCost &Cost) {
  if (std::optional<double> Misses = Cost.misses())
    return decimal(*Misses) + " cache misses per section (measured)";
  return moved(Cost) +
         " (an estimate of the shared lines that move: the profile has no cache misses)";
}

std::string taken(const ClassCost &Cost) {
  return "sections and the waiting for them take " + percentText(Cost.Share) +
         " of the threads' time";
}

// What is hot may be so only if its sections compute all the time that they last.
std::string doubt(const ClassCost &Cost, const Thresholds &Limits) {
  ClassCost Asleep = Cost;
  Asleep.Share = Cost.LeastShare;
  Asleep.WaitShare *= Cost.Share > 0 ? Cost.LeastShare / Cost.Share : 1;
  if (levelOf(Asleep, Limits) >= Level::Rescued)
    return "";
  return "its sections may sleep: if they slept in all holds of 4 us and more, their share is " +
         percentText(Asleep.Share) + " only, and it is to be left; see what they call that blocks";
}

std::string reason(const ClassCost &Cost, Level Where, const Thresholds &Limits) {
  std::string Lower = "the lower threshold (" + percentText(Limits.Lower) + ")";
  std::string Upper = "the upper threshold (" + percentText(Limits.Upper) + ")";
  switch (Where) {
  case Level::Unwaited:
    return "left: none of its acquisitions, " + countText(Cost.Acquisitions) + ", had to wait";
  case Level::Below:
    return "left: its " + taken(Cost) + ", below " + Lower;
  case Level::FewWaits:
    return "left: its " + taken(Cost) + ", but its waits only " + percentText(Cost.WaitShare) +
           " (threshold " + percentText(Limits.Waits) + "), and another lock gains no more";
  case Level::Rescued:
    return "hot: its " + taken(Cost) + " only, but its data moves: " + locality(Cost);
  case Level::Between:
    return "hot: its " + taken(Cost) + ", above " + Lower;
  case Level::Above:
    return "hot: its " + taken(Cost) + ", above " + Upper;
  }
  return "";
}

bool delegates(const CheckedClass &Class) {
  return any_of(Class.Sections,
                [](const CheckedSection &S) { return S.Outcome == Verdict::Delegate; });
}

} // namespace

bool isHot(const ClassCost &Cost, const Thresholds &Limits) {
  return Cost.Timed && levelOf(Cost, Limits) >= Level::Rescued;
}

std::string figures(const ClassCost &Cost) {
  std::vector<std::string> Parts;
  if (Cost.Contended) {
    Parts.push_back("waits: " + (Cost.Timed ? percentText(Cost.WaitShare) + " of the threads' time"
                                            : timeText(Cost.Wait) + " in all"));
    Parts.push_back(percentText(double(Cost.Contended) / double(Cost.Acquisitions)) + " of " +
                    countText(Cost.Acquisitions) + " acquisitions had to wait, " +
                    timeText(Cost.Wait / Cost.Contended) + " on average");
  }
  if (Cost.Timed) {
    Parts.push_back("sections of " + timeText(Cost.meanHold()));
    Parts.push_back(Cost.misses() ? decimal(*Cost.misses()) + " cache misses per section"
                                  : moved(Cost));
  }
  return join(Parts, "; ");
}

std::map<std::string, ClassChoice> Chooser::run() {
  for (const CheckedClass &Class : Decided.Classes)
    Choices[Class.Class.Name] = choose(Class);
  keepGroupsTogether();
  assignServers();
  return std::move(Choices);
}

ClassChoice Chooser::choose(const CheckedClass &Class) const {
  ClassChoice Choice;
  auto Known = Measured.Classes.find(Class.Class.Name);
  const ClassCost *Cost = Known == Measured.Classes.end() ? nullptr : &Known->second;
  if (Measured.Timed && !(Cost && Cost->Acquisitions)) {
    Choice.Remarks.push_back("left: nothing took it in the profiled runs");
    return Choice;
  }
  if (Cost && Cost->Timed && Predicted && Decides == Rule::Prediction) {
    choosePredicted(Class, *Cost, Choice);
  } else if (Cost && Cost->Timed) {
    chooseLock(Class, *Cost, Choice);
    if (Decides == Rule::Either && Predicted)
      chooseEither(Class, *Cost, Choice);
    else if (Predicted)
      Choice.Remarks.push_back("by the prediction: " + prediction(Class));
  } else {
    // Counts of librelock alone: nothing speaks against the lock that nobody has to choose.
    Choice.Algorithm = Class.converts() ? DefaultAlgorithm.str() : "";
    Choice.Remarks.push_back("not judged: no profile with the threads' time was read");
  }
  if (std::string Text = Cost ? figures(*Cost) : ""; !Text.empty())
    Choice.Remarks.push_back(Text);
  if (std::string Text = Choice.Hot ? preemption(*Cost) : ""; !Text.empty())
    Choice.Remarks.push_back(Text);
  if (Cost && Cost->Timed && Measured.Files.size() > 1)
    Choice.Remarks.push_back("the shares are those of " + Cost->MostIn +
                             ", where it costs most; in all profiles together it takes " +
                             percentText(Cost->ShareOfAll));
  return Choice;
}

void Chooser::chooseLock(const CheckedClass &Class, const ClassCost &Cost,
                         ClassChoice &Choice) const {
  Level Where = levelOf(Cost, Limits);
  Choice.Hot = Where >= Level::Rescued;
  Choice.Remarks.push_back(reason(Cost, Where, Limits));
  if (std::string Text = Choice.Hot ? doubt(Cost, Limits) : ""; !Text.empty())
    Choice.Remarks.push_back(Text);
  if (!Choice.Hot || !Class.converts())
    return;
  Choice.Algorithm = DefaultAlgorithm.str();
  if (Where != Level::Above)
    return;
  std::string Why = whyNoServer(Class, Cost);
  if (Why.empty())
    Choice.Algorithm = "rcl";
  else
    Choice.Remarks.push_back("no server (rcl): " + Why);
}

// The best one first: `rcl 1.90x (1.50 to 2.20); hsynch 1.60x, adaptive 1.30x`
static std::string gainsText(const ClassPrediction &Of) {
  std::vector<std::pair<std::string, Gain>> Gains(Of.ByAlgorithm.begin(), Of.ByAlgorithm.end());
  stable_sort(Gains, [&](const auto &A, const auto &B) {
    return std::pair(A.first == Of.Best, A.second.Likely) >
           std::pair(B.first == Of.Best, B.second.Likely);
  });
  std::string Text = Gains.front().first + " " + gainText(Gains.front().second);
  for (size_t I = 1; I != Gains.size(); ++I)
    Text += (I == 1 ? "; " : ", ") + Gains[I].first + " " + gainText(Gains[I].second.Likely);
  return Text;
}

// Of a class that nobody takes there it is empty.
ClassPrediction Chooser::predictionOf(const CheckedClass &Class) const {
  auto Known = Predicted->Classes.find(Class.Class.Name);
  return Known == Predicted->Classes.end() ? ClassPrediction() : Known->second;
}

std::string Chooser::prediction(const CheckedClass &Class) const {
  const ClassPrediction Of = predictionOf(Class);
  const std::string On = " on " + Predicted->Machine;
  if (Of.ByAlgorithm.empty())
    return "threads wait for it " + percentText(Of.Waiting) + " of their time" + On +
           ", too little for another lock to show";
  std::string Text = Of.Best.empty()
                         ? "too little is predicted to be gained, or too much at risk" + On
                         : "the program's predicted speed" + On;
  Text += ": " + gainsText(Of);
  if (Of.WithoutHolds)
    Text +=
        "; if none of its sections held, " + Of.BestWithoutHolds + " " + gainText(*Of.WithoutHolds);
  return Text + "; " + percentText(Of.Waiting) +
         " of the threads' time there is waiting for it, and it comes from another thread " +
         decimal(Of.Handovers) + " times per section";
}

// What the thresholds have chosen stays unless it is predicted to make the program slower; what
// they leave is converted where that is predicted to be worth it.
void Chooser::chooseEither(const CheckedClass &Class, const ClassCost &Cost,
                           ClassChoice &Choice) const {
  const ClassPrediction Of = predictionOf(Class);
  auto Chosen = Of.ByAlgorithm.find(Choice.Algorithm);
  const bool Slower = Chosen != Of.ByAlgorithm.end() && Chosen->second.Likely < 1;
  if (Choice.Algorithm.empty() || Slower) {
    Choice = ClassChoice();
    choosePredicted(Class, Cost, Choice);
  } else {
    Choice.Remarks.push_back("by the prediction: " + prediction(Class));
  }
}

// What the thresholds say stands beside it.
void Chooser::choosePredicted(const CheckedClass &Class, const ClassCost &Cost,
                              ClassChoice &Choice) const {
  const std::string Best = predictionOf(Class).Best;
  Choice.Hot = !Best.empty();
  Choice.Algorithm = Class.converts() ? Best : "";
  Choice.Remarks.push_back((Choice.Hot ? "worth it: " : "left: ") + prediction(Class));
  Choice.Remarks.push_back("by the thresholds: " + reason(Cost, levelOf(Cost, Limits), Limits));
}

// Where threads outnumber processors, a thread that is not running may hold the lock. Then the
// waits are much longer than the sections.
std::string Chooser::preemption(const ClassCost &Cost) const {
  auto File = find_if(Measured.Files, [&](const ProfileFile &F) { return F.File == Cost.MostIn; });
  uint64_t Wait = Cost.Wait / Cost.Contended, Section = std::max<uint64_t>(Cost.meanHold(), 1);
  if (File->Run.ThreadsAtOnce <= uint64_t(std::max(File->Run.Processors, 1)) ||
      Wait < ManySections * Section)
    return "";
  return "a wait lasts as long as " + countText(Wait / Section) + " sections: with " +
         std::to_string(File->Run.ThreadsAtOnce) + " threads on " +
         std::to_string(File->Run.Processors) +
         " processors, who holds the lock is often not running";
}

std::string Chooser::whyNoServer(const CheckedClass &Class, const ClassCost &Cost) const {
  if (Measured.Processors < ProcessorsPerServer)
    return "it takes a processor, and the profiled machine has " +
           std::to_string(Measured.Processors) + " of at least " +
           std::to_string(ProcessorsPerServer);
  if (double(Cost.time()) < DominantPart * double(Measured.SectionTime))
    return "the class takes less than " + percentText(DominantPart) + " of the time in sections";
  return delegates(Class) ? "" : "no section of the class can be delegated";
}

// Classes that share source text convert together or not at all. What a person says of one holds
// for the others; else one that is hot takes them along.
void Chooser::keepGroupsTogether() {
  std::map<std::string, std::vector<const CheckedClass *>> Groups;
  for (const CheckedClass &Class : Decided.Classes)
    if (Class.converts())
      Groups[Class.Class.Group].push_back(&Class);
  for (const auto &[Group, Members] : Groups) {
    auto Says = find_if(Members, [&](auto *C) { return Yours.count(C->Class.Name); });
    auto Hot = find_if(Members, [&](auto *C) { return !Choices[C->Class.Name].Algorithm.empty(); });
    auto Leader = Says != Members.end() ? Says : Hot;
    if (Leader == Members.end())
      continue;
    const std::string &Name = (*Leader)->Class.Name;
    bool Converts = Says == Members.end() || Yours.at(Name).Converts;
    for (const CheckedClass *Class : Members) {
      ClassChoice &Choice = Choices[Class->Class.Name];
      if (Class == *Leader || Converts != Choice.Algorithm.empty())
        continue;
      Choice.Algorithm = Converts ? DefaultAlgorithm.str() : "";
      Choice.Remarks.push_back((Converts ? "converts with '" : "kept with '") + Name +
                               "', with which it shares source text");
    }
  }
}

// --- Servers ------------------------------------------------------------------------------------

// The classes on `rcl`: those that are taken inside each other are one nest. Sections of one server
// never wait for each other's locks.
std::vector<std::vector<std::string>> Chooser::nests() const {
  std::map<std::string, size_t> NestOf;
  for (const auto &[Name, Choice] : Choices)
    if (Choice.Algorithm == "rcl" && !Yours.count(Name))
      NestOf.emplace(Name, NestOf.size());
  for (const auto &[Name, Nest] : NestOf)
    for (const auto &[Outer, Count] : Measured.Classes.at(Name).Inside)
      if (auto Other = NestOf.find(Outer); Other != NestOf.end() && Count) {
        size_t From = Other->second, To = NestOf.at(Name);
        for (auto &[Any, Number] : NestOf)
          Number = Number == From ? To : Number;
      }
  std::map<size_t, std::vector<std::string>> ByNumber;
  for (const auto &[Name, Nest] : NestOf)
    ByNumber[Nest].push_back(Name);
  std::vector<std::vector<std::string>> Result;
  for (auto &[Number, Classes] : ByNumber)
    Result.push_back(std::move(Classes));
  return Result;
}

double Chooser::load(const std::vector<std::string> &Classes) const {
  double Sum = 0;
  for (const std::string &Name : Classes)
    if (auto Known = Measured.Classes.find(Name); Known != Measured.Classes.end())
      Sum += double(Known->second.Hold);
  return Sum;
}

// The nests with most work first, each to the server with the least: the hottest have one for
// themselves as long as there are servers.
void Chooser::assignServers() {
  std::vector<std::vector<std::string>> Nests = nests();
  stable_sort(Nests, [&](const auto &A, const auto &B) { return load(A) > load(B); });
  unsigned Processors = Predicted ? Predicted->Processors : Measured.Processors;
  size_t Most = std::min<size_t>(Processors / ProcessorsPerServer, MaxServers);
  std::vector<double> Loads(std::max<size_t>(Most, 1));
  for (const auto &[Name, Said] : Yours)
    if (Said.Server && Said.Server <= Loads.size())
      Loads[Said.Server - 1] += load({Name}) + 1; // somebody's, however little it does
  for (const std::vector<std::string> &Nest : Nests) {
    auto Least = std::min_element(Loads.begin(), Loads.end());
    *Least += load(Nest);
    unsigned Server = unsigned(Least - Loads.begin()) + 1;
    for (const std::string &Name : Nest) {
      Choices[Name].Server = Server;
      std::vector<std::string> Others;
      copy_if(Nest, std::back_inserter(Others), [&](auto &Other) { return Other != Name; });
      Choices[Name].Remarks.push_back("server " + std::to_string(Server) +
                                      (Others.empty() ? ""
                                                      : ", with '" + join(Others, "', '") +
                                                            "': one is taken inside the other"));
    }
  }
}

} // namespace relock
