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
// such a section must hold. In a callee that is not asked: there the caller's own class is left to
// `releases-lock`.
#include "program/LockOrder.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace llvm;

namespace relock {

LockOrder::LockOrder(const Program &Linked, const EffectTable &Table, std::vector<UnderLock> Under,
                     const std::vector<std::pair<std::string, LockPart>> &Takes)
    : Linked(Linked), Table(Table) {
  collectTakers(Takes);
  sort(Under); // the first place of several is told
  for (const UnderLock &Fact : Under)
    add(Fact);
}

LockOrder::Lock LockOrder::lockOf(const LockPart &Part) const {
  const LockClass *Class = Linked.classOf(Part.Node);
  return {Class ? Class->Name : Part.Node, Part.Part};
}

void LockOrder::collectTakers(const std::vector<std::pair<std::string, LockPart>> &Takes) {
  for (const auto &[Function, Part] : Takes) {
    Takers[lockOf(Part)].insert(Function);
    Parts[lockOf(Part).first].insert(Part.Part);
  }
  for (auto &[Part, Functions] : Takers)
    Functions = Table.reaching(Functions, /*ThroughWrappers=*/true);
}

void LockOrder::add(const UnderLock &Fact) {
  Lock Held = lockOf(Fact.Held);
  Parts[Held.first].insert(Held.second);
  if (Fact.Does == UnderLock::Takes) {
    After[Held].try_emplace(lockOf(Fact.Taken), Fact.At);
    return;
  }
  Call Callee = Fact.Callee;
  if (Fact.Does == UnderLock::CallsThrough)
    Callee.Function = Linked.calledThrough(Callee.Name);
  if (Callee.Function.empty() || Table.of(Callee).Waits)
    Open.try_emplace(Held, Fact.At);
  for (const auto &[Taken, Functions] : Takers)
    if (Functions.count(Callee.Function))
      After[Held].try_emplace(Taken, Fact.At);
}

// Visits the locks that may be the same object, until Stop is true.
template <class Visit> bool LockOrder::eachAlike(const Lock &L, Visit Stop) const {
  auto Known = Parts.find(L.first);
  if (!L.second.empty() || Known == Parts.end())
    return Stop(L) || (!L.second.empty() && Stop(Lock(L.first, "")));
  return any_of(Known->second, [&](const std::string &Part) { return Stop(Lock(L.first, Part)); });
}

static bool alike(const std::pair<std::string, std::string> &A,
                  const std::pair<std::string, std::string> &B) {
  return A.first == B.first && (A.second == B.second || A.second.empty() || B.second.empty());
}

std::optional<Reason> LockOrder::waitsFor(const Lock &Outer, const Lock &Inner) const {
  std::optional<Reason> Found;
  std::map<Lock, Lock> Before = {{Inner, Inner}}; // who waits for it, on the shortest way
  std::deque<Lock> Queue = {Inner};
  auto Way = [&](Lock Last) {
    std::string Text;
    for (; Last != Inner; Last = Before.at(Last))
      Text = "whose holder may wait for '" + Last.first + "', " + Text;
    return Text;
  };
  for (; !Queue.empty() && !Found; Queue.pop_front()) {
    const Lock &Next = Queue.front();
    eachAlike(Next, [&](const Lock &L) {
      if (auto Place = Open.find(L); Place != Open.end()) {
        Found = {"lock-order", Way(Next) + "whose holder may wait here for other threads",
                 Place->second};
        return true;
      }
      auto Taken = After.find(L);
      if (Taken == After.end())
        return false;
      for (const auto &[Further, At] : Taken->second) {
        if (alike(Further, Outer)) {
          Found = {"lock-order", Way(Next) + "whose holder may wait for '" + Outer.first + "' here",
                   At};
          return true;
        }
        if (Before.try_emplace(Further, Next).second)
          Queue.push_back(Further);
      }
      return false;
    });
  }
  return Found;
}

std::optional<Reason> LockOrder::conflict(const LockPart &Outer, const LockPart &Inner) const {
  Lock A = lockOf(Outer), B = lockOf(Inner);
  if (alike(A, B))
    return Reason{"lock-order", "takes another lock of its own class here", {}};
  std::optional<Reason> Found = waitsFor(A, B);
  if (Found)
    Found->Message = "takes '" + B.first + "', " + Found->Message;
  return Found;
}

std::optional<Reason> LockOrder::conflict(const LockPart &Outer, const Call &Callee) const {
  Lock A = lockOf(Outer);
  for (const auto &[Taken, Functions] : Takers) {
    if (Taken.first == A.first || !Functions.count(Callee.Function))
      continue;
    if (std::optional<Reason> Found = waitsFor(A, Taken)) {
      Found->Message =
          "calls '" + Callee.Name + "', which takes '" + Taken.first + "', " + Found->Message;
      return Found;
    }
  }
  return std::nullopt;
}

} // namespace relock
