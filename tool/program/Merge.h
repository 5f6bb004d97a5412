// SPDX-License-Identifier: MIT
//
// Why two locks are one class, or are converted together: the flows of pointers, and the source
// text that they share, from one to the other. Program makes its classes of the same flows.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>

namespace relock {

// What a user may mean by a name, all of one class.
struct NamedLock {
  const LockClass *Class;
  std::set<std::string> Nodes;
};

class MergeFinder {
public:
  MergeFinder(const std::vector<UnitFacts> &Units, const Program &Linked);

  // The declarations with that name: as Relock shows it (`box.mutex`), with the file before it
  // (`cache.c:lock`) or the line behind that (`cache.c:lock:12`); or the lock that an operation at
  // `FILE:LINE` is on. Several where classes share the name and none has it for its own.
  std::vector<NamedLock> named(llvm::StringRef Name) const;

  // The shortest chain of flows between them, a step each; nothing: there is none. ThroughText: by
  // shared text as well, which makes no class.
  std::optional<std::vector<Step>> chain(const NamedLock &From, const NamedLock &To,
                                         bool ThroughText) const;

  // `'lock' is the argument for parameter 'm' of 'use'`
  std::string describe(const Flow &F) const;

private:
  // A flow as a chain passes it: between two nodes, perhaps against its direction.
  struct Link {
    const Flow *Passed;
    std::string Before, After;
  };

  std::vector<Step> steps(const std::vector<Link> &Links) const;
  bool isMacroUser(const Flow *F) const;
  std::string shown(llvm::StringRef Node) const;
  Step sharedText(const Link &To, const Link &From) const;

  const std::vector<UnitFacts> &Units;
  const Program &Linked;
  const std::vector<Flow> MacroUsers;
  std::map<std::string, const Declaration *> Declared;     // by node
  std::map<std::string, std::vector<const Flow *>> Beside; // by each of its two nodes
};

} // namespace relock
