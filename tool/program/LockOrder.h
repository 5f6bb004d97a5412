// SPDX-License-Identifier: MIT
//
// Whether a section that takes another lock can be run by a thread that is not its own.
#pragma once

#include "program/Effects.h"
#include "program/LockCycles.h"
#include "section/Section.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <set>

namespace relock {

// For one thread at a time.
class LockOrder {
public:
  // Takes: the locks that functions wait for themselves. Tried: the classes with trylocks.
  LockOrder(const Program &Linked, const EffectTable &Table, std::vector<UnderLock> Under,
            const std::vector<LockUse> &Takes, const std::set<std::string> &Tried);

  // Why a section under Outer that takes Inner in its own text must hold; At is the place where
  // a holder of Inner waits.
  std::optional<Reason> conflict(const LockPart &Outer, const InnerLock &Inner) const;
  // The same for a section that calls a function.
  std::optional<Reason> conflict(const LockPart &Outer, const Call &Callee) const;

  // True if a thread that takes a lock of this class and part has no other one of them until it
  // releases that.
  bool isAlone(const LockPart &Part) const;

  // What is taken under what, sorted.
  std::vector<OrderEdge> edges() const;
  // Where a lock is lost sight of: more may be taken under it than edges() has.
  std::vector<Step> unseen() const;

private:
  using Lock = OrderedLock; // one that belongs to no class has its node for a name

  Lock lockOf(const LockPart &Part) const;
  std::string shown(const Lock &L) const;
  std::string nameOf(const LockPart &Part) const;
  void collectOperators(const std::vector<UnderLock> &Under);
  void collectTakers(const std::vector<LockUse> &Takes);
  void add(UnderLock Fact);
  std::vector<Step> steps(const UnderLock &Fact, const Lock *Taken) const;
  template <class Visit> bool eachAlike(const Lock &L, Visit Stop) const;
  llvm::ArrayRef<Lock> takenBelow(llvm::StringRef Function) const;
  const std::optional<Reason> &waitsFor(const Lock &Outer, const Lock &Inner) const;
  std::optional<Reason> findWait(const Lock &Outer, const Lock &Inner) const;

  const Program &Linked;
  const EffectTable &Table;
  const std::set<std::string> Tried;
  std::map<Lock, Reach> Takers;                       // the functions that may wait for it
  llvm::StringMap<std::vector<Lock>> TakenBelow;      // by function; the same
  std::map<std::string, std::set<std::string>> Parts; // of each class
  std::map<Lock, std::map<Lock, UnderLock>> After;    // what a holder may wait for, and where
  std::map<std::pair<Lock, UnderLock::Action>, UnderLock> Unseen;
  // A holder may take more of its class, for all that is known: by the same operand, on some ways,
  // or where anything may be called.
  std::set<Lock> MayRepeat;
  std::map<Lock, UnderLock> Open; // a holder may wait for anything there
  // Locks that are one, since a declared operator takes one for the other: a name for all of them.
  std::map<std::string, std::string> Alias;
  mutable std::map<std::pair<Lock, Lock>, std::optional<Reason>> Waiting; // what waitsFor() found
};

} // namespace relock
