// SPDX-License-Identifier: MIT
//
// What delegation changes. A thread T that asks for A may be made to run others' sections of A
// before it goes on. If one of them takes B, T waits for B on behalf of its client X, and nobody
// does what T has yet to do: release a lock C that T held when it asked for A, say. Nothing else is
// new: X waits as it did, A is held as it was, and whoever queues for A has to wait for X's section
// in any case. (A server has nothing else to do; requests to its other locks withdraw from it.)
//
// Suppose that this closes a circle: B's holder waits, perhaps over several others, for T. Either
// for a lock C that T holds. Then somewhere A is taken under C, by T; B under A, by X; and C is
// waited for, over others, under B: the program takes these locks in a circular order. In the
// original that is no deadlock where the threads never meet there, for example because B's holder
// comes to its place only after T's section; so a circle cannot be excused. Or B's holder waits for
// something else that T has yet to do: post a semaphore, write to a pipe, end. So a section under A
// may take B only if no holder of B, of a lock that it may wait for, and so on, waits for A or for
// anything but locks. Otherwise B becomes free without T, and the new wait ends. By induction that
// holds for sections that take locks within locks, and for combiners within combiners.
//
// It does not matter whether the inner lock is taken as a plain operation or by another delegated
// section, in the section's text or in a callee: what is taken when is the same.
//
// Locks are told apart by class, and within a class by the field or variable that their struct lies
// in: `&q->next.lock` is not `&q->done.lock`. Readers-writer locks are one class, spinlocks
// another. A trylock does not wait. Two locks of one part may be taken in either order, so that
// such a section must hold. In a callee that is not asked: there the caller's own part is left to
// `releases-lock`.
#include "program/LockOrder.h"

#include "program/NodeNames.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace llvm;

namespace relock {

LockOrder::LockOrder(const Program &Linked, const EffectTable &Table, std::vector<UnderLock> Under,
                     const std::vector<LockUse> &Takes, const std::set<std::string> &Tried)
    : Linked(Linked), Table(Table), Tried(Tried) {
  collectOperators(Under);
  collectTakers(Takes);
  // The first place of several is told, if there is one where the lock is held for sure.
  sort(Under);
  std::stable_partition(Under.begin(), Under.end(), [](const UnderLock &U) { return U.Surely; });
  for (const UnderLock &Fact : Under)
    add(Fact);
}

std::string LockOrder::nameOf(const LockPart &Part) const {
  const LockClass *Class = Linked.classOf(Part.Node);
  return Class ? Class->Name : Part.Node;
}

LockOrder::Lock LockOrder::lockOf(const LockPart &Part) const {
  std::string Name = nameOf(Part);
  auto Same = Alias.find(Name);
  return Same == Alias.end() ? Lock(Name, Part.Part) : Lock(Same->second, "");
}

// A lock that is in no class has its type for a name. A part is the node of a declaration.
std::string LockOrder::shown(const Lock &L) const {
  bool IsClass = any_of(Linked.Classes, [&](const LockClass &C) { return C.Name == L.first; });
  StringRef Node = L.second;
  auto Others = Parts.find(L.first);
  const bool Told = Others != Parts.end() && Others->second.size() - Others->second.count("") > 1;
  if (Node.empty() || (IsClass && !Told))
    return L.first;
  if (isOfOneFile(Node))
    Node = Node.rsplit('@').first;
  auto [Record, Field] = Node.rsplit("@FI@");
  Record.consume_back("@S"); // an unnamed type: what is declared with it
  StringRef Name = Record.rsplit('@').second.split('~').first;
  return (IsClass ? L.first + " in " : "") + Name.str() + (Field.empty() ? "" : "." + Field.str());
}

// A declared operator may be a function of the program that takes locks of its own. Those that it
// keeps are, together, the lock that its callers hold: what it takes them for. They have one name.
void LockOrder::collectOperators(const std::vector<UnderLock> &Under) {
  for (const UnderLock &Fact : Under) {
    if (Fact.Does != UnderLock::Stays)
      continue;
    std::string A = nameOf(Fact.Held), B = nameOf(Fact.Taken);
    std::string NewA = Alias.emplace(A, A).first->second, NewB = Alias.emplace(B, B).first->second;
    for (auto &[Name, Common] : Alias)
      if (Common == NewA || Common == NewB)
        Common = std::min(NewA, NewB);
  }
  for (const auto &[Name, Operator] : Linked.Project.Operators) {
    if (!Operator.Shared)
      continue;
    LockPart Shared = {Operator.Does.Type, ""};
    Parts[lockOf(Shared).first].insert("");
    UnderLock Fact = {Shared, UnderLock::Shared, {}, {}, Operator.At, {}, {}};
    Unseen.try_emplace({lockOf(Shared), Fact.Does}, Fact);
    Open.try_emplace(lockOf(Shared), std::move(Fact));
  }
}

void LockOrder::collectTakers(const std::vector<LockUse> &Takes) {
  std::map<Lock, WayEnds> Own; // the functions that wait for it themselves
  for (const LockUse &Use : Takes) {
    Lock Taken = lockOf(Use.Lock);
    Parts[Taken.first].insert(Taken.second);
    std::vector<Step> How;
    if (!Use.Name.empty()) // else a library function, which the call names
      How = {{"'" + Use.Name + "' takes '" + shown(Taken) + "'", Use.At}};
    Own[Taken].try_emplace(Use.Function, std::move(How));
  }
  for (auto &[Taken, Functions] : Own) {
    auto It =
        Takers.emplace(Taken, Table.reach(std::move(Functions), /*ThroughWrappers=*/true)).first;
    It->second.each(
        [&, &Taken = Taken](const std::string &Node) { TakenBelow[Node].push_back(Taken); });
  }
}

ArrayRef<LockOrder::Lock> LockOrder::takenBelow(StringRef Function) const {
  auto Found = TakenBelow.find(Function);
  return Found == TakenBelow.end() ? ArrayRef<Lock>() : ArrayRef<Lock>(Found->second);
}

void LockOrder::add(UnderLock Fact) {
  if (Fact.Does == UnderLock::Stays)
    return;
  Lock Held = lockOf(Fact.Held);
  Parts[Held.first].insert(Held.second);
  if (Fact.Does == UnderLock::Again) {
    MayRepeat.insert(Held);
    return;
  }
  if (Fact.Does == UnderLock::Takes) {
    After[Held].try_emplace(lockOf(Fact.Taken), Fact);
    return;
  }
  Call &Callee = Fact.Callee;
  if (Fact.Does == UnderLock::CallsThrough)
    Callee.Function = Linked.calledThrough(Fact.pointer());
  if (Callee.Function.empty() && Fact.Does != UnderLock::Waits)
    Unseen.try_emplace({Held, Fact.Does}, Fact);
  const Effects Does = Callee.Function.empty() ? Effects() : Table.of(Callee);
  if (Callee.Function.empty() || Does.Waits)
    Open.try_emplace(Held, Fact);
  if (Does.Unknown)
    MayRepeat.insert(Held);
  for (const Lock &Taken : takenBelow(Callee.Function))
    After[Held].try_emplace(Taken, Fact);
}

// What the holder does: waits for Taken, or, where that is null, for anything.
std::vector<Step> LockOrder::steps(const UnderLock &Fact, const Lock *Taken) const {
  std::string Who = "'" + Fact.FunctionName + "' ";
  std::string While =
      (Fact.Surely ? " while it holds '" : " while it may hold '") + shown(lockOf(Fact.Held)) + "'";
  switch (Fact.Does) {
  case UnderLock::Takes:
    return {{Who + "takes '" + shown(*Taken) + "'" + While, Fact.At}};
  case UnderLock::Waits:
    return {{Who + "waits" + While, Fact.At}};
  case UnderLock::Escapes:
    return {{Who + "may return and still hold '" + shown(lockOf(Fact.Held)) + "'", Fact.At}};
  case UnderLock::Shared:
    return {
        {"'" + Fact.Held.Node + "' is declared as shared, with holders of whom nothing is known",
         Fact.At}};
  case UnderLock::Again: // no such holders
  case UnderLock::Stays:
  case UnderLock::Calls:
  case UnderLock::CallsThrough:
    break;
  }
  if (Fact.Callee.Function.empty())
    return {{Who + "calls through a pointer, which is not followed," + While, Fact.At}};
  std::vector<Step> Steps =
      Taken ? Takers.at(*Taken).way(Fact.Callee) : Table.wayToWait(Fact.Callee);
  Steps.front() = {Who + Steps.front().Text + While, Fact.At};
  return Steps;
}

std::vector<OrderEdge> LockOrder::edges() const {
  std::set<std::string> Repeatable; // by the thread that holds them: recursive, or they say so
  for (const LockClass &Class : Linked.Classes)
    if (!Class.Plain)
      Repeatable.insert(Class.Name);
  std::vector<OrderEdge> Result;
  for (const auto &[Held, All] : After)
    for (const auto &[Taken, Fact] : All) {
      bool Again = Held.first == Taken.first && Repeatable.count(Held.first);
      Result.push_back({Held, Taken, shown(Held), shown(Taken), Fact.FunctionName,
                        Fact.Surely && !Again, steps(Fact, &Taken)});
    }
  return Result;
}

std::vector<Step> LockOrder::unseen() const {
  std::vector<Step> Result;
  for (const auto &[Key, Fact] : Unseen)
    append_range(Result, steps(Fact, nullptr));
  return Result;
}

// Visits the locks that may be the same object, until Stop is true.
template <class Visit> bool LockOrder::eachAlike(const Lock &L, Visit Stop) const {
  auto Known = Parts.find(L.first);
  if (!L.second.empty() || Known == Parts.end())
    return Stop(L) || (!L.second.empty() && Stop(Lock(L.first, "")));
  return any_of(Known->second, [&](const std::string &Part) { return Stop(Lock(L.first, Part)); });
}

// No edge leads from the part to itself, and none is overlooked.
bool LockOrder::isAlone(const LockPart &Part) const {
  const Lock Own = lockOf(Part);
  const LockClass *Class = Linked.classOf(Part.Node);
  if (!Class || !Class->Plain || Tried.count(Class->Id))
    return false;
  return !eachAlike(Own, [&](const Lock &L) {
    auto Taken = After.find(L);
    bool Another = Taken != After.end() && any_of(Taken->second, [&](const auto &Further) {
                     return mayBeSame(Further.first, Own);
                   });
    return Another || MayRepeat.count(L) ||
           any_of(Unseen, [&](const auto &Lost) { return Lost.first.first == L; });
  });
}

const std::optional<Reason> &LockOrder::waitsFor(const Lock &Outer, const Lock &Inner) const {
  auto [Known, New] = Waiting.try_emplace({Outer, Inner});
  if (New)
    Known->second = findWait(Outer, Inner);
  return Known->second;
}

std::optional<Reason> LockOrder::findWait(const Lock &Outer, const Lock &Inner) const {
  std::optional<Reason> Found;
  // Who waits for it, on the shortest way, and how.
  std::map<Lock, std::pair<Lock, const UnderLock *>> Before = {{Inner, {Inner, nullptr}}};
  std::deque<Lock> Queue = {Inner};
  auto Way = [&](Lock Last) {
    std::string Text;
    for (; Last != Inner; Last = Before.at(Last).first)
      Text = "whose holder may wait for '" + shown(Last) + "', " + Text;
    return Text;
  };
  // The facts behind that way, and the last one.
  auto Ways = [&](Lock Last, const UnderLock &Fact, const Lock *Taken) {
    std::vector<std::vector<Step>> Parts = {steps(Fact, Taken)};
    for (; Last != Inner; Last = Before.at(Last).first)
      Parts.push_back(steps(*Before.at(Last).second, &Last));
    std::vector<Step> All;
    for (const std::vector<Step> &Part : reverse(Parts))
      append_range(All, Part);
    return All;
  };
  for (; !Queue.empty() && !Found; Queue.pop_front()) {
    const Lock &Next = Queue.front();
    eachAlike(Next, [&](const Lock &L) {
      if (auto Place = Open.find(L); Place != Open.end()) {
        Found = {"lock-order", Way(Next) + "whose holder may wait here for other threads",
                 Place->second.At, Ways(Next, Place->second, nullptr)};
        return true;
      }
      auto Taken = After.find(L);
      if (Taken == After.end())
        return false;
      for (const auto &[Further, Fact] : Taken->second) {
        if (mayBeSame(Further, Outer)) {
          Found = {"lock-order",
                   Way(Next) + "whose holder may wait for '" + shown(Outer) + "' here", Fact.At,
                   Ways(Next, Fact, &Further)};
          return true;
        }
        if (Before.try_emplace(Further, Next, &Fact).second)
          Queue.push_back(Further);
      }
      return false;
    });
  }
  return Found;
}

std::optional<Reason> LockOrder::conflict(const LockPart &Outer, const InnerLock &Inner) const {
  Lock A = lockOf(Outer), B = lockOf(Inner.Lock);
  if (mayBeSame(A, B))
    return Reason{"lock-order", "takes another lock of its own class here", Inner.At};
  std::optional<Reason> Found = waitsFor(A, B);
  if (!Found)
    return std::nullopt;
  Found->Message = "takes '" + shown(B) + "', " + Found->Message;
  Found->Way.insert(Found->Way.begin(), {"takes '" + shown(B) + "'", Inner.At});
  return Found;
}

std::optional<Reason> LockOrder::conflict(const LockPart &Outer, const Call &Callee) const {
  Lock A = lockOf(Outer);
  for (const Lock &Taken : takenBelow(Callee.Function)) {
    if (mayBeSame(Taken, A))
      continue;
    if (std::optional<Reason> Found = waitsFor(A, Taken)) {
      Found->Message =
          "calls '" + Callee.Name + "', which takes '" + shown(Taken) + "', " + Found->Message;
      std::vector<Step> Way = Takers.at(Taken).way(Callee);
      Found->Way.insert(Found->Way.begin(), Way.begin(), Way.end());
      return Found;
    }
  }
  return std::nullopt;
}

} // namespace relock
