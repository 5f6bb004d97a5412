// SPDX-License-Identifier: MIT
//
// The verdict of every lock class and of every critical section: facts in, decision out. A
// decision can be printed without any source text.
#pragma once

#include "index/Index.h"
#include "program/AccidentalMerges.h"
#include "program/LockCycles.h"
#include "program/LockLikes.h"
#include "section/Section.h"

#include <memory>

namespace relock {

enum class Verdict { Delegate, Hold, Keep };

struct CheckedSection {
  Section Facts;
  Verdict Outcome = Verdict::Hold;
  bool AnyThread = false; // proved free of thread identity
  std::vector<Reason> Reasons;
  std::vector<Reason> Accepted;  // would be reasons, if the project file did not accept them
  std::set<std::string> RestsOn; // delegated: functions without whose declaration it would not be
  std::string RestsOnMacro;      // likewise; empty: none
};

// Per section, of those whose extent is known; see SharedLines.h.
struct SharedLines {
  double PerSection = 0;
  size_t Known = 0, Sections = 0;
};

struct CheckedClass {
  LockClass Class;
  std::vector<CheckedSection> Sections; // in the order of their places
  std::optional<SharedLines> Shared;    // Extras::SharedLines
  bool converts() const { return Class.Kept.empty(); }
  // Its text can change: it converts, or was converted and is made whole.
  bool changes() const { return converts() || Class.isUnconverted(); }
};

// Of a section that takes its lock again: the one that released it. Else itself.
const CheckedSection &begunBy(const CheckedClass &Class, const CheckedSection &S);

// A lock wrapper that only one file can call: it goes when its last call goes.
struct StaticWrapper {
  std::string Node, Name;
  WrapperPlace Place;
  std::string Through; // see Wrapper
  size_t Calls = 0;
  // Of the program's own lock layer: its calls can be replaced, see Layers.
  struct {
    bool Initialises = false;    // they are, in any case
    std::string Id;              // empty: of none
    std::set<std::string> Users; // the groups of the locks that it is called with
  } Layer;
};

// An unknown function without which sections would be delegated: Alone, or with others as well.
struct HoldingFunction {
  std::string Name;
  std::optional<Position> Pointer; // it is the program's own, and calls through a pointer here
  size_t Alone = 0, Together = 0;
  std::map<std::string, size_t> Accepting; // where these codes are accepted as well, see `accept`
};

// A function of the program without which so many sections more would be delegated: were it
// declared to touch its thread's identity and no more.
struct HoldingOwn {
  std::string Name;
  size_t Sections = 0;
  Reason Refusal; // what speaks against it now
};

// A function that takes a lock and returns with it, and is no lock wrapper, or is called through
// pointers: what its callers do until they have it released is in no list.
struct HeldAtReturn {
  std::string Name;
  Position At; // of the lock
  size_t Calls = 0;
  bool ThroughPointers = false; // it may be called in other places as well
};

// A name for a lock type in the program's own lock layer.
struct LayerName {
  std::string Name, Layer;
  bool Condition; // of a condition variable; else of a mutex
};

struct Decision {
  std::vector<CheckedClass> Classes;
  // The acquisitions in functions of the program's own lock layer, and which functions these are:
  // their callers have the sections.
  std::map<Position, std::string> InOperators;
  std::vector<HeldAtReturn> LeftHeld;
  std::vector<LayerName> LayerNames;
  std::vector<UncoveredSite> Uncovered;
  std::vector<UncoveredSite> LeftOperations;      // see Program
  std::map<std::string, std::vector<Edit>> Edits; // by group, see Program
  std::vector<StaticWrapper> StaticWrappers;
  std::map<std::string, Position> Unmatched; // entries of the project file that speak of nothing
  std::map<std::string, Position> UnmatchedMacros;
  std::map<std::string, size_t> OtherLocks; // acquisitions of locks that are not converted, by type
  std::set<Position> Assertions;            // that a lock is held, by trylocks: no sites
  std::vector<CutFlow> IdleCuts;            // other flows still make one class of their ends

  // Extras::Merges
  std::vector<AccidentalMerge> Merges;

  // Extras::Suggestions, for a project file.
  std::vector<HoldingFunction> Holding;     // the most important first
  std::vector<HoldingOwn> Own;              // likewise, each alone
  std::map<std::string, size_t> Acceptable; // codes that alone hold so many sections
  std::map<std::string, size_t> Early; // macros, if their arguments were evaluated before the lock
  std::set<std::string> Panics;        // names of functions that end the process, …
  size_t HeldByPanics = 0;             // … for what they do before, these sections hold
  std::vector<ProposedOperator> Operators;
  std::map<std::string, size_t> Libraries; // with the number of functions that they know

  // Extras::LockOrder
  std::vector<OrderEdge> Order; // which lock is taken under which, sorted, and the circles in it
  std::vector<std::vector<OrderEdge>> Cycles;
  std::vector<Step> OrderUnseen; // where a lock is lost sight of, under which more may be taken
};

// What only some ask for, since it takes time.
struct Extras {
  bool Suggestions = false, LockOrder = false, Merges = false, SharedLines = false;
};

// What is not to be done, although it could be by what is known of the program.
struct Restrictions {
  bool HoldOnly = false;                    // delegate nothing
  std::optional<std::set<SectionKey>> Only; // delegate no other sections than these
  std::map<SectionKey, Reason> Held;        // sections
  std::map<std::string, Reason> Kept;       // classes, by their Ids
  std::set<std::string> Ignored; // codes that are no reason; for tests of which rules are needed
};

// Finds the sections of all units, and decides on them as often as is asked for. Jobs as in
// indexBuild; AcceptUncovered as in Program. Index and Project live as long as this.
class Decider {
public:
  Decider(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs,
          bool AcceptUncovered);
  ~Decider();
  Decision decide(const Restrictions &But = {}, Extras Wanted = {});

private:
  class Known;
  std::unique_ptr<Known> Facts;
};

// The same, once.
Decision decide(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs,
                bool AcceptUncovered, Extras Wanted = {});

// Part Number, from 1 on, of Count.
struct Part {
  size_t Number = 1, Count = 1;
};

// Looks for the sections of that part of the units, which keeps them. Returns how many units were
// looked through.
size_t keepSections(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs, Part Of);

} // namespace relock
