// SPDX-License-Identifier: MIT
//
// What calling a function can do that matters to whoever runs it on another thread.
#pragma once

#include "program/Program.h"

#include <map>
#include <optional>
#include <set>

namespace relock {

struct Effects {
  bool Identity = false;        // may touch errno, thread-locals, pthread_self, the allocator, …
  bool Waits = false;           // may wait for other threads for anything but a lock
  std::optional<Reason> Refuse; // why a section that calls it must hold
};

// True for a C library function that neither keeps nor returns the pointers that it is given.
bool libraryKeepsNoPointer(llvm::StringRef Name);

// Computed once for the whole program, bottom-up over its call graph: each query is a look-up.
class EffectTable {
public:
  explicit EffectTable(const Program &Linked);

  // The effects of a call, those of its callees included.
  Effects of(const Call &C) const;
  // The functions that can reach one of Targets, these included. A call of a lock wrapper counts
  // as a lock operation of the function that calls it, and is followed only if ThroughWrappers and
  // the wrapper does more.
  std::set<std::string> reaching(const std::set<std::string> &Targets,
                                 bool ThroughWrappers = false) const;

private:
  using CallGraph = std::map<std::string, std::vector<std::string>>;

  void addOwnEffects();
  void propagateRefusals();

  const Program &Linked;
  CallGraph Callers, WrapperCallers;    // of functions; of wrappers that do more than the operation
  std::map<std::string, Effects> Known; // of the functions that the program defines
};

} // namespace relock
