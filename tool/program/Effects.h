// SPDX-License-Identifier: MIT
//
// What calling a function can do that matters to whoever runs it on another thread.
#pragma once

#include "program/Program.h"
#include "program/Reach.h"

#include <map>
#include <optional>
#include <set>

namespace relock {

struct Effects {
  bool Identity = false;        // may touch errno, thread-locals, pthread_self, the allocator, …
  bool Waits = false;           // may wait for other threads for anything but a lock
  bool Unknown = false;         // may call anything, functions of the program as well
  bool Cancels = false;         // is, or may reach, a cancellation point that may not wait
  bool Float = false;           // may compute in floating point
  std::optional<Reason> Refuse; // why a section that calls it must hold
};

// The entry of the project file that counts for a function. A prefix speaks of functions of which
// nothing else is known: neither defined by the program nor known from the C library.
const DeclaredFunction *declarationOf(llvm::StringRef Name, bool Defined,
                                      const ProjectFile &Project);

// Computed once for the whole program, bottom-up over its call graph: each query is a look-up.
class EffectTable {
public:
  // What the project file says of a function replaces what is found in it, except that it takes
  // locks.
  EffectTable(const Program &Linked, const ProjectFile &Project);

  // The effects of a call, those of its callees included.
  Effects of(const Call &C) const;
  // Without those of the functions of the program that a library calls back.
  Effects itself(const Call &C) const;
  const CallGraph &calls() const { return Calls; }
  // As of calls(); but what happens in functions that are declared to end the process happens to
  // nobody.
  Reach reach(WayEnds Ends, bool ThroughWrappers = false) const;
  // True for a function of the program of which the project file speaks, or that ends the process.
  bool isDeclared(const std::string &Node) const { return Declared.count(Node); }

  // From a call to what makes a section that calls it hold: each call on the way, then the cause.
  // Empty where the call itself is the cause. What the project file says stands at the end.
  std::vector<Step> wayToRefusal(const Call &C) const;
  // From a call to something that may wait, lock wrappers included.
  std::vector<Step> wayToWait(const Call &C) const { return Waits->way(C); }

private:
  void findPanics();
  void addOwnEffects();
  void addCalls(const Function &F, Effects &Own);
  void addLocksOfDeclared();
  void addRefusals();
  void climb(bool Effects::*Effect, bool ThroughWrappers);

  const Program &Linked;
  const ProjectFile &Project;
  CallGraph Calls;
  std::map<std::string, Effects> Known; // of the functions that the program defines
  // Those of them that the project file declares, or that end the process: what they call does not
  // matter, see findPanics().
  std::set<std::string> Declared;
  std::set<std::string> Ending; // the project file says so of them
  WayEnds OwnWaits;             // of functions: the place at which they may wait
  std::optional<Reach> Waits, Refusals;
};

} // namespace relock
