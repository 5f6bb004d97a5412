// SPDX-License-Identifier: MIT
//
// The plan: what a rewrite is to convert to what, as YAML that a person edits
// (tool/doc/formats.md). Whoever reads one keeps the person's comments, so that it can be written
// again.
#pragma once

#include "program/Cuts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relock {

// The person's comments on one line: with their `#`, and without those that begin with `#.`.
struct Comments {
  std::vector<std::string> Above;
  std::string Behind;
};

struct Commented {
  std::map<std::string, Comments> Notes; // by key
  std::vector<std::string> Below;        // behind the last key
};

// A lock class, and what is to be done with it.
struct PlanEntry : Commented {
  std::string Class;
  Position At; // of the name
  bool Converts = true;
  std::string Algorithm; // empty: not said
  std::optional<unsigned> Server;
  // Relock's own choice, an algorithm (`rcl:2`) or `keep`; empty: the entry is a person's.
  std::string Advised;
  std::vector<std::string> Remarks; // Relock's comments, a line each
};

struct PlanCut : Commented, Cut {};

// A server, and the processor that it is given; none: it runs on any.
struct PlanServer : Commented {
  unsigned Number = 0;
  Position At; // of the number
  std::optional<unsigned> Cpu;
};

struct Plan : Commented {
  std::string Path;
  std::vector<std::string> Remarks;    // at the head
  std::vector<std::string> CutRemarks; // at the cuts
  std::vector<std::string> Profiles;   // that the advice rests on, as the command line named them
  std::string Thresholds;              // the file of thresholds; empty: the shipped ones
  // What the gains are predicted for, as the command line named it; empty: none were.
  std::string Machine;
  unsigned Threads = 0;     // of those that take most locks; 0: as profiled
  std::string Predicted;    // of the speed with this plan, `0.87-1.96`; Relock's
  std::deque<PlanCut> Cuts; // all in the order of the file
  std::deque<PlanServer> Servers;
  std::deque<PlanEntry> Classes;
  bool Exists = false;

  const PlanEntry *find(llvm::StringRef Class) const;
  // The first of Servers that no class is given to.
  const PlanServer *idleServer() const;

  // Fails with YamlError.
  static llvm::Expected<Plan> read(llvm::StringRef File);
};

// As YAML: plain where that can mean nothing else.
std::string scalarText(llvm::StringRef Word);
void writePlan(llvm::raw_ostream &OS, const Plan &P);
// The entry's lines, without comments.
std::vector<std::string> entryLines(const PlanEntry &Entry);

} // namespace relock
