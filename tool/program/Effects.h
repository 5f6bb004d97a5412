// SPDX-License-Identifier: MIT
//
// What calling a function can do that matters to whoever runs it on another thread.
#pragma once

#include "program/Program.h"

#include <map>
#include <optional>

namespace relock {

struct Effects {
  bool Identity = false;        // may touch errno, thread-locals, pthread_self, the allocator, …
  std::optional<Reason> Refuse; // why a section that calls it must hold
};

// True for a C library function that neither keeps nor returns the pointers that it is given.
bool libraryKeepsNoPointer(llvm::StringRef Name);

class EffectTable {
public:
  explicit EffectTable(const Program &Linked) : Linked(Linked) {}

  // The effects of a call, those of its callees included.
  const Effects &of(const Call &C);
  // All functions that a call can reach, itself included.
  std::set<std::string> reachable(const std::string &Function) const;

private:
  Effects compute(const Call &C, std::set<std::string> &Visiting);

  const Program &Linked;
  std::map<std::string, Effects> Known;
};

} // namespace relock
