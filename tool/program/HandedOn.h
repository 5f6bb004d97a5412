// SPDX-License-Identifier: MIT
//
// Where a mutex pointer goes from a place on, in the direction of its flows.
#pragma once

#include "index/Records.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <set>

namespace relock {

class HandedOn {
public:
  // Counts: which flows there are.
  HandedOn(const std::vector<UnitFacts> &Units, llvm::function_ref<bool(const Flow &)> Counts);

  struct Reach {
    const Site *Operation = nullptr; // on the pointer, the first in the text; null: none
    bool Lost = false;               // the pointer goes where it is not followed
  };
  // Of a pointer that goes by these flows.
  Reach follow(const std::vector<const Flow *> &By) const;

private:
  std::map<std::string, std::set<std::string>> Next;
  std::map<std::string, const Site *> Operated; // by node, the first in the text
  std::set<std::string> Escaped;
};

} // namespace relock
