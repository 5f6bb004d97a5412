// SPDX-License-Identifier: MIT
//
// A program's own layer over the locks of POSIX: names for the types, and functions that hand their
// parameters to a lock function and do no more:
//
//   typedef pthread_mutex_t my_mutex;
//   int my_lock(my_mutex *m) { return pthread_mutex_lock(m); }
//
// Locks do not become one class by going through it. Each use of it can change as if it were
// spelled with the name of POSIX, whatever becomes of the others; where all of them are converted
// it is the text of the layer that changes, and the uses stay. The parameters of such functions
// have no class of their own; what keeps them keeps all users.
#pragma once

#include "index/Records.h"
#include "program/FunctionTable.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <set>
#include <string>

namespace relock {

class Layers {
public:
  // Functions: of all units, by node. But: functions that are none, whatever they do.
  Layers(const std::vector<UnitFacts> &Units, const FunctionTable &Functions,
         const std::set<std::string> &But);
  Layers() = default;

  // The layer that a name for a type, or a parameter, is part of; empty: none.
  std::string of(const std::string &Node) const;
  bool has(const std::string &Node) const { return LayerOf.count(Node) != 0; }

  // The parameters of the functions, the first of each layer before the others.
  void eachParameter(
      llvm::function_ref<void(const std::string &Node, const std::string &First)> Visit) const;

  // What a call of the function is, under another name.
  struct Operator {
    std::string Posix;
    Operation Kind;
    std::set<unsigned> Locks;  // which arguments are mutexes and condition variables
    unsigned Mutex = 0;        // of these; the only one where there is no mutex
    bool Tests = false;        // its result for failures of which the program does not know
    bool NoAttributes = false; // POSIX's function has a null pointer behind the arguments
  };
  const Operator *operatorOf(const std::string &Function) const;

  // The mutex that such a function is given, or its condition variable where it has none; empty:
  // the call is of another function, or gives it nothing.
  std::string lockOf(const LockCall &Call) const;
  // What uses the layers: a declaration by a name for its type, a lock by a call.
  void
  eachUse(const std::vector<UnitFacts> &Units,
          llvm::function_ref<void(const std::string &Node, const std::string &Layer)> Visit) const;

  // What changes where the call does instead of the layer.
  std::vector<Edit> editsOf(const LockCall &Call) const;

private:
  std::map<std::string, std::string> LayerOf; // by node
  std::map<std::string, Operator> Operators;  // by function

  void findOperators(const std::vector<UnitFacts> &Units, const FunctionTable &Functions,
                     const std::set<std::string> &But);
  void unite(const std::string &A, const std::string &B);
};

} // namespace relock
