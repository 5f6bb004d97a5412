// SPDX-License-Identifier: MIT
//
// Links the facts of all translation units: which declarations form one lock class, what its name
// is, which functions are lock wrappers, and why a class must be kept.
#pragma once

#include "index/Records.h"
#include "program/Allocators.h"
#include "program/FunctionTable.h"
#include "program/Layers.h"
#include "program/ProjectFile.h"
#include "program/Relays.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace relock {

struct IndexResult;

// A step of the way from a section to what makes it hold.
struct Step {
  std::string Text;
  Position At;
};

// Functions that are looked for, by node, and what there is to say of each at the end of a way.
using WayEnds = std::map<std::string, std::vector<Step>>;

struct Reason {
  std::string Code, Message;
  Position At;
  std::vector<Step> Way = {}; // to the cause, where that is not the section's own text

  friend bool operator<(const Reason &A, const Reason &B) {
    return std::tie(A.At, A.Code, A.Message) < std::tie(B.At, B.Code, B.Message);
  }
  friend bool operator==(const Reason &A, const Reason &B) {
    return A.At == B.At && A.Code == B.Code && A.Message == B.Message;
  }
};

// Declarations that a pointer can mix. Classes that share source text (one macro body, one type
// name) keep their names and algorithms, but are converted together, as a group.
struct LockClass {
  std::string Id;           // what it is known by inside the tool: the least of its nodes
  std::string Name;         // what it is known by to users; unique in the program
  std::string Identifier;   // the same as a C identifier
  Position At;              // the declaration that names it
  std::vector<Reason> Kept; // empty: convert
  bool Plain = true;        // no object of it can be recursive or check errors
  std::optional<Position> ChecksErrors; // by what is here, objects of it may
  std::set<std::string> Files;          // that declare it
  bool Global = false;                  // it has a name that every file can declare
  bool Layer = false;                   // the parameters of a layer's functions: no lock
  std::string Group;                    // equal for the classes that are converted together
  // Functions that only the project file says not to mix its pointers.
  std::set<std::string> Trusts;

  // It is kept for nothing but that it is converted already, but for operations that somebody has
  // added since.
  bool isUnconverted() const {
    return !Kept.empty() &&
           llvm::all_of(Kept, [](const Reason &R) { return R.Code == "unconverted"; });
  }
};

// Why a class stays that shares source text with this one.
Reason sharesTextWithKept(const LockClass &Kept);

// True for a function whose calls are known: the program defines it; or a library does, and these
// are those of functions that the program has given to the library, see CallsGivenTo.
inline bool isFollowed(const Function &F) {
  return F.Defined || !F.Calls.empty() || !F.IndirectCalls.empty();
}

struct UncoveredSite {
  Position At;
  std::string Operator, Operand;
  std::string Condition;         // the directives that hide it
  bool Elsewhere;                // only other systems than Linux compile it: it keeps no class
  std::set<std::string> Classes; // the Ids of those that Operand may mean
  bool Unrun = false;            // it is compiled, in an arm that never runs
};

// What it is, and why it is not covered.
std::string describe(const UncoveredSite &Site);

class Program {
public:
  // AcceptUncovered: text that every configuration skips keeps no class. Project: what the user
  // declares.
  Program(const IndexResult &Index, bool AcceptUncovered, const ProjectFile &Project);

  const ProjectFile &Project;

  std::vector<LockClass> Classes; // sorted by name
  // By group: what converting it changes, besides delegated sections; class names are filled in.
  std::map<std::string, std::vector<Edit>> Edits;
  std::vector<UncoveredSite> Uncovered;
  // With what is uncovered accepted: other operations that stay, such as initialisations.
  std::vector<UncoveredSite> LeftOperations;
  FunctionTable Functions;              // by node; calls of all units merged
  std::set<std::string> AddressesTaken; // of variables and fields, by node
  bool AddressesKnown = true;           // these are all
  bool SetsFloatEnvironment = false;    // rounding modes and the like, a thread's own
  bool CancelsThreads = false;
  // Functions that are not the C library's of their names, and which header says so.
  std::map<std::string, Position> Namesakes;
  // Functions that take a mutex whose owner the kernel knows (priority protocols, robust ones),
  // and where.
  WayEnds TakesKernelOwned;
  std::map<std::string, Position> WaitPlaces; // of the functions that wait on a condition variable

  // The class of a node, or null where the node belongs to none (a local object, say).
  const LockClass *classOf(const std::string &Node) const;
  const Wrapper *wrapperOf(const std::string &FunctionNode) const;
  // What a function is another name for; null: nothing.
  const Layers::Operator *operatorOf(const std::string &FunctionNode) const;
  // What a call does to a lock that is not converted; the callee is known, declared, or relays.
  std::optional<OtherOperator> otherOperator(const Call &C) const;
  const OtherOperator *relayOfOtherLock(const std::string &FunctionNode) const; // null: none
  std::string layerOfType(const std::string &Typedef) const { return Own.of(Typedef); }
  std::string layerOf(const std::string &FunctionNode) const; // of such a function
  // The group of the lock that such a function is given; empty: none.
  std::string groupGiven(const LockCall &Call) const;
  // The node of the lock that such a function is given at a call.
  std::string lockAt(const std::string &FunctionNode, const Position &At,
                     const Position &Spelled) const;
  // True for a flow that makes no class: to or from an allocator, a function of which the project
  // file says so, a layer, or an integer, where no lock is made of one.
  bool keepsApart(const Flow &F) const;
  bool isDefined(const std::string &FunctionNode) const;
  bool isFollowed(const std::string &FunctionNode) const;
  // True for a function of the program that never returns to its caller.
  bool neverReturns(const std::string &FunctionNode) const;
  // True for one that ends the process on each way through it.
  bool endsProcess(const std::string &FunctionNode) const;
  // True for a function that does nothing but release the lock that it is given as `void *`.
  // See Function::Releases; empty strings: nothing.
  std::pair<std::string, std::string> releasedBy(const std::string &FunctionNode) const;
  // The node of a function that calls whatever the call may reach; empty if that is not known.
  std::string calledThrough(const IndirectCall &C) const;
  // True if a lock wrapper can get a companion that runs sections for its callers: they cannot name
  // the lock, or it does more than to lock.
  bool canExecuteThrough(const std::string &FunctionNode) const;

  // Keeps a class, and those that share source text with it.
  void keep(const std::string &Id, Reason Why);

private:
  // Union-find over nodes. Several threads may look up at a time once all are united.
  class Sets {
  public:
    std::string find(const std::string &Node) const;
    void unite(const std::string &A, const std::string &B);

  private:
    std::map<std::string, std::string> Parent;
    std::string compress(const std::string &Node);
  };

  std::map<std::string, OtherOperator> OtherRelays; // by function
  bool AllPointersKnown = false;                    // see isOpen()
  std::set<std::string> OpenPointers;

  std::string find(const std::string &Node) const { return Mixed.find(Node); }
  void linkLayers(const std::vector<UnitFacts> &Units);
  void linkCalls(const std::vector<UnitFacts> &Units);
  bool findFailing(const std::vector<UnitFacts> &Units, std::set<std::string> &Failing) const;
  void keepUsersOfLayers(const std::vector<UnitFacts> &Units);
  void collectLayerEdits(const std::vector<UnitFacts> &Units,
                         std::map<std::string, std::vector<Edit>> &Bodies);
  bool unmixes(const Flow &F) const;
  void collectUnmixing(const std::vector<UnitFacts> &Units);
  void linkFlows(const std::vector<UnitFacts> &Units);
  bool locksOfIntegers(const std::vector<UnitFacts> &Units) const;
  void linkFunctions(const std::vector<UnitFacts> &Units);
  void followLastCallees();
  void linkPointers(const IndexResult &Index);
  // True if pointers to functions of the type may point to others than those of the program whose
  // address is taken as such.
  bool isOpen(const std::string &FunctionType) const;
  Reason throughPointer(const Flow &F) const;
  void nameClasses(const std::vector<UnitFacts> &Units);
  void nameLateInits(const std::vector<UnitFacts> &Units,
                     const std::map<std::string, const Declaration *> &Naming);
  void collectReasons(const std::vector<UnitFacts> &Units,
                      const std::vector<std::string> &Unparsed);
  void collectForeign(const std::vector<UnitFacts> &Units, const std::vector<ForeignFile> &NotC);
  void collectBroken(const std::vector<UnitFacts> &Units);
  void collectUndefined(const std::vector<UnitFacts> &Units);
  bool isOwnText(const Position &At) const;
  void keepOutsideRoots();
  void addEdit(Edit E);
  void collectEdits(const std::vector<UnitFacts> &Units);
  void dropNeedlessInitialisers(std::vector<Edit> &List) const;
  static void dropOtherClasses(std::vector<Edit> &List);
  void collectConfigurations(const std::vector<UnitFacts> &Units);
  void collectKernelOwned(const std::vector<UnitFacts> &Units);
  void keepGroups();
  void collectUncovered(const std::vector<UnitFacts> &Units, bool Accept);
  void collectUnrun(const std::vector<UnitFacts> &Units);

  std::vector<std::string> Roots; // folders of the program's own text
  Sets Mixed;                     // nodes of one class
  Sets Together;                  // nodes of one group
  Allocators Memory;
  bool IntegersAreLocks = false;
  Layers Own;
  // The nodes that an operator of a layer is given, by place and function.
  std::map<std::tuple<Position, Position, std::string>, std::vector<std::string>> Given;
  std::map<std::string, size_t> ClassOfRoot;
  std::map<std::string, std::string> Unmixing; // the names of the functions that mix no pointers
};

} // namespace relock
