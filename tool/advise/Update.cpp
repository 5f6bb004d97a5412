// SPDX-License-Identifier: MIT
#include "advise/Update.h"

#include "advise/Algorithms.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <set>

using namespace llvm;

namespace relock {
namespace {

// Of its active passes: from there on sections of one class wait for those of another. In the
// thesis a second server made 21 % more where the first one had 66 %, and where there was less than
// that, the choice of servers changed the throughput by less than 3 %; a guess between.
constexpr double MuchFalseSerialization = 0.10;

constexpr StringLiteral Server = "rcl"; // the algorithm with one

// How our comments in a plan begin.
constexpr StringLiteral Head = "Updated by ", Remark = "since then: ";

// Of a class, in all files.
struct Seen {
  uint64_t Sections = 0, Delegated = 0, Wait = 0, Hold = 0;
  uint64_t Duration = 0;   // of the runs that have the class
  uint64_t ThreadTime = 0; // of their threads, or the most that it can be
  std::string Algorithm;   // that it ran on, of the last one
  std::map<std::string, uint64_t> Inside;

  double share() const {
    return ThreadTime ? std::min(1.0, double(Wait + Hold) / double(ThreadTime)) : 0;
  }
  // How many threads waited, on average.
  double waiting() const { return Duration ? double(Wait) / double(Duration) : 0; }
  double delegatedPart() const { return Sections ? double(Delegated) / double(Sections) : 0; }
};

class Updater {
public:
  Updater(const Plan &Before, ArrayRef<ProfileFile> Files, const Thresholds &Limits)
      : Before(Before), Files(Files), Limits(Limits) {}

  PlanUpdate run() {
    Result.Next = Before;
    addUp();
    chooseAlgorithms();
    spreadServers();
    for (PlanEntry &Entry : Result.Next.Classes)
      finish(Entry);
    addHead();
    reportUnknown();
    return std::move(Result);
  }

private:
  const Plan &Before;
  ArrayRef<ProfileFile> Files;
  const Thresholds &Limits;
  PlanUpdate Result;
  std::map<std::string, Seen> Classes;
  std::map<std::string, std::string> Why;     // of an entry that changes
  std::map<std::string, std::string> Instead; // of a person's entry: what would have been chosen
  std::map<uint64_t, double> False;           // false serialization, the most of any run
  unsigned Processors = 0;                    // of the smallest machine
  uint64_t SectionTime = 0, Duration = 0;

  // --- What was counted ---

  void addUp() {
    for (const ProfileFile &File : Files) {
      const Profile &Run = File.Run;
      const unsigned Here = unsigned(std::max(Run.Processors, 1));
      Processors = Processors ? std::min(Processors, Here) : Here;
      Duration += Run.Duration;
      for (const ServerCounts &Server : Run.Servers)
        if (Server.ActivePasses)
          False[Server.Number] = std::max(False[Server.Number], Server.FalseSerialization);
      std::map<std::string, std::string> NameOf;
      for (const ProfiledClass &Class : Run.Classes)
        NameOf[Class.Key] = Class.Name;
      std::set<std::string> Counted;
      for (const ProfiledClass &Class : Run.Classes)
        if (Class.Runtime)
          add(Class, Run, Counted.insert(Class.Name).second, NameOf);
    }
  }

  void add(const ProfiledClass &Class, const Profile &Run, bool IsFirst,
           const std::map<std::string, std::string> &NameOf) {
    Seen &Sum = Classes[Class.Name];
    Sum.Sections += Class.Runtime->Held + Class.Runtime->Executed;
    Sum.Delegated += Class.Runtime->Delegated;
    Sum.Wait += Class.Wait.Total;
    Sum.Hold += Class.Hold.Total;
    Sum.Algorithm = Class.Runtime->Algorithm;
    SectionTime += Class.Hold.Total;
    for (const auto &[Key, Count] : Class.Inside)
      if (auto Outer = NameOf.find(Key); Outer != NameOf.end())
        Sum.Inside[Outer->second] += Count;
    if (!IsFirst)
      return;
    Sum.Duration += Run.Duration;
    // librelock does not know when threads lived.
    Sum.ThreadTime += Run.ThreadTime ? Run.busyTime().Least
                                     : std::max<uint64_t>(Run.ThreadsAtOnce, 1) * Run.Duration;
  }

  const Seen *seen(const PlanEntry &Entry) const {
    auto Known = Classes.find(Entry.Class);
    return Known == Classes.end() || !Known->second.Sections ? nullptr : &Known->second;
  }

  // --- Algorithms ---

  static StringRef algorithmOf(const PlanEntry &Entry) {
    return Entry.Algorithm.empty() ? StringRef(DefaultAlgorithm) : StringRef(Entry.Algorithm);
  }

  static bool isRelocks(const PlanEntry &Entry) {
    return !Entry.Advised.empty() &&
           Entry.Advised == withServer(algorithmOf(Entry), Entry.Server.value_or(1));
  }

  bool mayHaveServer() const { return Processors >= ProcessorsPerServer; }

  // The same thresholds as before the conversion, of what the class takes now.
  std::pair<StringRef, std::string> choice(const PlanEntry &Entry, const Seen &Sum) const {
    const StringRef Now = algorithmOf(Entry);
    const bool HasServer = usesServer(Now);
    if (HasServer && !mayHaveServer())
      return {DefaultAlgorithm, "a server takes a processor, and the machine has " +
                                    std::to_string(Processors) + " of at least " +
                                    std::to_string(ProcessorsPerServer)};
    if (HasServer && Sum.share() < Limits.Lower)
      return {DefaultAlgorithm, "it takes " + percentText(Sum.share()) +
                                    " of the threads' time, below the lower threshold (" +
                                    percentText(Limits.Lower) + "), too little for a server"};
    if (!HasServer && Sum.share() >= Limits.Upper && mayHaveServer() && Sum.Delegated &&
        double(Sum.Hold) >= DominantPart * double(SectionTime))
      return {Server, "it takes " + percentText(Sum.share()) +
                          " of the threads' time, above the upper threshold (" +
                          percentText(Limits.Upper) + "), and other threads run its sections"};
    return {Now, ""};
  }

  void chooseAlgorithms() {
    for (PlanEntry &Entry : Result.Next.Classes) {
      const Seen *Sum = seen(Entry);
      if (!Sum || !Entry.Converts)
        continue;
      const auto [Algorithm, Because] = choice(Entry, *Sum);
      if (Algorithm == algorithmOf(Entry))
        continue;
      if (!isRelocks(Entry)) {
        Instead[Entry.Class] = Algorithm.str() + ", as " + Because;
        continue;
      }
      Why[Entry.Class] = Because;
      Entry.Algorithm = Algorithm.str();
      Entry.Server.reset();
    }
  }

  // --- Servers ---

  // Relock's classes with a server.
  std::vector<PlanEntry *> served() {
    std::vector<PlanEntry *> Entries;
    for (PlanEntry &Entry : Result.Next.Classes)
      if (Entry.Converts && usesServer(Entry.Algorithm) && !Entry.Advised.empty() && seen(Entry))
        Entries.push_back(&Entry);
    stable_sort(Entries, [&](auto *A, auto *B) { return seen(*A)->Hold > seen(*B)->Hold; });
    return Entries;
  }

  // Where sections of one class often wait for those of another, there is one server more, and the
  // classes with most work have it to themselves. Those taken inside each other stay together.
  void spreadServers() {
    std::vector<PlanEntry *> Entries = served();
    std::set<unsigned> Used;
    for (const PlanEntry &Entry : Before.Classes)
      if (Entry.Converts && usesServer(algorithmOf(Entry)))
        Used.insert(Entry.Server.value_or(1));
    double Most = 0;
    for (const auto &[Number, Rate] : False)
      Most = std::max(Most, Rate);
    const unsigned Limit = std::min<unsigned>(Processors / ProcessorsPerServer, MaxServers);
    if (Entries.size() < 2 || Most < MuchFalseSerialization || Used.size() >= Limit)
      return;
    const std::string Because = "in " + percentText(Most) +
                                " of a server's passes sections of different locks waited for each "
                                "other";
    assign(Entries, unsigned(Used.size()) + 1, Because);
  }

  void assign(ArrayRef<PlanEntry *> Entries, unsigned Servers, const std::string &Because) {
    std::vector<double> Loads(Servers);
    for (const PlanEntry &Entry : Result.Next.Classes) // a person's stay where they are
      if (Entry.Converts && usesServer(Entry.Algorithm) && Entry.Advised.empty() &&
          Entry.Server.value_or(1) <= Servers)
        Loads[Entry.Server.value_or(1) - 1] += seen(Entry) ? double(seen(Entry)->Hold) + 1 : 1;
    std::map<std::string, unsigned> ServerOf;
    for (PlanEntry *Entry : Entries) {
      unsigned Server = nested(*Entry, ServerOf);
      if (!Server)
        Server = unsigned(std::min_element(Loads.begin(), Loads.end()) - Loads.begin()) + 1;
      Loads[Server - 1] += double(seen(*Entry)->Hold);
      ServerOf[Entry->Class] = Server;
      if (Entry->Server.value_or(1) == Server)
        continue;
      Entry->Server = Server;
      if (Server == 1)
        Entry->Server.reset();
      if (!Why.count(Entry->Class))
        Why[Entry->Class] = Because;
    }
  }

  // The server of a class that it is taken inside of, or that is taken inside of it; 0: none has
  // one yet.
  unsigned nested(const PlanEntry &Entry, const std::map<std::string, unsigned> &ServerOf) const {
    for (const auto &[Name, Server] : ServerOf) {
      const auto &Inner = Classes.at(Name).Inside, &Own = Classes.at(Entry.Class).Inside;
      if (Inner.count(Entry.Class) || Own.count(Name))
        return Server;
    }
    return 0;
  }

  // --- What is said of it ---

  void finish(PlanEntry &Entry) {
    erase_if(Entry.Remarks, [](StringRef Old) { return Old.starts_with(Remark); });
    const Seen *Sum = seen(Entry);
    if (!Entry.Converts)
      return;
    if (!Sum) {
      Entry.Remarks.push_back((Remark + "nothing took it in these runs").str());
      return;
    }
    ++Result.Measured;
    Entry.Remarks.push_back(Remark.str() + figuresOf(Entry, *Sum));
    if (auto Better = Instead.find(Entry.Class); Better != Instead.end())
      Entry.Remarks.push_back(Remark.str() + "yours, and left; else it would be " + Better->second);
    auto Because = Why.find(Entry.Class);
    if (Because == Why.end())
      return;
    const std::string Now = withServer(algorithmOf(Entry), Entry.Server.value_or(1));
    Entry.Remarks.push_back(Remark.str() + Entry.Advised + " became " + Now + ": " +
                            Because->second);
    Result.Revised.push_back("'" + Entry.Class + "': " + Entry.Advised + " became " + Now + ": " +
                             Because->second);
    Result.Setting += (Result.Setting.empty() ? "" : ",") + Entry.Class + "=" + Now;
    Entry.Advised = Now;
  }

  static std::string figuresOf(const PlanEntry &Entry, const Seen &Sum) {
    std::string Text =
        Sum.Algorithm == algorithmOf(Entry) ? "" : "it ran on " + Sum.Algorithm + "; ";
    Text += "its sections and the waiting for them take " + percentText(Sum.share()) +
            " of the threads' time or more; " + countText(Sum.Sections) + " sections, " +
            percentText(Sum.delegatedPart()) + " run by other threads; ";
    return Text + decimal(Sum.waiting()) + " threads waited on average";
  }

  void addHead() {
    erase_if(Result.Next.Remarks, [](StringRef Old) { return Old.starts_with(Head); });
    std::string Text = Head.str();
    for (const ProfileFile &File : Files)
      Text += (&File == Files.begin() ? "" : ", ") + File.File;
    Text += " (" + timeText(Duration) +
            " of the converted program): " + counted(Result.Revised.size(), "entry", "entries") +
            " revised.";
    Result.Next.Remarks.push_back(Text);
  }

  void reportUnknown() {
    std::vector<std::string> Names;
    for (const auto &[Name, Sum] : Classes)
      if (Sum.Sections && !Before.find(Name))
        Names.push_back("'" + Name + "'");
    if (!Names.empty())
      report("the plan has no entry for " + join(Names, ", ") +
                 ", which the program takes by librelock",
             "update-unknown");
  }

  void report(std::string Text, StringRef Code) {
    Result.Findings.push_back({std::move(Text), Code.str(), true});
  }
};

} // namespace

bool hasRuntime(const Profile &Run) {
  return any_of(Run.Classes, [](const ProfiledClass &Class) { return Class.Runtime.has_value(); });
}

PlanUpdate updatePlan(const Plan &Before, ArrayRef<ProfileFile> Files, const Thresholds &Limits) {
  return Updater(Before, Files, Limits).run();
}

} // namespace relock
