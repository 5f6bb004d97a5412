// SPDX-License-Identifier: MIT
//
// The program's own allocators, by what they do with a `void *`: functions that return fresh
// memory, and parameters and variables whose value is only freed, cleared, tested or printed. A
// mutex that goes there meets no other one, as with malloc() and free().
#pragma once

#include "index/Records.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace relock {

class Allocators {
public:
  Allocators() = default;
  // IntegersEnd: an address that becomes an integer is no pointer any more.
  Allocators(const std::vector<UnitFacts> &Units, bool IntegersEnd);

  // Nothing meets by the flow what came another time.
  bool separate(const Flow &F) const;
  // The node is that of the result of a function which returns fresh memory.
  bool isFresh(llvm::StringRef Node) const { return Fresh.contains(Node); }

private:
  llvm::StringSet<> Fresh; // results of functions
  llvm::StringSet<> Ended; // what goes there goes no further

  using Edges = llvm::StringMap<std::vector<llvm::StringRef>>;
  void findEnded(const Edges &Next);
  void findFresh(const Edges &Next, const Edges &Before, const llvm::StringSet<> &Other,
                 const llvm::StringSet<> &Defined);
};

} // namespace relock
