// SPDX-License-Identifier: MIT
#include "driver/PlanOption.h"

#include "advise/Algorithms.h"
#include "driver/Subcommand.h"
#include "program/Merge.h"
#include "rewrite/LockTable.h"
#include "support/Messages.h"
#include "support/Yaml.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace relock {

std::optional<Plan> loadPlan(StringRef File) {
  Expected<Plan> Read = Plan::read(File);
  if (Read)
    return std::move(*Read);
  reportYaml(Read.takeError(), "plan-file");
  return std::nullopt;
}

std::optional<Prediction> predictionOf(const Plan &Planned) {
  std::optional<Prediction> P = parsePrediction(Planned.Predicted);
  if (P && Planned.Machine != "here")
    P->Machine = Planned.Machine;
  return P;
}

bool applyCuts(IndexResult &Index, Plan &Planned) {
  std::vector<Cut *> Cuts;
  for (PlanCut &C : Planned.Cuts)
    Cuts.push_back(&C);
  std::vector<CutProblem> Problems = applyCuts(Index, Cuts);
  for (const CutProblem &P : Problems)
    message(P.At, P.Text, "plan-cut");
  return Problems.empty();
}

void reportCuts(const IndexResult &Index, const Decision &Decided) {
  for (const CutFlow &C : Index.Cuts)
    if (C.Operation)
      message(C.At,
              "this cut ignores a flow whose pointer a lock operation is on, at " +
                  shownPlace(*C.Operation),
              "cut-operated");
  for (const CutFlow &C : Decided.IdleCuts)
    message(C.At, "this cut separates nothing: other flows make one class of its ends", "cut-idle");
}

std::string cutLine(const Plan &Planned) {
  size_t N = Planned.Cuts.size();
  return std::to_string(N) + (N == 1 ? " flow of pointers" : " flows of pointers") + " cut by " +
         shownPath(Planned.Path);
}

// Those that are few edits away, or share a part.
static std::string nearestClasses(const Decision &Decided, StringRef Name) {
  std::vector<std::pair<unsigned, StringRef>> Ranked;
  for (const CheckedClass &Class : Decided.Classes) {
    StringRef Candidate = Class.Class.Name;
    unsigned Distance = Name.edit_distance(Candidate, true, 0);
    if (Candidate.contains_insensitive(Name) || Name.contains_insensitive(Candidate))
      Distance = std::min(Distance, 1u);
    Ranked.push_back({Distance, Candidate});
  }
  sort(Ranked);
  std::string Text;
  for (size_t I = 0; I < Ranked.size() && I < 3; ++I)
    Text += (I ? ", '" : "'") + Ranked[I].second.str() + "'";
  return Text;
}

// The class that the lock of that name is one of; empty: none.
static std::string classOfLock(const IndexResult &Index, const Decision &Decided, StringRef Name) {
  ProjectFile Undeclared;
  Program Linked(Index, /*AcceptUncovered=*/true, Undeclared);
  std::vector<NamedLock> Found = MergeFinder(Index.Units, Linked).named(Name);
  bool Listed = Found.size() == 1 && any_of(Decided.Classes, [&](const CheckedClass &Class) {
                  return Class.Class.Name == Found.front().Class->Name;
                });
  return Listed ? Found.front().Class->Name : "";
}

std::string noSuchClass(const IndexResult &Index, const Decision &Decided, StringRef Name) {
  std::string Text = ("there is no lock class '" + Name + "'").str();
  if (Decided.Classes.empty())
    return Text + "; the program has none";
  if (std::string Class = classOfLock(Index, Decided, Name); !Class.empty())
    return (Text + ": that lock is one of the class '" + Class + "', see `relock check --why " +
            Name + " " + Class + "`")
        .str();
  return Text + "; nearest are " + nearestClasses(Decided, Name);
}

namespace {

struct TableLine {
  StringRef Table; // its path; empty: no table has the class
  std::string Algorithm;
};

} // namespace

static TableLine lineInTable(const IndexResult &Index, StringRef Name) {
  for (const UnitFacts &Unit : Index.Units) {
    if (Unit.LockTable.empty())
      continue;
    auto Table = MemoryBuffer::getFile(Unit.LockTable);
    if (StringRef Algorithm = Table ? tableAlgorithm((*Table)->getBuffer(), Name) : "";
        !Algorithm.empty())
      return {Unit.LockTable, Algorithm.str()};
  }
  return {};
}

bool isConverted(const IndexResult &Index, StringRef Name) {
  return !lineInTable(Index, Name).Table.empty();
}

std::string alreadyConverted(const IndexResult &Index, StringRef Name, StringRef Chosen) {
  TableLine Line = lineInTable(Index, Name);
  std::string Text = ("'" + Name + "' is converted already").str();
  if (Line.Algorithm != Chosen)
    Text += (", and stays on '" + Line.Algorithm + "': to change that to '" + Chosen + "', edit " +
             shownPath(Line.Table))
                .str();
  return Text;
}

bool serversHaveClasses(const Plan &Planned) {
  const PlanServer *Idle = Planned.idleServer();
  if (Idle)
    message(Idle->At,
            "server " + std::to_string(Idle->Number) +
                " has no class: give it one on rcl or adaptive_rcl by 'server: " +
                std::to_string(Idle->Number) + "', or take its entry out",
            "plan-server");
  return !Idle;
}

static std::string algorithmOf(const PlanEntry &Entry) {
  return withServer(Entry.Algorithm.empty() ? StringRef(DefaultAlgorithm)
                                            : StringRef(Entry.Algorithm),
                    Entry.Server.value_or(1));
}

bool choosePlanned(const IndexResult &Index, const Decision &Decided, const Plan &Planned,
                   Choice &Chosen, int &Status) {
  Status = Done;
  for (const PlanEntry &Entry : Planned.Classes) {
    auto Found = find_if(Decided.Classes, [&](const CheckedClass &Class) {
      return Class.Class.Name == Entry.Class;
    });
    if (Found == Decided.Classes.end() && isConverted(Index, Entry.Class)) {
      if (Entry.Converts)
        message(Entry.At, alreadyConverted(Index, Entry.Class, algorithmOf(Entry)), "converted");
    } else if (Found == Decided.Classes.end()) {
      message(Entry.At,
              noSuchClass(Index, Decided, Entry.Class) +
                  "; `relock advise -o` brings the plan up to date",
              "unknown-class");
      Status = BadUsage;
    } else if (Entry.Converts && !Found->converts()) {
      message(Entry.At,
              "the plan converts '" + Entry.Class + "', which cannot be; say 'verdict: keep'",
              "plan-kept");
      for (const Reason &R : Found->Class.Kept)
        message(R.At, "'" + Entry.Class + "' cannot be converted: it " + R.Message, R.Code);
      Status = std::max(Status, int(LookAtThis));
    } else if (Entry.Converts) {
      Chosen[Found->Class.Id] = algorithmOf(Entry);
    }
  }
  return Status == Done;
}

bool agreesWithPlan(const Decision &Decided, const Plan &Planned, const Choice &Chosen) {
  bool Agrees = true;
  for (const CheckedClass &Class : Decided.Classes) {
    const PlanEntry *Entry = Planned.find(Class.Class.Name);
    if (!Entry || Entry->Converts || !Chosen.count(Class.Class.Id))
      continue;
    auto Other = find_if(Decided.Classes, [&](const CheckedClass &C) {
      const PlanEntry *E = Planned.find(C.Class.Name);
      return C.Class.Group == Class.Class.Group && E && E->Converts;
    });
    message(Entry->At,
            "the plan keeps '" + Entry->Class + "' and converts '" + Other->Class.Name +
                "', with which it shares source text: both convert, or none",
            "plan-group");
    Agrees = false;
  }
  return Agrees;
}

void reportUnplanned(const Decision &Decided, const Plan &Planned, const Choice &Chosen) {
  size_t Missing = count_if(Decided.Classes, [&](const CheckedClass &Class) {
    return Class.converts() && !Planned.find(Class.Class.Name) && !Chosen.count(Class.Class.Id);
  });
  if (Missing)
    messageFor(Planned.Path,
               "has no entry for " + std::to_string(Missing) +
                   (Missing == 1 ? " lock class that" : " lock classes that") +
                   " could convert; `relock advise -o` adds them",
               "plan-incomplete");
}

} // namespace relock
