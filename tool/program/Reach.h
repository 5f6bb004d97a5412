// SPDX-License-Identifier: MIT
//
// The graph of calls, upwards: which functions can reach some others by calling, and how.
#pragma once

#include "program/Program.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace relock {

// The functions that can reach one of Ends, these included. Refers to the program.
class Reach {
public:
  bool has(const std::string &Node) const;
  // Each of them once, a caller behind what it calls: the ends first.
  template <class Visit> void each(Visit Do) const {
    for (const auto &[Node, Steps] : Ends)
      Do(Node);
    for (const Function *F : Nearest)
      Do(F->Node);
  }
  // The next call on a shortest way to an end; null for an end itself.
  const Call *next(const std::string &Node) const;
  // Each call on a shortest way from C to an end, then the steps that are given for that.
  std::vector<Step> way(const Call &C) const;

private:
  friend class CallGraph;
  Reach(const Program &Linked, WayEnds Ends) : Linked(&Linked), Ends(std::move(Ends)) {}

  const Program *Linked;
  WayEnds Ends;
  llvm::DenseMap<const Function *, const Call *> Next;
  std::vector<const Function *> Nearest; // the keys of Next, in the order of their distance
};

class CallGraph {
public:
  explicit CallGraph(const Program &Linked);

  // A call of a lock wrapper counts as a lock operation of the function that calls it, and is
  // followed only if ThroughWrappers and the wrapper does more. Functions in Stop do not call.
  Reach reach(WayEnds Ends, bool ThroughWrappers = false,
              const std::set<std::string> &Stop = {}) const;

private:
  struct Edge {
    const Function *Caller;
    const Call *Through;
    bool ToWrapper;
  };

  const Program &Linked;
  llvm::DenseMap<const Function *, std::vector<Edge>> Callers;
};

} // namespace relock
