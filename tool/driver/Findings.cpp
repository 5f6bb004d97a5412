// SPDX-License-Identifier: MIT
#include "driver/Findings.h"

#include "driver/Check.h"
#include "driver/Explain.h"
#include "support/Messages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

namespace {

// The first words are also codes of reasons; as kinds they come first.
constexpr std::pair<StringRef, FindingKind> KindNames[] = {
    {"hold", FindingKind::Hold},
    {"keep", FindingKind::Keep},
    {"unconverted", FindingKind::Unconverted},
    {"uncovered", FindingKind::Uncovered},
    {"lock-order", FindingKind::LockOrder},
    {"accidental-merge", FindingKind::Merge},
};
constexpr StringRef SureCycle = "sure-cycle", StaleName = "stale";

Finding heldFor(const Reason &R, const CheckedSection &S, const LockClass &Class) {
  Finding F{FindingKind::Hold, R, false,
            "this section of '" + Class.Name + "', in '" + S.Facts.FunctionName +
                "', is held: " + R.Message,
            Step{"the lock is taken here", S.Facts.At}};
  F.Class = Class.Name;
  F.Function = S.Facts.FunctionName;
  return F;
}

// What has a kind of its own is of that one.
FindingKind kindOfKept(StringRef Code) {
  return Code == "uncovered"     ? FindingKind::Uncovered
         : Code == "unconverted" ? FindingKind::Unconverted
                                 : FindingKind::Keep;
}

Finding keptFor(const Reason &R, const LockClass &Class) {
  Finding F{kindOfKept(R.Code), R, true, "lock class '" + Class.Name + "' is kept: it " + R.Message,
            Step{"'" + Class.Name + "' is declared here", Class.At}};
  F.Class = Class.Name;
  return F;
}

Finding ofCycle(const std::vector<OrderEdge> &Cycle) {
  Reason R = cycleReason(Cycle);
  for (const OrderEdge &E : Cycle)
    append_range(R.Way, E.Way);
  Finding F{FindingKind::LockOrder, R, isSure(Cycle), R.Message, {}};
  F.Sure = isSure(Cycle);
  for (const OrderEdge &E : Cycle) {
    F.Class += E.HeldName + " -> ";
    F.Edges.push_back(E.Way.front());
  }
  F.Class += Cycle.front().HeldName;
  return F;
}

Finding ofMerge(const AccidentalMerge &M) {
  Finding F{
      FindingKind::Merge, Reason{"accidental-merge", describe(M), M.At}, false, describe(M), {}};
  F.Class = M.Class;
  return F;
}

Finding ofSite(const UncoveredSite &Site) {
  Finding F{FindingKind::Uncovered,
            Reason{"uncovered", describe(Site), Site.At},
            false,
            describe(Site),
            {}};
  F.Class = Site.Operand;
  F.Elsewhere = Site.Elsewhere;
  return F;
}

// What is not covered keeps a class, or else stands for itself.
void addSites(const std::vector<UncoveredSite> &Sites, std::vector<Finding> &Found) {
  for (const UncoveredSite &Site : Sites)
    if (none_of(Found,
                [&](const Finding &F) { return F.Why.Code == "uncovered" && F.Why.At == Site.At; }))
      Found.push_back(ofSite(Site));
}

} // namespace

StringRef kindName(FindingKind Kind) {
  return find_if(KindNames, [&](const auto &Entry) { return Entry.second == Kind; })->first;
}

const Position &Finding::at() const { return Kind == FindingKind::Hold ? About->At : Why.At; }

std::vector<Position> Finding::sites() const {
  std::vector<Position> Result = {at(), Why.At};
  if (About)
    Result.push_back(About->At);
  for (const Step &Edge : Edges)
    Result.push_back(Edge.At);
  return Result;
}

std::vector<Position> Finding::places() const {
  std::vector<Position> Result = sites();
  for (const Step &Next : Why.Way)
    Result.push_back(Next.At);
  return Result;
}

std::vector<Finding> findingsOf(const Decision &Decided) {
  std::vector<Finding> Found;
  for (const CheckedClass &Class : Decided.Classes) {
    for (const Reason &R : Class.Class.Kept)
      Found.push_back(keptFor(R, Class.Class));
    for (const CheckedSection &S : Class.Sections)
      if (S.Outcome == Verdict::Hold)
        for (const Reason &R : S.Reasons)
          Found.push_back(heldFor(R, S, Class.Class));
  }
  for (const std::vector<OrderEdge> &Cycle : Decided.Cycles)
    Found.push_back(ofCycle(Cycle));
  for (const AccidentalMerge &M : Decided.Merges)
    Found.push_back(ofMerge(M));
  addSites(Decided.Uncovered, Found);
  addSites(Decided.LeftOperations, Found);
  return Found;
}

FindingFilter FindingFilter::byDefault() {
  FindingFilter Filter;
  Filter.Kinds = {FindingKind::Hold, FindingKind::Keep, FindingKind::Unconverted,
                  FindingKind::Uncovered, FindingKind::Merge};
  return Filter;
}

bool FindingFilter::has(const Finding &F) const {
  if (F.Elsewhere)
    return false;
  return Kinds.count(F.Kind) || Codes.count(F.Why.Code) ||
         (SureCycles && F.Kind == FindingKind::LockOrder && F.Sure);
}

FindingFilter operator|(FindingFilter A, const FindingFilter &B) {
  A.Kinds.insert(B.Kinds.begin(), B.Kinds.end());
  A.Codes.insert(B.Codes.begin(), B.Codes.end());
  A.SureCycles |= B.SureCycles;
  A.Stale |= B.Stale;
  return A;
}

// The kinds of findings that have a code: few have two.
static std::set<FindingKind> kindsOf(StringRef Code) {
  if (Code == "lock-cycle")
    return {FindingKind::LockOrder};
  if (Code == "accidental-merge")
    return {FindingKind::Merge};
  if (Code == "uncovered" || Code == "unconverted")
    return {kindOfKept(Code)};
  std::set<FindingKind> Result;
  for (const Page &P : explainPages())
    if (P.Code == Code && P.Document == "refusals.md")
      Result.insert(P.Chapter.starts_with("Classes") ? FindingKind::Keep : FindingKind::Hold);
  return Result;
}

bool FindingFilter::covers(StringRef Code) const {
  return Codes.count(Code.str()) || (SureCycles && Code == "lock-cycle") ||
         any_of(kindsOf(Code), [&](FindingKind Kind) { return Kinds.count(Kind); });
}

bool FindingFilter::wantsLockOrder() const {
  return SureCycles || Kinds.count(FindingKind::LockOrder) || Codes.count("lock-cycle");
}

std::optional<FindingFilter> FindingFilter::parse(StringRef List, StringRef Option) {
  FindingFilter Filter;
  for (StringRef Word : split(List, ',')) {
    Word = Word.trim();
    const auto *Kind = find_if(KindNames, [&](const auto &Entry) { return Entry.first == Word; });
    if (Kind != std::end(KindNames))
      Filter.Kinds.insert(Kind->second);
    else if (Word == SureCycle)
      Filter.SureCycles = true;
    else if (Word == StaleName)
      Filter.Stale = true;
    else if (Word == "any")
      for (const auto &[Name, Each] : KindNames)
        Filter.Kinds.insert(Each);
    else if (isFindingCode(Word))
      Filter.Codes.insert(Word.str());
    else if (Word != "none" || List.trim() != "none") {
      std::string Nearest = nearestFindingCode(Word);
      message(Option.str() +
                  " takes hold, keep, unconverted, uncovered, lock-order, sure-cycle, "
                  "accidental-merge, stale, any, none and codes of reasons, with "
                  "commas between them; '" +
                  Word.str() + "' is " +
                  (Word == "none" ? "nothing beside others" : "none of these") +
                  (Nearest.empty() ? "" : "; did you mean '" + Nearest + "'?"),
              "usage");
      return std::nullopt;
    }
  }
  return Filter;
}

static const std::vector<StringRef> &findingCodes() {
  static const std::vector<StringRef> Codes = [] {
    std::vector<StringRef> All = {"accidental-merge", "lock-cycle"};
    for (const Page &P : explainPages())
      if (P.Document == "refusals.md")
        All.push_back(P.Code);
    return All;
  }();
  return Codes;
}

std::vector<std::string> FindingFilter::words() {
  std::vector<std::string> Words;
  for (const auto &[Name, Kind] : KindNames)
    Words.push_back(Name.str());
  for (StringRef Name : {SureCycle, StaleName, StringRef("any"), StringRef("none")})
    Words.push_back(Name.str());
  for (StringRef Code : findingCodes())
    if (!is_contained(Words, Code))
      Words.push_back(Code.str());
  return Words;
}

bool isFindingCode(StringRef Code) { return is_contained(findingCodes(), Code); }

std::string nearestFindingCode(StringRef Code) {
  std::vector<StringRef> Names = findingCodes();
  for (const auto &[Name, Kind] : KindNames)
    Names.push_back(Name);
  Names.push_back(SureCycle);
  StringRef Nearest;
  size_t Least = Code.size() / 3 + 1;
  for (StringRef Name : Names)
    if (size_t Distance = Name.edit_distance(Code); Distance < Least) {
      Nearest = Name;
      Least = Distance;
    }
  return Nearest.str();
}

} // namespace relock
