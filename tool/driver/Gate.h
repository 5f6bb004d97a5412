// SPDX-License-Identifier: MIT
//
// relock check as a gate: which findings fail a build, and which do not because they are known, are
// suppressed where they stand, or lie on lines that did not change.
#pragma once

#include "driver/Baseline.h"
#include "driver/Findings.h"
#include "index/Index.h"

namespace relock {

struct GateOptions {
  std::optional<std::string> FailOn, Only, BaselineFile, WriteBaseline, Since;
  bool Github = false;

  // Any of them is given: the findings are printed, and not the list of classes and sections.
  bool any() const;
};

enum class FindingState { Open, Suppressed, Known, Unchanged };

struct JudgedFinding {
  Finding Found;
  FindingState State = FindingState::Open;
  bool Fails = false;
  std::string Because = {}; // suppressed or known: the user's words; may be empty
  size_t Known = 0;         // open, but so many like it are in the baseline
};

class Gate {
public:
  // None: a message says what is wrong with the options or the files that they name.
  static std::optional<Gate> open(const GateOptions &Options);

  bool wantsLockOrder() const { return Only.wantsLockOrder() || FailOn.wantsLockOrder(); }

  // False: a message was printed.
  bool judge(const IndexResult &Index, const Decision &Decided);
  const std::vector<JudgedFinding> &findings() const { return All; }

  // The open ones, one per line, and each step of a cycle.
  void print(llvm::raw_ostream &OS) const;
  void printJson(llvm::raw_ostream &OS) const;
  // --write-baseline. The exit status.
  int writeBaseline(const IndexResult &Index) const;
  // The last line: what fails, and what to do. The exit status.
  int conclude() const;

private:
  GateOptions Options;
  FindingFilter FailOn, Only;
  Baseline Known; // what the file of --baseline has, or the one that --write-baseline replaces
  std::string Root;
  std::vector<JudgedFinding> All; // those that are asked for, as they are listed
  size_t Stale = 0;               // entries of the baseline and comments
  size_t Unseen = 0;              // places beyond which the order of locks is not followed

  void coverByBaseline();
  size_t countState(FindingState State) const;
};

// For `check --sarif` without a gate: all findings, with what comments suppress.
std::vector<JudgedFinding> judgeByComments(const IndexResult &Index, const Decision &Decided);

} // namespace relock
