// SPDX-License-Identifier: MIT
//
// What a project file may lack: operators of locks that stand in no file, recognised by the names
// of a pair of unknown functions, and the libraries of which a file comes with Relock.
#pragma once

#include "program/Program.h"

#include <map>
#include <string>
#include <vector>

namespace relock {

struct ProposedOperator {
  std::string Name;
  OtherLock Does;

  friend bool operator<(const ProposedOperator &A, const ProposedOperator &B) {
    return std::tie(A.Does.Type, A.Does.Kind, A.Name) < std::tie(B.Does.Type, B.Does.Kind, B.Name);
  }
};

// Unknown functions of which one takes and one releases, as far as their names and the type of
// their argument say: `x_lock` and `x_unlock`, `x_enter` and `x_leave`, `x_acquire` and
// `x_release`.
std::vector<ProposedOperator> proposeOperators(const std::vector<UnitFacts> &Units,
                                               const Program &Linked);

// How many functions that the program calls are unknown without the file of a library.
std::map<std::string, size_t> proposeLibraries(const Program &Linked);

} // namespace relock
