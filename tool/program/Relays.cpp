// SPDX-License-Identifier: MIT
#include "program/Relays.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <set>

using namespace llvm;

namespace relock {

// `&$->lock` of an argument `&$->queue` is `&$->queue.lock`.
static std::string put(StringRef Argument, StringRef Expression) {
  size_t At = Expression.find('$');
  if (At == StringRef::npos)
    return Expression.str();
  StringRef Before = Expression.take_front(At), After = Expression.substr(At + 1);
  bool Path =
      all_of(Argument, [](char C) { return isAlnum(C) || StringRef("_$@.->").contains(C); });
  if (StringRef Object = Argument; Object.consume_front("&") && After.consume_front("->"))
    return (Before + Object + "." + After).str();
  if (Path || Expression == "$")
    return (Before + Argument + After).str();
  return (Before + "(" + Argument + ")" + After).str();
}

// Gives an operand of the inner wrapper the terms of the outer one's callers.
static bool pass(const Relay &R, int &Parameter, std::string &Variable, std::string &Expression,
                 std::string *Key, Wrapper *Lock) {
  if (Parameter < 0)
    return true; // a global one: it is the same everywhere
  if (size_t(Parameter) >= R.Arguments.size())
    return false;
  const RelayedArgument &Argument = R.Arguments[Parameter];
  if (Argument.Operand.Expression.empty())
    return false;
  const bool Looks = StringRef(Expression).contains("$->");
  Expression = put(Argument.Operand.Expression, Expression);
  if (Key)
    *Key = put(Argument.Operand.Expression, *Key);
  if (Lock) {
    append_range(Lock->Loads, Argument.Loads);
    Lock->LoadsUnknown |= Argument.LoadsUnknown;
    Lock->Elsewhere |= Argument.Opaque && Looks;
  }
  Parameter = Argument.Operand.Parameter;
  Variable = Argument.Operand.Variable;
  return true;
}

// What a companion of the relay does, if the wrapper that it calls does no more than its operation.
static std::optional<WrapperBody> bodyOf(const Relay &R, const Wrapper &Inner) {
  std::optional<WrapperBody> Body = Inner.Kind == Operation::Lock     ? R.AsLock
                                    : Inner.Kind == Operation::Unlock ? R.AsUnlock
                                                                      : std::nullopt;
  if (!Body || !Inner.Pure || Inner.Result != 0)
    return std::nullopt;
  Body->Tests |= Inner.Tests;
  if (Inner.Kind == Operation::Lock)
    Body->Lock = Inner.Parameter < 0 ? Inner.Expression
                                     : put(R.Arguments[Inner.Parameter].Text, Inner.Expression);
  return Body;
}

// The relay finds the lock in a way that its callers cannot name.
static bool findsLock(const Relay &R, const Wrapper &Inner) {
  if (Inner.Kind == Operation::Wait || Inner.Parameter < 0 ||
      size_t(Inner.Parameter) >= R.Arguments.size())
    return false;
  const RelayedArgument &Argument = R.Arguments[Inner.Parameter];
  return Argument.Operand.Expression.empty() && !Argument.Key.empty();
}

static std::optional<Wrapper> wrap(const Relay &R, const Wrapper &Inner, StringRef Lock) {
  if (Inner.Computed || (Inner.Kind == Operation::Wait && !R.Pure))
    return std::nullopt;
  Wrapper Outer = Inner;
  static_cast<WrapperPlace &>(Outer) = R;
  Outer.Through = R.Callee;
  Outer.Body.reset(); // that is of the inner one
  Outer.Unclear |= Inner.Unclear;
  if (Outer.Configuration.empty())
    Outer.Configuration = Inner.Configuration;
  else if (!Inner.Configuration.empty() && Inner.Configuration != Outer.Configuration)
    Outer.Configuration += " && " + Inner.Configuration;
  Outer.Alternative &= Inner.Alternative || !varies(Inner);
  if (!Lock.empty())
    Outer.Node = Lock;
  // What it does was asked for a result of 0.
  const bool Ignores = R.Value == Relay::Ignored && !R.Tests;
  Outer.Pure &= R.Pure && (Inner.Result == 0 || Ignores || R.Value == Relay::Returned);
  Outer.Result = Ignores ? 0 : Inner.Result;
  Outer.Tests |= R.Tests;
  Outer.Guarded |= R.Guarded;
  Outer.Perhaps |= R.Perhaps;
  Outer.Aborts |= R.Aborts;
  Outer.Elsewhere |= Inner.Parameter < 0 && Inner.Begin.File != R.Begin.File;
  if (findsLock(R, Inner)) {
    const RelayedArgument &Argument = R.Arguments[Inner.Parameter];
    Outer.Computed = true;
    Outer.Pure = false;
    Outer.Key = Argument.Key + "|" + Inner.Key;
    Outer.Expression = put(Argument.Text, Inner.Expression);
    Outer.Parameter = -1;
    return Outer;
  }
  if (!pass(R, Outer.Parameter, Outer.Variable, Outer.Expression, &Outer.Key, &Outer))
    return std::nullopt;
  append_range(Outer.Loads, R.Loads);
  Outer.Body = bodyOf(R, Inner);
  for (std::optional<WrapperOperand> *Operand : {&Outer.Condition, &Outer.Deadline})
    if (*Operand && !pass(R, (*Operand)->Parameter, (*Operand)->Variable, (*Operand)->Expression,
                          nullptr, nullptr))
      return std::nullopt;
  return Outer;
}

// The locks that functions give to others, by the two functions.
using LocksGiven = std::map<std::pair<std::string, std::string>, std::vector<const LockCall *>>;

// The lock that a relay gives to what it calls; empty: it is found there. Nothing: it may be
// several.
static std::optional<std::string> lockGiven(const LocksGiven &Given, const std::string &Relay,
                                            const std::string &Callee, int Parameter) {
  auto Found = Given.find({Relay, Callee});
  if (Found == Given.end() || Parameter < 0)
    return "";
  std::optional<std::string> Lock;
  for (const LockCall *C : Found->second) {
    std::string Node = size_t(Parameter) < C->Nodes.size() ? C->Nodes[Parameter] : "";
    if (Lock && *Lock != Node)
      return std::nullopt;
    Lock = Node;
  }
  return Lock;
}

static void wrapAll(FunctionTable &Functions, const LocksGiven &Given) {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto &[Node, F] : Functions) {
      if (!F.Relays || F.Wraps || !F.Relays->Else.empty())
        continue;
      auto Inner = Functions.find(F.Relays->Callee);
      if (Inner == Functions.end() || !Inner->second.Wraps)
        continue;
      std::optional<std::string> Lock =
          lockGiven(Given, Node, F.Relays->Callee, Inner->second.Wraps->Parameter);
      if (!Lock)
        continue;
      F.Wraps = wrap(*F.Relays, *Inner->second.Wraps, *Lock);
      Changed |= bool(F.Wraps);
    }
  }
}

// A relay that does more may call another wrapper, whatever its name: it may release what it takes.
static bool callsOtherWrappers(const Function &F, const FunctionTable &Functions) {
  std::set<Position> Places; // several units may compile it
  for (const Call &C : F.Calls)
    if (auto Callee = Functions.find(C.Function);
        C.Function != F.Node && Callee != Functions.end() && Callee->second.Wraps)
      Places.insert(C.At);
  return Places.size() > 1;
}

namespace {

// Wrappers that may leave their operation out count as if they never did. This takes those away for
// which that would be wrong: a lock would count as released that is held.
class PerhapsUnlocked {
public:
  PerhapsUnlocked(FunctionTable &Functions, const LocksGiven &Given,
                  const std::vector<UnitFacts> &Units)
      : Functions(Functions), Given(Given) {
    for (const UnitFacts &Unit : Units)
      for (const Site &S : Unit.Sites)
        if (acquires(S.Kind))
          Takes[S.Function].insert(S.Node);
  }

  // A function that perhaps locks, in the end, is a wrapper if a caller also calls one that
  // unlocks, and the other way round. One that perhaps unlocks is none if a caller takes the lock
  // in any case: that may hold it still.
  void drop() {
    std::set<std::string> Paired, Held;
    for (const auto &[Node, F] : Functions) {
      std::set<std::string> Taken = Takes[Node]; // by the node, or by the way they are found
      bool Locks = false, Unlocks = false;
      eachWrapper(F, [&](const std::string &, const Wrapper &W) {
        (W.Kind == Operation::Lock ? Locks : Unlocks) = true;
      });
      eachWrapper(F, [&](const std::string &Callee, const Wrapper &W) {
        if (Locks && Unlocks)
          Paired.insert(Callee);
        if (W.Kind == Operation::Lock && !W.Guarded)
          for (const std::string &Lock : locksGiven(Node, Callee, W))
            Taken.insert(Lock);
      });
      eachWrapper(F, [&](const std::string &Callee, const Wrapper &W) {
        if (W.Kind == Operation::Unlock && W.Guarded)
          for (const std::string &Lock : locksGiven(Node, Callee, W))
            if (Taken.count(Lock))
              Held.insert(Callee);
      });
    }
    for (auto &[Node, F] : Functions)
      if (F.Wraps && ((F.Wraps->Perhaps && !Paired.count(Node)) || Held.count(Node)))
        F.Wraps.reset();
  }

private:
  FunctionTable &Functions;
  const LocksGiven &Given;
  std::map<std::string, std::set<std::string>> Takes; // mutexes, by function

  void eachWrapper(const Function &F,
                   function_ref<void(const std::string &, const Wrapper &)> Visit) const {
    for (const Call &C : F.Calls)
      if (auto Callee = Functions.find(C.Function);
          Callee != Functions.end() && Callee->second.Wraps)
        Visit(C.Function, *Callee->second.Wraps);
  }

  std::set<std::string> locksGiven(const std::string &Caller, const std::string &Callee,
                                   const Wrapper &W) const {
    std::set<std::string> Result;
    auto Found = Given.find({Caller, Callee});
    if (W.Computed) // who takes it by its name has not taken that one
      return {W.Key};
    if (W.Parameter >= 0 && Found != Given.end())
      for (const LockCall *C : Found->second)
        if (size_t(W.Parameter) < C->Nodes.size() && !C->Nodes[W.Parameter].empty())
          Result.insert(C->Nodes[W.Parameter]);
    if (Result.empty())
      Result.insert(W.Node);
    return Result;
  }
};

} // namespace

void wrapRelays(FunctionTable &Functions, const std::vector<UnitFacts> &Units) {
  LocksGiven Given;
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls)
      Given[{C.Function, C.Callee}].push_back(&C);
  for (bool Again = true; Again;) {
    Again = false;
    wrapAll(Functions, Given);
    for (auto &[Node, F] : Functions)
      if (F.Wraps && F.Relays && !F.Relays->Pure && callsOtherWrappers(F, Functions)) {
        F.Relays.reset();
        Again = true;
      }
    if (Again) // what was found through those counts no more
      for (auto &[Node, F] : Functions)
        if (F.Wraps && !F.Wraps->Through.empty())
          F.Wraps.reset();
  }
  PerhapsUnlocked(Functions, Given, Units).drop();
}

// The name by which F calls Callee.
static StringRef nameIn(const Function &F, StringRef Callee) {
  auto Found = find_if(F.Calls, [&](const Call &C) { return C.Function == Callee; });
  return Found == F.Calls.end() ? StringRef() : StringRef(Found->Name);
}

using OtherOperators = std::map<std::string, OtherOperator>;

// True if the two do the same with the same lock: one takes it for reading, perhaps.
static bool isLike(const OtherOperator &A, const std::optional<OtherOperator> &B) {
  return B && A.Does.Kind == B->Does.Kind && A.Does.Type == B->Does.Type &&
         A.Does.Argument == B->Does.Argument && A.Expression == B->Expression &&
         A.Variable == B->Variable && A.Part == B->Part && A.Tells == B->Tells;
}

static std::optional<OtherOperator> relayed(const Function &F, const OtherOperators &Relays,
                                            const ProjectFile &Project) {
  // Nobody follows a call through a pointer to what it takes or releases.
  if (!F.Relays || F.Wraps || F.AddressTaken || Project.otherLock(F.Name))
    return std::nullopt;
  const Relay &R = *F.Relays;
  // Where it may fail, the callers have to see the result as the operation gives it.
  if (R.Value == Relay::Used)
    return std::nullopt;
  auto Of = [&](const std::string &Callee) -> std::optional<OtherOperator> {
    if (auto Inner = Relays.find(Callee); Inner != Relays.end())
      return Inner->second;
    std::optional<OtherLock> Known = Project.otherLock(nameIn(F, Callee));
    return Known ? std::optional(OtherOperator{*Known}) : std::nullopt;
  };
  std::optional<OtherOperator> Found = Of(R.Callee);
  if (!Found || (!R.Else.empty() && !isLike(*Found, Of(R.Else))))
    return std::nullopt;
  OtherOperator &Does = *Found;
  if (Does.Does.Executes ||
      (Does.Does.Kind != Operation::Lock && Does.Does.Kind != Operation::Unlock))
    return std::nullopt;
  Does.Tells &= R.Value == Relay::Returned;
  if (!Does.ofArgument())
    return Does;
  if (Does.Does.Argument >= R.Arguments.size())
    return std::nullopt;
  const RelayedArgument &Given = R.Arguments[Does.Does.Argument];
  const WrapperOperand &Lock = Given.Operand;
  if (Given.Changed || Lock.Expression.empty() || (Lock.Parameter < 0 && Lock.Variable.empty()))
    return std::nullopt;
  if (Does.Expression == "$" && Lock.Expression != "$")
    Does.Part = Given.Part;
  Does.Expression = put(Lock.Expression, Does.Expression);
  Does.Variable = Lock.Variable;
  Does.Does.Argument = Lock.Parameter < 0 ? 0 : Lock.Parameter;
  return Does;
}

// True if F performs one operation on such a lock, and not another one that may undo it.
static bool operatesOnce(const Function &F, const OtherOperators &Relays,
                         const ProjectFile &Project) {
  std::set<Position> Places; // several units may compile it
  for (const Call &C : F.Calls)
    if (Relays.count(C.Function) || Project.otherLock(C.Name))
      Places.insert(C.At);
  return Places.size() == (F.Relays && !F.Relays->Else.empty() ? 2 : 1);
}

OtherOperators relaysOfOtherLocks(const FunctionTable &Functions, const ProjectFile &Project) {
  OtherOperators Result;
  std::set<std::string> Not;
  for (bool Again = true; Again;) {
    Again = false;
    Result.clear();
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const auto &[Node, F] : Functions)
        if (!Result.count(Node) && !Not.count(Node))
          if (std::optional<OtherOperator> Does = relayed(F, Result, Project))
            Changed = Result.emplace(Node, *Does).second;
    }
    for (const auto &[Node, Does] : Result)
      if (!operatesOnce(Functions.at(Node), Result, Project))
        Again |= Not.insert(Node).second; // and what was found through it
  }
  return Result;
}

} // namespace relock
