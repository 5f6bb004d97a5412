// SPDX-License-Identifier: MIT
#include "section/ProgramView.h"

#include "index/Encoding.h"
#include "index/RecordFields.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace relock {

// All that a view says of a function.
struct FunctionAnswer {
  bool Known = false, Defined = false, Namesake = false, Executes = false;
  bool NeverReturns = false, EndsProcess = false;
  std::string Name;
  std::vector<Prototype> Prototypes;
  std::string Releases, OfRecord;
  Rare<Wrapper> Wraps;
  std::optional<Layers::Operator> Operator;
  std::optional<OtherOperator> OtherRelay;
};

struct Answers {
  std::vector<FunctionAnswer> Functions;
  std::vector<std::optional<ClassOfLock>> Classes;
  std::vector<std::optional<OtherLock>> OtherLocks;
  std::vector<std::string> Locks;
  std::vector<PointerEffects> Pointers;
  bool AcceptsFunctionName = false;
  std::vector<std::string> Macros; // that the project file speaks of
};

template <class V> void fields(V &&Visit, Layers::Operator &O) {
  Visit("posix", O.Posix), Visit("kind", O.Kind), Visit("locks", O.Locks);
  Visit("mutex", O.Mutex), Visit("tests", O.Tests), Visit("noAttributes", O.NoAttributes);
}
template <class V> void fields(V &&Visit, OtherLock &L) {
  Visit("kind", L.Kind), Visit("type", L.Type), Visit("argument", L.Argument);
  Visit("succeedsNonzero", L.SucceedsNonzero), Visit("nothingAtZero", L.NothingAtZero);
  Visit("executes", L.Executes);
}
template <class V> void fields(V &&Visit, OtherOperator &O) {
  Visit("does", O.Does), Visit("expression", O.Expression), Visit("variable", O.Variable);
  Visit("part", O.Part), Visit("tells", O.Tells);
}
template <class V> void fields(V &&Visit, PointerFlow::Place &P) {
  Visit("kind", P.Kind), Visit("index", P.Index), Visit("loads", P.Loads);
}
template <class V> void fields(V &&Visit, PointerFlow &F) {
  Visit("from", F.From), Visit("to", F.To);
}
template <class V> void fields(V &&Visit, PointerEffects &E) {
  Visit("known", E.Known), Visit("flows", E.Flows), Visit("trusted", E.Trusted);
}
template <class V> void fields(V &&Visit, ClassOfLock &C) {
  Visit("id", C.Id), Visit("checksErrors", C.ChecksErrors);
}
template <class V> void fields(V &&Visit, FunctionAnswer &F) {
  Visit("known", F.Known), Visit("defined", F.Defined), Visit("releases", F.Releases);
  Visit("releasesOf", F.OfRecord);
  Visit("namesake", F.Namesake), Visit("executes", F.Executes), Visit("name", F.Name);
  Visit("neverReturns", F.NeverReturns), Visit("endsProcess", F.EndsProcess);
  Visit("prototypes", F.Prototypes), Visit("wraps", F.Wraps);
  if (F.Wraps) // which facts do not have, as linking finds it
    Visit("through", F.Wraps->Through), Visit("elsewhere", F.Wraps->Elsewhere);
  Visit("operator", F.Operator), Visit("otherRelay", F.OtherRelay);
}
template <class V> void fields(V &&Visit, Answers &A) {
  Visit("functions", A.Functions), Visit("classes", A.Classes);
  Visit("otherLocks", A.OtherLocks), Visit("locks", A.Locks), Visit("pointers", A.Pointers);
  Visit("acceptsFunctionName", A.AcceptsFunctionName), Visit("macros", A.Macros);
}

static FunctionAnswer answer(const Program &Linked, const std::string &Node) {
  FunctionAnswer Result;
  if (auto Found = Linked.Functions.find(Node); Found != Linked.Functions.end()) {
    const Function &F = Found->second;
    Result.Known = true;
    Result.Name = F.Name;
    Result.Wraps = F.Wraps;
    if (F.Wraps)
      Result.Prototypes = F.Prototypes;
  }
  Result.Defined = Linked.isDefined(Node);
  Result.NeverReturns = Linked.neverReturns(Node);
  Result.EndsProcess = Linked.endsProcess(Node);
  std::tie(Result.Releases, Result.OfRecord) = Linked.releasedBy(Node);
  Result.Namesake = Linked.Namesakes.count(Node) != 0;
  Result.Executes = Linked.canExecuteThrough(Node);
  if (const Layers::Operator *Operator = Linked.operatorOf(Node))
    Result.Operator = *Operator;
  if (const OtherOperator *Relay = Linked.relayOfOtherLock(Node))
    Result.OtherRelay = *Relay;
  return Result;
}

static std::optional<ClassOfLock> classOf(const Program &Linked, const std::string &Node) {
  const LockClass *Class = Linked.classOf(Node);
  if (!Class)
    return std::nullopt;
  return ClassOfLock{Class->Id, Class->ChecksErrors ? shownPlace(*Class->ChecksErrors) : ""};
}

static bool acceptsFunctionName(const Program &Linked) {
  return Linked.Project.Accepted.count("function-name") != 0;
}

std::string Questions::answers(const Program &Linked) const {
  Answers All;
  for (const std::string &Node : Functions)
    All.Functions.push_back(answer(Linked, Node));
  for (const std::string &Node : Locks)
    All.Classes.push_back(classOf(Linked, Node));
  for (const std::string &Name : OtherLocks)
    All.OtherLocks.push_back(Linked.Project.otherLock(Name));
  for (const auto &[Node, At, Spelled] : GivenAt)
    All.Locks.push_back(Linked.lockAt(Node, At, Spelled));
  for (const auto &[Name, Defined] : PointerEffects)
    All.Pointers.push_back(pointerEffects(Name, Defined, Linked.Project));
  All.AcceptsFunctionName = acceptsFunctionName(Linked);
  for (const auto &[Name, Declared] : Linked.Project.Macros)
    All.Macros.push_back(Name);
  auto [Low, High] = xxh3_128bits(arrayRefFromStringRef(Encoder::encode(std::move(All))));
  return utohexstr(Low) + utohexstr(High);
}

const Wrapper *ProgramView::wrapperOf(const std::string &FunctionNode) const {
  return Linked.wrapperOf(ask(FunctionNode));
}

const Layers::Operator *ProgramView::operatorOf(const std::string &FunctionNode) const {
  return Linked.operatorOf(ask(FunctionNode));
}

const OtherOperator *ProgramView::relayOfOtherLock(const std::string &FunctionNode) const {
  return Linked.relayOfOtherLock(ask(FunctionNode));
}

std::optional<OtherOperator> ProgramView::otherOperator(const Call &C) const {
  Asked.OtherLocks.insert(C.Name);
  return Linked.otherOperator({ask(C.Function), C.Name, {}});
}

std::optional<OtherLock> ProgramView::otherLock(const std::string &FunctionName) const {
  Asked.OtherLocks.insert(FunctionName);
  return Linked.Project.otherLock(FunctionName);
}

std::string ProgramView::lockAt(const std::string &FunctionNode, const Position &At,
                                const Position &Spelled) const {
  Asked.GivenAt.insert({FunctionNode, At, Spelled});
  return Linked.lockAt(FunctionNode, At, Spelled);
}

std::pair<std::string, std::string> ProgramView::releasedBy(const std::string &FunctionNode) const {
  return Linked.releasedBy(ask(FunctionNode));
}

bool ProgramView::isDefined(const std::string &FunctionNode) const {
  return Linked.isDefined(ask(FunctionNode));
}

bool ProgramView::neverReturns(const std::string &FunctionNode) const {
  return Linked.neverReturns(ask(FunctionNode));
}

bool ProgramView::endsProcess(const std::string &FunctionNode) const {
  return Linked.endsProcess(ask(FunctionNode));
}

bool ProgramView::isNamesake(const std::string &FunctionNode) const {
  return Linked.Namesakes.count(ask(FunctionNode)) != 0;
}

bool ProgramView::canExecuteThrough(const std::string &FunctionNode) const {
  return Linked.canExecuteThrough(ask(FunctionNode));
}

std::string ProgramView::nameOf(const std::string &FunctionNode) const {
  return Linked.Functions.at(ask(FunctionNode)).Name;
}

const std::vector<Prototype> &ProgramView::prototypesOf(const std::string &FunctionNode) const {
  return Linked.Functions.at(ask(FunctionNode)).Prototypes;
}

PointerEffects ProgramView::pointerEffects(StringRef FunctionName, bool Defined) const {
  Asked.PointerEffects.insert({FunctionName.str(), Defined});
  return relock::pointerEffects(FunctionName, Defined, Linked.Project);
}

bool ProgramView::acceptsFunctionName() const { return relock::acceptsFunctionName(Linked); }

bool ProgramView::evaluatesBefore(StringRef Macro) const {
  return Linked.Project.Macros.count(Macro) != 0;
}

std::optional<ClassOfLock> ProgramView::classOf(const std::string &LockNode) const {
  Asked.Locks.insert(LockNode);
  return relock::classOf(Linked, LockNode);
}

} // namespace relock
