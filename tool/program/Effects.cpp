// SPDX-License-Identifier: MIT
#include "program/Effects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>

using namespace llvm;

namespace relock {

StringRef plainName(StringRef Name) {
  if (Name.consume_front("__builtin_"))
    Name.consume_back("_chk"), Name.consume_front("__");
  return Name;
}

namespace {

const StringMap<FunctionEffect> &library() {
  static const StringMap<FunctionEffect> Table = [] {
    StringMap<FunctionEffect> Names;
    auto Add = [&](StringRef List, FunctionEffect Effect) {
      SmallVector<StringRef, 64> Words;
      List.split(Words, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef Word : Words)
        Names[Word] = Effect;
    };
#define PLAIN(LIST) Add(LIST, FunctionEffect::Plain);
#define IDENTITY(LIST) Add(LIST, FunctionEffect::Identity);
#define KERNEL(LIST) Add(LIST, FunctionEffect::Thread);
#define BLOCKS(LIST) Add(LIST, FunctionEffect::Blocks);
#define JUMPS(LIST) Add(LIST, FunctionEffect::Jumps);
#define CANCELS(LIST)
#include "program/LibraryEffects.def"
    return Names;
  }();
  return Table;
}

// The library functions that touch their thread, return soon, and may be cancellation points.
const StringSet<> &cancellationPoints() {
  static const StringSet<> Names = [] {
    StringSet<> Result;
    for (StringRef List : {
#define PLAIN(LIST)
#define IDENTITY(LIST)
#define KERNEL(LIST)
#define BLOCKS(LIST)
#define JUMPS(LIST)
#define CANCELS(LIST) StringRef(LIST),
#include "program/LibraryEffects.def"
         }) {
      SmallVector<StringRef, 64> Words;
      List.split(Words, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef Word : Words)
        Result.insert(Word);
    }
    return Result;
  }();
  return Names;
}

// Compiler builtins compute; the few that do more are refused where a section contains them.
bool isBuiltin(StringRef Name) {
  return Name.starts_with("__builtin_") || Name.starts_with("__sync_") ||
         Name.starts_with("__atomic_") || Name.starts_with("__c11_");
}

FunctionEffect libraryEffect(StringRef Name) {
  auto Found = library().find(plainName(Name));
  if (Found != library().end())
    return Found->second;
  return isBuiltin(Name) ? FunctionEffect::Identity : FunctionEffect::Unknown;
}

// The effects of a function of the program as the project file declares them.
Effects declaredEffects(StringRef Name, const DeclaredFunction &Declared) {
  Effects Result;
  Result.Identity = Result.Cancels = Declared.Effect != FunctionEffect::Plain;
  auto Refuse = [&](StringRef Code, StringRef Text) {
    Result.Waits = Declared.Effect != FunctionEffect::Thread;
    Result.Refuse = Reason{
        Code.str(), ("'" + Name + "' " + Text + ", as the project file says").str(), Declared.At};
  };
  switch (Declared.Effect) {
  case FunctionEffect::Plain:
  case FunctionEffect::Identity:
    break;
  case FunctionEffect::Thread:
    Refuse("kernel-thread", "is about the thread that runs it");
    break;
  case FunctionEffect::Blocks:
    Refuse("may-block", "may block");
    break;
  case FunctionEffect::Jumps:
    Refuse("jumps", "may not return");
    break;
  case FunctionEffect::Unknown:
    Refuse("unknown-callee", "is unknown");
    break;
  }
  return Result;
}

// The effects of a function that the program does not define.
Effects externalEffects(const Call &C, const ProjectFile &Project) {
  const DeclaredFunction *Declared = declarationOf(C.Name, /*Defined=*/false, Project);
  FunctionEffect Effect = Declared ? Declared->Effect : libraryEffect(C.Name);
  Effects Result;
  Result.Identity = Effect != FunctionEffect::Plain && Effect != FunctionEffect::Thread;
  Result.Waits = Result.Identity && Effect != FunctionEffect::Identity;
  Result.Cancels = Effect == FunctionEffect::Identity
                       ? Declared || cancellationPoints().contains(plainName(C.Name))
                       : Effect != FunctionEffect::Plain;
  switch (Effect) {
  case FunctionEffect::Plain:
  case FunctionEffect::Identity:
    break;
  case FunctionEffect::Thread: {
    StringRef Name = plainName(C.Name);
    Name.consume_front("thread-");
    Result.Refuse =
        Reason{"kernel-thread",
               "calls '" + Name.str() + "', which is about the thread that runs it", C.At};
    break;
  }
  case FunctionEffect::Blocks:
    Result.Refuse = Reason{"may-block", "calls '" + C.Name + "', which may block", C.At};
    break;
  case FunctionEffect::Jumps:
    Result.Refuse = Reason{"jumps", "calls '" + C.Name + "', which may not return to it", C.At};
    break;
  case FunctionEffect::Unknown:
    Result.Refuse =
        Reason{"unknown-callee", "calls '" + C.Name + "', which is not in the program", C.At};
    break;
  }
  if (Declared && Result.Refuse) {
    Effects Says = declaredEffects(C.Name, *Declared);
    Result.Refuse->Way = {{Says.Refuse->Message, Says.Refuse->At}};
  }
  return Result;
}

} // namespace

const DeclaredFunction *declarationOf(StringRef Name, bool Defined, const ProjectFile &Project) {
  StringRef Plain = plainName(Name);
  // A function of the program is not the library's of that name.
  if (const DeclaredFunction *Named = Project.named(Plain);
      Named && !(Defined && !Named->Library.empty()))
    return Named;
  bool Other = Defined || libraryEffect(Name) != FunctionEffect::Unknown;
  return Other ? nullptr : Project.prefixOf(Plain);
}

EffectTable::EffectTable(const Program &Linked, const ProjectFile &Project)
    : Linked(Linked), Project(Project) {
  addOwnEffects();
  addLocksOfDeclared();
  std::set<std::string> Identity, Waiting, Cancels;
  for (const auto &[Node, E] : Known) {
    if (E.Cancels)
      Cancels.insert(Node);
    if (E.Identity)
      Identity.insert(Node);
    if (E.Waits)
      Waiting.insert(Node);
  }
  for (const std::string &Node : climb(Identity, /*ThroughWrappers=*/false, Declared))
    Known[Node].Identity = true;
  for (const std::string &Node : climb(Waiting, /*ThroughWrappers=*/true, Declared))
    Known[Node].Waits = true;
  for (const std::string &Node : climb(Cancels, /*ThroughWrappers=*/true, Declared))
    Known[Node].Cancels = true;
  propagateRefusals();
}

// What each function does itself, or by calling what the program does not define.
void EffectTable::addOwnEffects() {
  for (const auto &[Node, F] : Linked.Functions) {
    if (!F.Defined)
      continue;
    Effects &Own = Known[Node];
    if (const DeclaredFunction *D = declarationOf(F.Name, /*Defined=*/true, Project)) {
      Own = declaredEffects(F.Name, *D);
      if (Own.Waits)
        Waits[Node] = {Own.Refuse->Message, Own.Refuse->At};
      Declared.insert(Node);
      addCalls(F, Own, /*Declared=*/true);
      continue;
    }
    // A lock that it takes may be recursive: its owner must be the caller.
    Own.Identity = !F.IdentityUses.empty() || F.TakesLocks;
    Own.Waits = Own.Cancels = F.Waits || !F.IndirectCalls.empty();
    auto Place = Linked.WaitPlaces.find(Node);
    if (F.Waits)
      Own.Refuse = Reason{"may-block", "'" + F.Name + "' waits on a condition variable",
                          Place == Linked.WaitPlaces.end() ? F.At : Place->second};
    else if (!F.IndirectCalls.empty())
      Own.Refuse =
          Reason{"indirect-call", "'" + F.Name + "' calls through a pointer, which is not followed",
                 F.IndirectCalls.front().At};
    if (Own.Waits)
      Waits[Node] = {Own.Refuse->Message, Own.Refuse->At};
    addCalls(F, Own, /*Declared=*/false);
  }
}

// Adds the calls of a function to the graph and, unless it is declared, their effects to its own.
void EffectTable::addCalls(const Function &F, Effects &Own, bool Declared) {
  for (const Call &C : F.Calls) {
    const Wrapper *Wraps = Linked.wrapperOf(C.Function);
    if (Wraps && Wraps->Kind != Operation::Wait) {
      Own.Identity |= !Declared; // a lock operation
      if (!Wraps->Pure)
        WrapperCallers[C.Function].push_back(F.Node);
      continue;
    }
    if (Linked.isDefined(C.Function))
      Callers[C.Function].push_back(F.Node);
    if (Declared || Linked.isDefined(C.Function))
      continue;
    Effects E = externalEffects(C, Project);
    Own.Identity |= E.Identity;
    Own.Waits |= E.Waits;
    Own.Cancels |= E.Cancels;
    if (!E.Refuse)
      continue;
    E.Refuse->Message = "'" + F.Name + "' " + E.Refuse->Message;
    if (E.Waits && E.Refuse->Way.empty())
      Waits.try_emplace(F.Node, Step{E.Refuse->Message, C.At});
    else if (E.Waits)
      Waits.try_emplace(C.Function, E.Refuse->Way.front());
    if (!Own.Refuse)
      Own.Refuse = std::move(E.Refuse);
  }
}

// A lock needs its owner, whatever the project file says of the functions above it.
void EffectTable::addLocksOfDeclared() {
  if (Declared.empty())
    return;
  std::set<std::string> Takers;
  for (const auto &[Node, F] : Linked.Functions)
    if (F.TakesLocks ||
        any_of(F.Calls, [&](const Call &C) { return Linked.wrapperOf(C.Function); }))
      Takers.insert(Node);
  for (const std::string &Node : reaching(Takers))
    if (Declared.count(Node))
      Known[Node].Identity = true;
}

// Gives each function the nearest refusal below it, so that the message names the shortest way.
void EffectTable::propagateRefusals() {
  std::set<std::string> Level;
  for (const auto &[Node, E] : Known)
    if (E.Refuse)
      Level.insert(Node);
  while (!Level.empty()) {
    std::set<std::string> Next;
    for (const std::string &Node : Level)
      for (CallGraph *Graph : {&Callers, &WrapperCallers})
        for (const std::string &Caller : (*Graph)[Node])
          if (!Known[Caller].Refuse && !Declared.count(Caller))
            Next.insert(Caller);
    for (const std::string &Node : Next) {
      const Function &F = Linked.Functions.at(Node);
      auto First = find_if(F.Calls, [&](const Call &C) { return Level.count(C.Function) != 0; });
      Reason Inherited = *Known[First->Function].Refuse;
      Inherited.Message = "'" + F.Name + "' calls " + Inherited.Message;
      Known[Node].Refuse = std::move(Inherited);
      this->Next.emplace(Node, *First);
    }
    Level = std::move(Next);
  }
}

Effects EffectTable::of(const Call &C) const {
  auto Found = Known.find(C.Function);
  return Found == Known.end() ? externalEffects(C, Project) : Found->second;
}

std::set<std::string> EffectTable::reaching(const std::map<std::string, Step> &Targets,
                                            bool ThroughWrappers) const {
  auto Nodes = make_first_range(Targets);
  return reaching(std::set<std::string>(Nodes.begin(), Nodes.end()), ThroughWrappers);
}

std::set<std::string> EffectTable::reaching(const std::set<std::string> &Targets,
                                            bool ThroughWrappers) const {
  return climb(Targets, ThroughWrappers, {});
}

// Targets and those above them, up to but without the functions of Stop.
std::set<std::string> EffectTable::climb(const std::set<std::string> &Targets, bool ThroughWrappers,
                                         const std::set<std::string> &Stop) const {
  std::set<std::string> Seen;
  SmallVector<std::string, 16> Open(Targets.begin(), Targets.end());
  auto Follow = [&](const CallGraph &Graph, const std::string &Callee) {
    if (auto Found = Graph.find(Callee); Found != Graph.end())
      copy_if(Found->second, std::back_inserter(Open),
              [&](const std::string &Caller) { return !Stop.count(Caller); });
  };
  while (!Open.empty()) {
    std::string Next = Open.pop_back_val();
    if (!Seen.insert(Next).second)
      continue;
    Follow(Callers, Next);
    if (ThroughWrappers)
      Follow(WrapperCallers, Next);
  }
  return Seen;
}

// --- Ways ---------------------------------------------------------------------------------------

// Caller: a node; empty: the section itself.
Step EffectTable::callStep(const std::string &Caller, const Call &C) const {
  auto From = Linked.Functions.find(Caller);
  auto To = Linked.Functions.find(C.Function);
  if (StringRef(Caller).starts_with("pointer:"))
    return {"which may point to '" + C.Name + "'",
            To == Linked.Functions.end() ? C.At : To->second.At};
  std::string Text = From == Linked.Functions.end() ? "" : "'" + From->second.Name + "' ";
  if (StringRef(C.Function).starts_with("pointer:"))
    return {Text + "calls through a " + C.Name, C.At};
  return {Text + "calls '" + C.Name + "'", C.At};
}

bool EffectTable::followed(const Call &C, bool ThroughWrappers) const {
  const Wrapper *Wraps = Linked.wrapperOf(C.Function);
  if (Wraps && Wraps->Kind != Operation::Wait)
    return ThroughWrappers && !Wraps->Pure;
  return Linked.isDefined(C.Function);
}

// A function of a library without a step of its own counts only where it is what is called: it does
// with its argument what the program's function above it tells of.
bool EffectTable::ends(const std::string &Node, const std::map<std::string, Step> &Targets) const {
  auto Found = Targets.find(Node);
  return Found != Targets.end() && (Linked.isDefined(Node) || !Found->second.Text.empty());
}

std::vector<Step> EffectTable::wayToRefusal(const Call &C) const {
  Effects Found = of(C);
  if (!Found.Refuse || (!Known.count(C.Function) && Found.Refuse->Way.empty()))
    return {};
  std::vector<Step> Steps = {callStep("", C)};
  std::string Node = C.Function;
  for (auto Further = Next.find(Node); Further != Next.end(); Further = Next.find(Node)) {
    Steps.push_back(callStep(Node, Further->second));
    Node = Further->second.Function;
  }
  if (auto Last = Known.find(Node); Last != Known.end())
    Steps.push_back({Last->second.Refuse->Message, Last->second.Refuse->At});
  append_range(Steps, Found.Refuse->Way);
  return Steps;
}

std::vector<Step> EffectTable::wayToWait(const Call &C) const {
  return way(C, Waits, /*ThroughWrappers=*/true, /*PastDeclared=*/false);
}

std::vector<Step> EffectTable::way(const Call &C, const std::map<std::string, Step> &Targets,
                                   bool ThroughWrappers, bool PastDeclared) const {
  std::map<std::string, std::pair<std::string, const Call *>> Before; // caller and call, by callee
  std::deque<std::string> Queue = {C.Function};
  Before[C.Function] = {"", &C};
  for (; !Queue.empty() && !Targets.count(Queue.front()); Queue.pop_front())
    if (auto Found = Linked.Functions.find(Queue.front());
        Found != Linked.Functions.end() && (PastDeclared || !isDeclared(Found->first)))
      for (const Call &Further : Found->second.Calls)
        if ((ends(Further.Function, Targets) || followed(Further, ThroughWrappers)) &&
            Before.try_emplace(Further.Function, Found->first, &Further).second)
          Queue.push_back(Further.Function);
  std::vector<Step> Steps;
  if (Queue.empty())
    return {callStep("", C)};
  if (const Step &Last = Targets.at(Queue.front()); !Last.Text.empty())
    Steps.push_back(Last);
  for (std::string Node = Queue.front();;) {
    auto [Caller, Through] = Before.at(Node);
    Steps.push_back(callStep(Caller, *Through));
    if (Caller.empty())
      break;
    Node = Caller;
  }
  std::reverse(Steps.begin(), Steps.end());
  return Steps;
}

} // namespace relock
