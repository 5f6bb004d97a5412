// SPDX-License-Identifier: MIT
#include "program/Effects.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {

namespace {

// The effects of a function of the program as the project file declares them.
Effects declaredEffects(StringRef Name, const DeclaredFunction &Declared) {
  Effects Result;
  Result.Identity = Declared.Effect != FunctionEffect::Plain;
  auto Refuse = [&](StringRef Code, StringRef Text) {
    Result.Waits = Declared.Effect != FunctionEffect::Thread;
    Result.Refuse = Reason{
        Code.str(), ("'" + Name + "' " + Text + ", as the project file says").str(), Declared.At};
  };
  switch (Declared.Effect) {
  case FunctionEffect::Plain:
  case FunctionEffect::Identity:
  case FunctionEffect::Ends:
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
    Result.Unknown = true;
    break;
  }
  return Result;
}

// A clock that only the caller knows: whoever gives it to the function that asks for its time
// counts that, see recordClocks(). That goes for all its callers where none has its address.
constexpr StringRef OfCaller = "caller-clock_gettime";

bool isCountedByCallers(const Function &F, const Call &C) {
  return C.Name == OfCaller && !F.AddressTaken;
}

// False for a clock that is given to a function which does not ask for its time, nor hands it on.
bool isAskedFor(const Call &C, const Program &Linked) {
  StringRef Node = C.Function;
  if (!Node.consume_back("#clock"))
    return true;
  auto AsksItself = [&](StringRef Node) {
    auto F = Linked.Functions.find(Node);
    return F != Linked.Functions.end() &&
           any_of(F->second.Calls, [](const Call &C) { return C.Name == OfCaller; });
  };
  auto F = Linked.Functions.find(Node);
  return AsksItself(Node) || // or by another name of a function
         (F != Linked.Functions.end() &&
          any_of(F->second.Calls, [&](const Call &C) { return AsksItself(C.Function); }));
}

// The effects of a function that the program does not define.
Effects externalEffects(const Call &C, const Program &Linked, const ProjectFile &Project) {
  if (!isAskedFor(C, Linked))
    return {};
  const DeclaredFunction *Declared = declarationOf(C.Name, /*Defined=*/false, Project);
  auto Namesake = Linked.Namesakes.find(C.Function);
  const LibraryFunction *Library =
      Namesake == Linked.Namesakes.end() ? libraryFunction(C.Name) : nullptr;
  FunctionEffect Effect = Declared  ? Declared->Effect
                          : Library ? Library->Effect
                                    : FunctionEffect::Unknown;
  Effects Result;
  Result.Identity = Effect != FunctionEffect::Plain && Effect != FunctionEffect::Thread;
  Result.Waits =
      Result.Identity && Effect != FunctionEffect::Identity && Effect != FunctionEffect::Ends;
  Result.Cancels = !Declared && Library && Library->CancelPoint;
  switch (Effect) {
  case FunctionEffect::Plain:
  case FunctionEffect::Identity:
  case FunctionEffect::Ends:
    break;
  case FunctionEffect::Thread: {
    if (C.Ends) { // as findPanics()
      Result.Identity = true;
      break;
    }
    StringRef Name = plainName(C.Name);
    Name.consume_front("thread-"), Name.consume_front("caller-");
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
    Result.Unknown = true;
    break;
  }
  if (!Declared && Namesake != Linked.Namesakes.end())
    Result.Refuse->Way = {{"'" + C.Name + "' is declared here, and not by the C library's headers",
                           Namesake->second}};
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
  bool Other = Defined || libraryFunction(Name);
  return Other ? nullptr : Project.prefixOf(Plain);
}

EffectTable::EffectTable(const Program &Linked, const ProjectFile &Project)
    : Linked(Linked), Project(Project), Calls(Linked) {
  findPanics();
  addOwnEffects();
  addLocksOfDeclared();
  addRefusals();
  climb(&Effects::Identity, /*ThroughWrappers=*/false);
  climb(&Effects::Waits, /*ThroughWrappers=*/true);
  climb(&Effects::Unknown, /*ThroughWrappers=*/true);
  climb(&Effects::Cancels, /*ThroughWrappers=*/true);
  climb(&Effects::Float, /*ThroughWrappers=*/true);
  Waits.emplace(Calls.reach(std::move(OwnWaits), /*ThroughWrappers=*/true, Declared));
}

// Who runs a function that ends the process, and whether it can be cancelled, matters to nobody:
// none goes on behind it. It does matter if the function waits, perhaps for one that waits for this
// thread, or may jump away before.
void EffectTable::findPanics() {
  for (const auto &[Node, F] : Linked.Functions)
    if (const DeclaredFunction *D =
            F.Defined ? declarationOf(F.Name, /*Defined=*/true, Project) : nullptr)
      if (D->Effect == FunctionEffect::Ends)
        Ending.insert(Node);
  Declared = Ending;
  auto Matters = [&](const Call &C) {
    if (Linked.isDefined(C.Function) || Linked.wrapperOf(C.Function))
      return false;
    Effects E = externalEffects(C, Linked, Project);
    return E.Refuse && E.Refuse->Code != "kernel-thread";
  };
  WayEnds Mattering;
  for (const auto &[Node, F] : Linked.Functions)
    if (F.Waits || !F.IndirectCalls.empty() || any_of(F.Calls, Matters))
      Mattering[Node];
  const Reach Others = Calls.reach(std::move(Mattering), /*ThroughWrappers=*/true);
  for (bool More = true; More;) {
    More = false;
    for (const auto &[Node, F] : Linked.Functions)
      if (F.Defined && !Others.has(Node) && (F.EndsProcess || Declared.count(F.LastCallee)))
        More |= Declared.insert(Node).second;
  }
}

// What each function does itself, or by calling what the program does not define.
void EffectTable::addOwnEffects() {
  for (const auto &[Node, F] : Linked.Functions) {
    if (!isFollowed(F))
      continue;
    Effects &Own = Known[Node];
    const DeclaredFunction *D =
        F.Defined ? declarationOf(F.Name, /*Defined=*/true, Project) : nullptr;
    if (D) {
      Own = declaredEffects(F.Name, *D);
      Own.Float = true; // of that the file says nothing
      if (Own.Waits)
        OwnWaits[Node] = {{Own.Refuse->Message, Own.Refuse->At}};
      Declared.insert(Node);
      continue;
    }
    if (Declared.count(Node)) {
      Own.Identity = true;
      continue;
    }
    // A lock that it takes may be recursive: its owner must be the caller.
    Own.Identity = !F.IdentityUses.empty() || F.TakesLocks;
    Own.Waits = F.Waits || !F.IndirectCalls.empty();
    Own.Unknown = !F.IndirectCalls.empty();
    Own.Float = F.UsesFloat;
    auto Place = Linked.WaitPlaces.find(Node);
    if (F.Waits)
      Own.Refuse = Reason{"may-block", "'" + F.Name + "' waits on a condition variable",
                          Place == Linked.WaitPlaces.end() ? F.At : Place->second};
    else if (!F.IndirectCalls.empty())
      Own.Refuse =
          Reason{"indirect-call", "'" + F.Name + "' calls through a pointer, which is not followed",
                 F.IndirectCalls.front().At};
    if (Own.Waits)
      OwnWaits[Node] = {{Own.Refuse->Message, Own.Refuse->At}};
    addCalls(F, Own);
  }
}

// Adds the effects of what a function calls that the program does not define, and of lock wrappers.
void EffectTable::addCalls(const Function &F, Effects &Own) {
  for (const Call &C : F.Calls) {
    const Wrapper *Wraps = Linked.wrapperOf(C.Function);
    if (Wraps && Wraps->Kind != Operation::Wait) {
      Own.Identity = true; // a lock operation
      continue;
    }
    if (Linked.isDefined(C.Function) || isCountedByCallers(F, C))
      continue;
    Effects E = externalEffects(C, Linked, Project);
    Own.Identity |= E.Identity;
    Own.Waits |= E.Waits;
    Own.Unknown |= E.Unknown;
    Own.Cancels |= E.Cancels;
    if (!E.Refuse)
      continue;
    E.Refuse->Message = "'" + F.Name + "' " + E.Refuse->Message;
    if (E.Waits) {
      std::vector<Step> Way = {{E.Refuse->Message, C.At}};
      if (!E.Refuse->Way.empty()) { // declared: that says why
        OwnWaits.try_emplace(C.Function, E.Refuse->Way);
        Way = {{"'" + F.Name + "' calls '" + C.Name + "'", C.At}};
        append_range(Way, E.Refuse->Way);
      }
      OwnWaits.try_emplace(F.Node, std::move(Way));
    }
    if (!Own.Refuse)
      Own.Refuse = std::move(E.Refuse);
  }
}

Reach EffectTable::reach(WayEnds Ends, bool ThroughWrappers) const {
  for (const std::string &Node : Ending)
    Ends.erase(Node);
  return Calls.reach(std::move(Ends), ThroughWrappers, Ending);
}

// A lock needs its owner, whatever the project file says of the functions above it.
void EffectTable::addLocksOfDeclared() {
  if (Declared.empty())
    return;
  WayEnds Takers;
  for (const auto &[Node, F] : Linked.Functions)
    if (F.TakesLocks ||
        any_of(F.Calls, [&](const Call &C) { return Linked.wrapperOf(C.Function); }))
      Takers[Node];
  const Reach Locking = Calls.reach(std::move(Takers));
  for (const std::string &Node : Declared)
    if (Locking.has(Node))
      Known[Node].Identity = true;
}

// Gives each function the nearest refusal below it, so that the message names the shortest way.
void EffectTable::addRefusals() {
  WayEnds Own;
  for (const auto &[Node, E] : Known)
    if (E.Refuse) {
      Own[Node] = {{E.Refuse->Message, E.Refuse->At}};
      append_range(Own[Node], E.Refuse->Way);
    }
  Refusals.emplace(Calls.reach(std::move(Own), /*ThroughWrappers=*/true, Declared));
  Refusals->each([&](const std::string &Node) {
    const Call *Next = Refusals->next(Node);
    if (!Next)
      return;
    Reason Inherited = *Known.at(Next->Function).Refuse;
    Inherited.Message = "'" + Linked.Functions.at(Node).Name + "' calls " + Inherited.Message;
    Known[Node].Refuse = std::move(Inherited);
  });
}

// Whoever reaches a function with an effect has it; of a declared function only the file speaks.
void EffectTable::climb(bool Effects::*Effect, bool ThroughWrappers) {
  WayEnds Own;
  for (const auto &[Node, E] : Known)
    if (E.*Effect)
      Own[Node];
  Calls.reach(std::move(Own), ThroughWrappers, Declared).each([&](const std::string &Node) {
    Known[Node].*Effect = true;
  });
}

Effects EffectTable::of(const Call &C) const {
  Effects Result = itself(C);
  auto Found = Known.find(C.Function);
  if (Found == Known.end() || Linked.isDefined(C.Function))
    return Result;
  Result.Identity |= Found->second.Identity;
  Result.Waits |= Found->second.Waits;
  Result.Unknown |= Found->second.Unknown;
  Result.Cancels |= Found->second.Cancels;
  Result.Float |= Found->second.Float;
  if (!Result.Refuse)
    Result.Refuse = Found->second.Refuse;
  return Result;
}

Effects EffectTable::itself(const Call &C) const {
  auto Found = Known.find(C.Function);
  return Linked.isDefined(C.Function) && Found != Known.end() ? Found->second
                                                              : externalEffects(C, Linked, Project);
}

std::vector<Step> EffectTable::wayToRefusal(const Call &C) const {
  Effects Found = itself(C);
  if (Known.count(C.Function) && (Linked.isDefined(C.Function) || !Found.Refuse))
    return Known.at(C.Function).Refuse ? Refusals->way(C) : std::vector<Step>();
  if (!Found.Refuse || Found.Refuse->Way.empty())
    return {};
  std::vector<Step> Steps = Refusals->way(C); // the call itself
  append_range(Steps, Found.Refuse->Way);
  return Steps;
}

} // namespace relock
