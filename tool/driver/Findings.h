// SPDX-License-Identifier: MIT
//
// What `relock check` finds, as one list: for the gate of a build, for SARIF and for annotations.
#pragma once

#include "program/Decide.h"

#include <set>

namespace relock {

enum class FindingKind { Hold, Keep, Unconverted, Uncovered, LockOrder, Merge };
llvm::StringRef kindName(FindingKind Kind); // as --fail-on takes it

struct Finding {
  FindingKind Kind;
  Reason Why;
  bool Warns; // about the program, or a whole class; else a note
  std::string Message;
  std::optional<Step> About; // the section, or the class, where that is another place
  // What it is known by in a baseline, besides its code and its file. Class: of a cycle the classes
  // in their order. Function: none where it concerns a whole class.
  std::string Class = {}, Function = {};
  std::vector<Step> Edges = {}; // of a cycle: where each lock is taken
  bool Sure = true;             // of a cycle: is each of its edges
  bool Elsewhere = false;       // in text for another system: nothing to do about it

  // Where a reader looks first: of a section its lock.
  const Position &at() const;
  // Where a comment can speak of it: the place above, the cause, and of a cycle each edge.
  std::vector<Position> sites() const;
  // All that has to do with it, each step to its cause as well.
  std::vector<Position> places() const;
};

// By kind in the order above, then by class, as `check` lists them. Cycles are found if the
// decision has them, see Extras.
std::vector<Finding> findingsOf(const Decision &Decided);

// A set of findings, as the values of --fail-on and --only name it.
class FindingFilter {
public:
  // The kinds for which `check` ends with status 1 without further options.
  static FindingFilter byDefault();
  // LIST: kinds, codes, `sure-cycle`, `stale`; or `none`, or `any`. None: a message says which word
  // is wrong. Option: who takes it.
  static std::optional<FindingFilter> parse(llvm::StringRef List, llvm::StringRef Option);
  // What such a list can name.
  static std::vector<std::string> words();

  bool has(const Finding &F) const;
  // Whether a finding with this code could be one of them.
  bool covers(llvm::StringRef Code) const;
  // Whether cycles can be among them, which take time to find.
  bool wantsLockOrder() const;
  bool wantsStale() const { return Stale; }
  bool hasAny() const {
    return !Kinds.empty() || !Codes.empty() || SureCycles;
  } // but what is stale
  // What either has.
  friend FindingFilter operator|(FindingFilter A, const FindingFilter &B);

private:
  std::set<FindingKind> Kinds;
  std::set<std::string> Codes;
  bool SureCycles = false, Stale = false;
};

// Whether `check` can give this code as a reason.
bool isFindingCode(llvm::StringRef Code);
// The nearest to a mistyped one; empty: nothing is near.
std::string nearestFindingCode(llvm::StringRef Code);

} // namespace relock
