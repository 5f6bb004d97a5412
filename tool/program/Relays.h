// SPDX-License-Identifier: MIT
//
// Lock wrappers over lock wrappers: `queue_lock(q)` that calls `base_lock(&q->lock)`, to any depth
// and across files. The innermost ones are found where they stand (index/Wrappers.h).
#pragma once

#include "index/Records.h"
#include "program/FunctionTable.h"
#include "program/ProjectFile.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

// Makes lock wrappers of the functions that relay to one.
void wrapRelays(FunctionTable &Functions, const std::vector<UnitFacts> &Units);

// A function that operates a lock which stays what it is.
struct OtherOperator {
  OtherLock Does;
  // The lock in terms of what the callers give, `$`, or of a global variable. Equal texts mean the
  // same lock where the arguments do.
  std::string Expression = "$", Variable = {};
  std::string Part = {}; // see lockPart(); empty: that of the argument
  bool Tells = true;     // what it returns says whether it has taken the lock

  bool ofArgument() const { return Variable.empty(); }
};

// The functions that relay to one of those that are known or declared, by node. Their callers hold
// what they take, as if the operation stood there.
std::map<std::string, OtherOperator> relaysOfOtherLocks(const FunctionTable &Functions,
                                                        const ProjectFile &Project);

} // namespace relock
