// SPDX-License-Identifier: MIT
//
// What those who look for the sections of a unit ask of the whole program. The view keeps what it
// was asked: as long as a program gives the same answers, the same text has the same sections, so
// that they need not be looked for again. All that they know of other units has to come from here.
#pragma once

#include "index/Records.h"
#include "program/Layers.h"
#include "program/PointerEffects.h"
#include "program/Program.h"

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace relock {

// What was asked about.
struct Questions {
  std::set<std::string> Functions, Locks;                        // nodes
  std::set<std::string> OtherLocks;                              // names of functions
  std::set<std::tuple<std::string, Position, Position>> GivenAt; // calls
  std::set<std::pair<std::string, bool>> PointerEffects;

  // The answers of a program, as far as they can be told apart.
  std::string answers(const Program &Linked) const;
};

// A lock class, as far as sections depend on it.
struct ClassOfLock {
  std::string Id;
  std::string ChecksErrors; // where objects of it may, as it is shown; empty: nowhere
};

class ProgramView {
public:
  explicit ProgramView(const Program &Linked) : Linked(Linked) {}

  const Questions &asked() const { return Asked; }

  // As of Program; names and prototypes are of functions that it knows.
  const Wrapper *wrapperOf(const std::string &FunctionNode) const;
  const Layers::Operator *operatorOf(const std::string &FunctionNode) const;
  const OtherOperator *relayOfOtherLock(const std::string &FunctionNode) const;
  std::optional<OtherOperator> otherOperator(const Call &C) const;
  std::optional<OtherLock> otherLock(const std::string &FunctionName) const;
  std::string lockAt(const std::string &FunctionNode, const Position &At,
                     const Position &Spelled) const;
  std::pair<std::string, std::string> releasedBy(const std::string &FunctionNode) const;
  bool isDefined(const std::string &FunctionNode) const;
  bool neverReturns(const std::string &FunctionNode) const;
  bool endsProcess(const std::string &FunctionNode) const;
  bool isNamesake(const std::string &FunctionNode) const;
  bool canExecuteThrough(const std::string &FunctionNode) const;
  std::string nameOf(const std::string &FunctionNode) const;
  const std::vector<Prototype> &prototypesOf(const std::string &FunctionNode) const;
  PointerEffects pointerEffects(llvm::StringRef FunctionName, bool Defined) const;
  bool acceptsFunctionName() const;
  // Whether the project file says that the arguments of a macro may be evaluated before its lock.
  bool evaluatesBefore(llvm::StringRef Macro) const;
  std::optional<ClassOfLock> classOf(const std::string &LockNode) const;

private:
  const Program &Linked;
  mutable Questions Asked;

  const std::string &ask(const std::string &FunctionNode) const {
    Asked.Functions.insert(FunctionNode);
    return FunctionNode;
  }
};

} // namespace relock
