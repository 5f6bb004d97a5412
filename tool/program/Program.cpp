// SPDX-License-Identifier: MIT
#include "program/Program.h"

#include "index/Index.h"
#include "index/LockApi.h"
#include "program/ClassNames.h"
#include "program/Effects.h"
#include "program/MacroUsers.h"
#include "program/Relays.h"
#include "support/Source.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace llvm;

namespace relock {

// --- Union-find over nodes ----------------------------------------------------------------------

std::string Program::Sets::find(const std::string &Node) const {
  const std::string *Root = &Node;
  for (auto It = Parent.find(*Root); It != Parent.end() && It->second != *Root;
       It = Parent.find(*Root))
    Root = &It->second;
  return *Root;
}

// Keeps later look-ups short.
std::string Program::Sets::compress(const std::string &Node) {
  std::string Root = find(Node);
  for (std::string Step = Node; Step != Root;)
    Step = std::exchange(Parent[Step], Root);
  return Root;
}

void Program::Sets::unite(const std::string &A, const std::string &B) {
  std::string RootA = compress(A), RootB = compress(B);
  Parent.emplace(RootA, RootA);
  Parent.emplace(RootB, RootB);
  if (RootA != RootB) // the smaller name is the root: independent of the order of the flows
    Parent[std::max(RootA, RootB)] = std::min(RootA, RootB);
}

// The function of a parameter's node.
static std::string parameterOwner(StringRef Node) {
  return Node.drop_front(2).rsplit('#').first.str();
}

// --- Linking ------------------------------------------------------------------------------------

Program::Program(const IndexResult &Index, bool AcceptUncovered, const ProjectFile &Project)
    : Project(Project), Roots(Project.Roots) {
  Roots.push_back(Index.Root);
  const std::vector<UnitFacts> &Units = Index.Units;
  linkFunctions(Units);
  Memory = Allocators(Units, /*IntegersEnd=*/true);
  collectUnmixing(Units);
  linkLayers(Units);
  linkPointers(Index);
  nameClasses(Units);
  collectEdits(Units);
  // Files without facts may use any class; those in other languages, what headers and global names
  // give them.
  collectReasons(Units, Index.Unparsed);
  collectForeign(Units, Index.NotC);
  collectBroken(Units);
  collectUndefined(Units);
  collectConfigurations(Units);
  keepOutsideRoots();
  collectUncovered(Units, AcceptUncovered);
  collectUnrun(Units);
  collectKernelOwned(Units);
  keepUsersOfLayers(Units);
  keepGroups();
  for (LockClass &Class : Classes) {
    sort(Class.Kept);
    Class.Kept.erase(std::unique(Class.Kept.begin(), Class.Kept.end()), Class.Kept.end());
  }
}

// The functions that the project file declares to mix no pointers.
void Program::collectUnmixing(const std::vector<UnitFacts> &Units) {
  std::set<std::string> Defined;
  auto Add = [&](const std::string &Node, const std::string &Name) {
    const DeclaredFunction *D = declarationOf(Name, Defined.count(Node), Project);
    if (D && !D->MixesPointers)
      Unmixing.emplace(Node, Name);
  };
  if (Project.Functions.empty() && Project.Prefixes.empty())
    return;
  const auto All = distinct(Units, &UnitFacts::Functions);
  for (const Function &F : make_pointee_range(All))
    if (F.Defined)
      Defined.insert(F.Node);
  for (const Function &F : make_pointee_range(All)) {
    Add(F.Node, F.Name);
    for (const Call &C : F.Calls)
      Add(C.Function, C.Name);
  }
}

bool Program::unmixes(const Flow &F) const {
  return F.Untyped && F.How == Flow::Argument && Unmixing.count(parameterOwner(F.To));
}

static bool ofIntegers(const Flow &F) { return F.From == IntegersNode || F.To == IntegersNode; }

bool Program::keepsApart(const Flow &F) const {
  return (ofIntegers(F) && !IntegersAreLocks) || Memory.separate(F) || unmixes(F) ||
         ((F.How == Flow::Named || F.How == Flow::Argument) && Own.has(F.To));
}

// A layer that tests for failures is one only for locks that do not fail.
void Program::linkLayers(const std::vector<UnitFacts> &Units) {
  std::set<std::string> Failing;
  do {
    Mixed = Together = Sets();
    Given.clear();
    Own = Layers(Units, Functions, Failing);
    linkFlows(Units);
    linkCalls(Units);
  } while (findFailing(Units, Failing));
}

// What the calls of a layer's functions make of their arguments.
void Program::linkCalls(const std::vector<UnitFacts> &Units) {
  auto Unite = [&](const std::string &A, const std::string &B, bool Mixes) {
    Together.unite(A, B);
    if (Mixes)
      Mixed.unite(A, B);
  };
  Own.eachParameter(
      [&](const std::string &Node, const std::string &First) { Unite(Node, First, true); });
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls) {
      const Layers::Operator *Does = Own.operatorOf(C.Callee);
      if (!Does || Does->Mutex >= C.Nodes.size())
        continue;
      auto [Known, New] = Given.try_emplace({C.At, C.Spelled, C.Callee}, C.Nodes);
      std::string First;
      for (unsigned I : Does->Locks) {
        if (I >= C.Nodes.size() || C.Nodes[I].empty())
          continue;
        if (!First.empty()) // a condition variable goes with its mutexes
          Unite(First, C.Nodes[I], true);
        First = C.Nodes[I];
        if (!Known->second[I].empty()) // several calls of one macro: they are not told apart
          Unite(Known->second[I], First, true);
        else
          Known->second[I] = First;
        if (C.InMacro && !Own.has(First))
          Unite(First, tokenNode(C.Name), Does->Kind == Operation::Init);
      }
    }
}

// Finds functions of layers that test for failures, and are given a mutex that may fail.
bool Program::findFailing(const std::vector<UnitFacts> &Units,
                          std::set<std::string> &Failing) const {
  std::set<std::string> Special;
  for (const UnitFacts &Unit : Units) {
    for (const Site &S : Unit.Sites)
      if (S.Kind == Operation::Init && !S.Attribute.empty())
        Special.insert(find(S.Node));
    for (const Edit &E : Unit.Edits)
      if (StringRef(E.Text).contains("ERRORCHECK") || StringRef(E.Text).contains("RECURSIVE"))
        Special.insert(find(E.Node));
  }
  size_t Before = Failing.size();
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls)
      if (const Layers::Operator *Does = Own.operatorOf(C.Callee);
          Does && Does->Tests && any_of(C.Nodes, [&](const std::string &Node) {
            return !Node.empty() && Special.count(find(Node));
          }))
        Failing.insert(C.Callee);
  return Failing.size() != Before;
}

// What makes a layer stay as it is makes its users stay: they meet there.
void Program::keepUsersOfLayers(const std::vector<UnitFacts> &Units) {
  std::map<std::string, const LockClass *> Kept; // by layer
  Own.eachParameter([&](const std::string &Node, const std::string &) {
    if (const LockClass *Class = classOf(Node); Class && !Class->Kept.empty())
      Kept.emplace(Own.of(Node), Class);
  });
  if (Kept.empty())
    return;
  std::vector<std::pair<size_t, Reason>> Users;
  Own.eachUse(Units, [&](const std::string &Node, const std::string &Layer) {
    auto Found = ClassOfRoot.find(find(Node));
    if (auto By = Kept.find(Layer); Found != ClassOfRoot.end() && By != Kept.end())
      Users.push_back({Found->second, By->second->Kept.front()});
  });
  for (auto &[Class, Why] : Users)
    Classes[Class].Kept.push_back(std::move(Why));
}

void Program::linkFlows(const std::vector<UnitFacts> &Units) {
  auto Unite = [&] {
    for (const UnitFacts &Unit : Units)
      for (const Flow &F : Unit.Flows) {
        if (keepsApart(F))
          continue;
        Together.unite(F.From, F.To);
        if (F.How != Flow::Text && F.How != Flow::Named)
          Mixed.unite(F.From, F.To);
      }
  };
  Unite();
  if (!IntegersAreLocks && locksOfIntegers(Units)) {
    IntegersAreLocks = true;
    Memory = Allocators(Units, /*IntegersEnd=*/false);
    Unite();
  }
  for (const Flow &F : macroUsers(Units)) {
    Together.unite(F.From, F.To);
    if (F.How == Flow::NamingText)
      Mixed.unite(F.From, F.To);
  }
}

// Whether a pointer that is made of an integer may be that of a lock: it is used as such.
bool Program::locksOfIntegers(const std::vector<UnitFacts> &Units) const {
  std::set<std::string> Made, Locks;
  for (const UnitFacts &Unit : Units) {
    for (const Flow &F : Unit.Flows)
      if (F.From == IntegersNode)
        Made.insert(find(F.To));
    for (const Site &S : Unit.Sites)
      Locks.insert(find(S.Node));
    for (const LockCall &C : Unit.LockCalls)
      for (const std::string &Node : C.Nodes)
        Locks.insert(find(Node));
    for (const Declaration &D : Unit.Declarations)
      if (D.Kind != DeclarationKind::Typedef)
        Locks.insert(find(D.Node));
  }
  return any_of(Made, [&](const std::string &Root) { return Locks.count(Root) != 0; });
}

// Two bodies of one wrapper are one if they lock the same.
static void joinWrappers(Wrapper &Known, const Wrapper &Other) {
  Known.Pure &= Other.Pure && Known.Result == Other.Result;
  Known.Tests |= Other.Tests;
  Known.Guarded |= Other.Guarded;
  Known.Perhaps |= Other.Perhaps;
  Known.Aborts &= Other.Aborts;
  Known.LoadsUnknown |= Other.LoadsUnknown;
  append_range(Known.Loads, Other.Loads);
  append_range(Known.Taken, Other.Taken);
  Known.Unclear |= Other.Unclear || Known.Configuration != Other.Configuration;
  Known.Alternative &= Other.Alternative;
  if (Known.Body != Other.Body || Known.Storage != Other.Storage || Known.End != Other.End)
    Known.Body.reset(); // they are not compiled alike
  if (Known.Computed || Other.Computed)
    Known.Pure &= Known.Key == Other.Key && Known.Expression == Other.Expression &&
                  Known.Storage == Other.Storage && Known.End == Other.End;
}

// The same of relays. False: they are none.
static bool joinRelays(Relay &Known, Relay Other) {
  append_range(Known.Taken, Other.Taken);
  append_range(Known.Loads, Other.Loads);
  Known.Unclear |= Other.Unclear || Known.Configuration != Other.Configuration;
  Known.Alternative &= Other.Alternative;
  if (Known.AsLock != Other.AsLock || Known.AsUnlock != Other.AsUnlock ||
      Known.Storage != Other.Storage) {
    Known.AsLock.reset(); // they are not compiled alike
    Known.AsUnlock.reset();
  }
  Known.Guarded |= Other.Guarded;
  Known.Perhaps |= Other.Perhaps;
  // What is joined does not count.
  for (std::optional<WrapperBody> Relay::*Body : {&Relay::AsLock, &Relay::AsUnlock})
    Other.*Body = Known.*Body;
  Other.Taken = Known.Taken, Other.Loads = Known.Loads, Other.Storage = Known.Storage;
  Other.Unclear = Known.Unclear, Other.Configuration = Known.Configuration;
  Other.Alternative = Known.Alternative;
  Other.Guarded = Known.Guarded, Other.Perhaps = Known.Perhaps;
  return Known == Other;
}

// A function that one configuration defines otherwise is a wrapper still: its companion, which
// knows where it is one, or the message that nobody does, is for that.
static void joinOtherWrapper(Function &Known, const Function &Other) {
  auto HasAlternative = [&](const Function &F) {
    return F.Wraps && varies(*F.Wraps) && Known.At != Other.At;
  };
  if (Known.Wraps && Other.Wraps) {
    joinWrappers(*Known.Wraps, *Other.Wraps);
  } else if (HasAlternative(Other)) {
    Known.Wraps = Other.Wraps;
    Known.At = Other.At;
  } else if (!HasAlternative(Known)) {
    Known.Wraps.reset();
  }
}

static bool setsFloatEnvironment(StringRef Function) {
  static constexpr const char *Names[] = {"fesetround",      "fesetenv",      "feenableexcept",
                                          "fedisableexcept", "feclearexcept", "fetestexcept",
                                          "feholdexcept",    "feupdateenv"};
  return any_of(Names, [&](StringRef Name) { return Function.starts_with(Name); });
}

void Program::linkFunctions(const std::vector<UnitFacts> &Units) {
  for (const UnitFacts &Unit : Units)
    for (const Site &S : Unit.Sites)
      if (S.Kind == Operation::Wait)
        WaitPlaces.try_emplace(S.Function, S.At);
  const auto All = distinct(Units, &UnitFacts::Functions);
  for (const Function &F : make_pointee_range(All)) {
    if (F.Namesake && isOwnText(F.At))
      Namesakes.try_emplace(F.Node, F.At);
    Function &Merged = Functions[F.Node];
    bool Taken = Merged.AddressTaken || F.AddressTaken;
    std::vector<Prototype> Prototypes = Merged.Prototypes;
    append_range(Prototypes, F.Prototypes);
    if (F.Defined && !Merged.Defined) {
      Merged = F;
    } else if (F.Defined) {
      // Another configuration, or a function of a header: both bodies count.
      append_range(Merged.Calls, F.Calls);
      append_range(Merged.IndirectCalls, F.IndirectCalls);
      append_range(Merged.Callbacks, F.Callbacks);
      append_range(Merged.IdentityUses, F.IdentityUses);
      append_range(Merged.Stores, F.Stores);
      append_range(Merged.Touched, F.Touched);
      Merged.Waits |= F.Waits;
      Merged.EndsProcess &= F.EndsProcess;
      Merged.NeverReturns &= F.NeverReturns;
      if (Merged.LastCallee != F.LastCallee)
        Merged.LastCallee.clear();
      Merged.TakesLocks |= F.TakesLocks;
      Merged.UsesFloat |= F.UsesFloat;
      joinOtherWrapper(Merged, F);
      if (!Merged.Relays || !F.Relays || !joinRelays(*Merged.Relays, *F.Relays))
        Merged.Relays.reset();
      if (Merged.Forwards != F.Forwards)
        Merged.Forwards.reset();
    } else if (Merged.Node.empty()) {
      Merged = F;
    }
    Merged.AddressTaken = Taken;
    Merged.Prototypes = std::move(Prototypes);
  }
  followLastCallees();
  for (auto &[Node, F] : Functions) // the user knows what it does
    if (Project.otherLock(F.Name)) {
      if (F.Wraps && F.Wraps->Perhaps)
        F.Wraps.reset();
      if (F.Relays && F.Relays->Perhaps)
        F.Relays.reset();
    }
  wrapRelays(Functions, Units);
  OtherRelays = relaysOfOtherLocks(Functions, Project);
  for (auto &[Node, F] : Functions) {
    for (const std::string &Stored : F.Stores)
      if (StringRef Address = Stored; Address.consume_front("&"))
        AddressesTaken.insert(Address.str());
    CancelsThreads |= any_of(F.Calls, [](const Call &C) { return C.Name == "pthread_cancel"; });
    SetsFloatEnvironment |=
        any_of(F.Calls, [](const Call &C) { return setsFloatEnvironment(C.Name); });
    sort(F.Prototypes);
    F.Prototypes.erase(std::unique(F.Prototypes.begin(), F.Prototypes.end()), F.Prototypes.end());
  }
}

// A function does not return where what it calls last does not: `void die(…) { vdie(…); }`.
void Program::followLastCallees() {
  std::vector<Function *> Returning;
  for (auto &[Node, F] : Functions)
    if (F.Defined && !F.NeverReturns && !F.LastCallee.empty())
      Returning.push_back(&F);
  auto Ends = [&](Function *F) {
    auto Last = Functions.find(F->LastCallee);
    F->NeverReturns = Last != Functions.end() && Last->second.Defined && Last->second.NeverReturns;
    return F->NeverReturns;
  };
  for (size_t Before = Returning.size() + 1; Returning.size() < Before;) {
    Before = Returning.size();
    llvm::erase_if(Returning, Ends);
  }
}

// Which declaration gives a class its name: the one that a reader would look for.
static int rank(const Declaration &D) {
  if (D.Condition)
    return 10;
  switch (D.Kind) {
  case DeclarationKind::Global:
    return D.Definition ? 0 : 1;
  case DeclarationKind::Static:
    return 2;
  case DeclarationKind::Field:
    return 3;
  case DeclarationKind::StaticLocal:
    return 4;
  case DeclarationKind::Local:
    return 5;
  case DeclarationKind::Typedef:
    return 6;
  case DeclarationKind::Result:
    return 7;
  case DeclarationKind::Parameter:
    return 8;
  }
  return 9;
}

// True for an operation that only a mutex has, and that makes it one.
static bool isOfMutex(Operation O) {
  return acquires(O) || O == Operation::Unlock || O == Operation::Wait || O == Operation::Init;
}

void Program::nameClasses(const std::vector<UnitFacts> &Units) {
  std::map<std::string, const Declaration *> Naming; // by root
  std::map<std::string, Position> Unnamed;           // operations on what has no declaration
  std::set<std::string> HasMutex;
  auto Better = [](const Declaration &A, const Declaration &B) {
    return std::make_tuple(rank(A), A.Name, A.At) < std::make_tuple(rank(B), B.Name, B.At);
  };
  for (const UnitFacts &Unit : Units) {
    for (const Declaration &D : Unit.Declarations) {
      const Declaration *&Best = Naming[find(D.Node)];
      if (!Best || Better(D, *Best))
        Best = &D;
      if (!D.Condition && D.Kind != DeclarationKind::Parameter &&
          D.Kind != DeclarationKind::Typedef && !Memory.isFresh(D.Node))
        HasMutex.insert(find(D.Node));
    }
    auto UsedAt = [&](const std::string &Node, const Position &At) {
      std::string Root = find(Node);
      HasMutex.insert(Root);
      auto [It, New] = Unnamed.emplace(Root, At);
      if (!New && At < It->second)
        It->second = At;
    };
    for (const Site &S : Unit.Sites)
      if (acquires(S.Kind) || S.Kind == Operation::Unlock || S.Kind == Operation::Wait)
        UsedAt(S.Node, S.At);
    for (const LockCall &C : Unit.LockCalls)
      if (std::string Lock = Own.lockOf(C);
          !Lock.empty() && isOfMutex(Own.operatorOf(C.Callee)->Kind))
        UsedAt(Lock, C.At);
    // Any operation that stayed one of pthread, also of a condition.
    for (const Escape &E : Unit.Escapes)
      if (E.Code == "unconverted")
        UsedAt(E.Node, E.At);
    // What initialises a mutex that nobody gives it names a class, too.
    for (const Edit &E : Unit.Edits)
      if (E.Text.find("$CLASS") != std::string::npos)
        UsedAt(E.Node, E.At);
  }
  std::set<std::string> LayerRoots;
  Own.eachParameter(
      [&](const std::string &Node, const std::string &) { LayerRoots.insert(find(Node)); });
  for (const std::string &Root : HasMutex) {
    LockClass Class;
    Class.Id = Root;
    Class.Group = Together.find(Root);
    Class.Layer = LayerRoots.count(Root) != 0;
    if (const Declaration *D = Naming[Root]) {
      Class.Name = D->Name;
      Class.At = D->At;
    } else {
      Class.At = Unnamed[Root];
      Class.Name = (sys::path::filename(Class.At.File) + ":" + Twine(Class.At.Line)).str();
    }
    Classes.push_back(std::move(Class));
  }
  std::vector<ConvertedClass> Converted;
  for (const UnitFacts &Unit : Units)
    append_range(Converted, Unit.Converted);
  for (ConvertedClass &Class : Converted)
    Class.Used |= any_of(Units, [&](const UnitFacts &Unit) {
      return Unit.Names.count("relock_class_" + Class.Identifier) != 0;
    });
  nameApart(Classes, Converted, Roots.back());
  sort(Classes, [](const LockClass &A, const LockClass &B) { return A.Name < B.Name; });
  for (size_t I = 0; I < Classes.size(); ++I)
    ClassOfRoot[Classes[I].Id] = I;
  nameLateInits(Units, Naming);
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if (auto Found = ClassOfRoot.find(find(F.From)); unmixes(F) && Found != ClassOfRoot.end())
        Classes[Found->second].Trusts.insert(Unmixing.at(parameterOwner(F.To)));
}

// An initialisation that came later has the class of the others of its lock, or where nothing else
// initialises that any more, the one of the table that has its name.
void Program::nameLateInits(const std::vector<UnitFacts> &Units,
                            const std::map<std::string, const Declaration *> &Naming) {
  std::map<std::string, std::set<std::string>> OfLock, OfName;
  for (const UnitFacts &Unit : Units) {
    for (const ClassUse &Use : Unit.ClassUses)
      OfLock[Use.Lock].insert(Use.Identifier);
    for (const ConvertedClass &Class : Unit.Converted)
      OfName[Class.Name].insert(Class.Identifier);
  }
  std::map<std::string, std::set<std::string>> Found; // by root; several, where a macro does it
  for (const UnitFacts &Unit : Units)
    for (const LateInit &Init : Unit.LateInits) {
      auto Used = OfLock.find(Init.Lock), Named = OfName.find(Init.Name);
      std::set<std::string> &Classes = Found[find(Init.Node)];
      if (Used != OfLock.end())
        Classes.insert(Used->second.begin(), Used->second.end());
      else if (Named != OfName.end())
        Classes.insert(Named->second.begin(), Named->second.end());
      else
        Classes.insert("");
    }
  for (const UnitFacts &Unit : Units)
    for (const LateInit &Init : Unit.LateInits) {
      const std::string Root = find(Init.Node);
      LockClass &Class = Classes[ClassOfRoot.at(Root)];
      const std::set<std::string> &Known = Found.at(Root);
      auto Declared = Naming.find(Root);
      bool Mixed = Declared != Naming.end() && Declared->second; // with locks that stay
      if (Known.size() == 1 && !Known.begin()->empty() && !Mixed)
        Class.Identifier = *Known.begin();
      else
        Class.Kept.push_back(
            {"unsupported-operation",
             "is initialised here, and its class is not known: write relock_mutex_init() with the "
             "class of the others (NULL: the default class)",
             Init.At});
    }
}

bool Program::isOpen(const std::string &FunctionType) const {
  return !AllPointersKnown || OpenPointers.count(FunctionType);
}

// Why a lock is kept that goes to functions that pointers point to, or comes from one.
Reason Program::throughPointer(const Flow &F) const {
  const bool OfFunction = StringRef(F.From).starts_with("P:");
  auto From = OfFunction ? Functions.find(parameterOwner(F.From)) : Functions.end();
  if (From != Functions.end() && From->second.AddressTaken)
    return {"indirect-call", "reaches '" + From->second.Name + "', whose address is taken", F.At};
  return {"indirect-call", "is passed through a function pointer", F.At};
}

void Program::collectReasons(const std::vector<UnitFacts> &Units,
                             const std::vector<std::string> &Unparsed) {
  auto ClassAt = [&](const std::string &Node) -> LockClass * {
    auto It = ClassOfRoot.find(find(Node));
    return It == ClassOfRoot.end() ? nullptr : &Classes[It->second];
  };
  std::map<std::string, std::vector<Reason>> AttributeReasons; // by root of the attribute object
  std::set<std::string> Defined, GivenToPointers;
  std::map<std::string, const Declaration *> Extern;
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if (typeOfPointerParameter(F.To))
        GivenToPointers.insert(F.From);
  for (const auto &E : distinct(Units, &UnitFacts::Escapes)) {
    AttributeReasons[find(E->Node)].push_back({E->Code, E->Message, E->At});
    if (LockClass *Class = ClassAt(E->Node); Class && E->Code != "ignored-error")
      Class->Kept.push_back({E->Code, E->Message, E->At});
  }
  for (const UnitFacts &Unit : Units) {
    for (const Declaration &D : Unit.Declarations) {
      if (LockClass *Class = ClassAt(D.Node)) {
        Class->Global |= D.Kind == DeclarationKind::Global;
        Class->Files.insert(D.At.File);
      }
      if (D.Definition)
        Defined.insert(D.Node);
      else
        Extern.emplace(D.Node, &D);
      if (D.Kind != DeclarationKind::Parameter && D.Kind != DeclarationKind::Result)
        continue;
      // A pointer to it goes to (or comes from) a function that we do not see, or that is called
      // through a pointer.
      LockClass *Class = ClassAt(D.Node);
      if (typeOfPointerParameter(D.Node)) // what is given to it decides
        continue;
      StringRef Owner = StringRef(D.Node).drop_front(2);
      Owner = D.Kind == DeclarationKind::Parameter ? Owner.rsplit('#').first : Owner;
      auto F = Functions.find(Owner.str());
      if (!Class)
        continue;
      if (F == Functions.end() || !F->second.Defined)
        Class->Kept.push_back({"outside", "reaches a function that is not in the program", D.At});
      else if (F->second.AddressTaken && !GivenToPointers.count(D.Node))
        Class->Kept.push_back(
            {"indirect-call", "reaches '" + F->second.Name + "', whose address is taken", D.At});
    }
    for (const Flow &F : Unit.Flows) {
      // An argument for a function of which not even a declaration of ours exists.
      if (!StringRef(F.To).starts_with("P:"))
        continue;
      if (std::optional<std::string> Type = typeOfPointerParameter(F.To)) {
        if (LockClass *Class = ClassAt(F.To); Class && isOpen(*Type))
          Class->Kept.push_back(throughPointer(F));
        continue;
      }
      std::string Owner = parameterOwner(F.To);
      auto Known = Functions.find(Owner);
      if (LockClass *Class = ClassAt(F.To);
          Class && (Known == Functions.end() || !Known->second.Defined))
        Class->Kept.push_back(
            {"outside", "is passed to a function that is not in the program", Class->At});
    }
  }
  for (const auto &[Node, D] : Extern)
    if (!Defined.count(Node))
      if (LockClass *Class = ClassAt(Node))
        Class->Kept.push_back({"outside", "is defined outside the program", D->At});
  for (const UnitFacts &Unit : Units)
    for (const Site &S : Unit.Sites) {
      LockClass *Class = ClassAt(S.Node);
      if (!Class || S.Attribute.empty())
        continue;
      if (S.Kind == Operation::Init) // not the clock of a condition variable
        Class->Plain = false;
      for (const Reason &R : AttributeReasons[find(S.Attribute)])
        if (R.Code == "ignored-error")
          Class->ChecksErrors = R.At;
        else
          Class->Kept.push_back(R);
    }
  for (LockClass &Class : Classes) {
    for (const std::string &File : Unparsed)
      Class.Kept.push_back(
          {"unparsed", "may be used by this file, which does not parse", {File, 0, 1, 1}});
  }
}

// The name by which every file can declare it, or the function that it belongs to; empty: none.
static std::string nameForOthers(const Declaration &D) {
  auto [Outer, Inner] = StringRef(D.Name).split('.');
  if (D.Kind == DeclarationKind::Parameter || D.Kind == DeclarationKind::Result)
    return Outer.str();
  return D.Kind == DeclarationKind::Global ? (Inner.empty() ? Outer : Inner).str() : "";
}

// What the identifiers of a text say of its use of a lock: nothing, if it names none of these.
static bool namesOperations(StringRef Name) {
  const bool Initialiser =
      Name.starts_with("PTHREAD_") && (Name.contains("MUTEX") || Name.contains("COND"));
  return Initialiser || Name.starts_with("pthread_mutex") || Name.starts_with("pthread_cond") ||
         lockFunction(Name);
}

// A file in another language that can name a class uses it, if any text of it that C files do not
// have names a part of it, or operations at all. What it has in common with them is analysed there.
void Program::collectForeign(const std::vector<UnitFacts> &Units,
                             const std::vector<ForeignFile> &NotC) {
  if (NotC.empty())
    return;
  std::set<std::string> OfC;
  for (const auto &D : distinct(Units, &UnitFacts::Dependencies))
    OfC.insert(D->File);
  std::map<const LockClass *, std::set<StringRef>> NamesOf;
  for (const UnitFacts &Unit : Units)
    for (const Declaration &D : Unit.Declarations)
      if (const LockClass *Class = classOf(D.Node)) {
        auto [Outer, Inner] = StringRef(D.Name).split('.');
        bool OfFunction = D.Kind == DeclarationKind::Parameter || D.Kind == DeclarationKind::Result;
        NamesOf[Class].insert(OfFunction || Inner.empty() ? Outer
                                                          : StringRef(D.Name).rsplit('.').second);
      }
  for (const ForeignFile &Foreign : NotC) {
    std::set<StringRef> Own;
    for (const FileNames &In : Foreign.NamesIn)
      if (!OfC.count(In.File))
        Own.insert(In.Names.begin(), In.Names.end());
    CancelsThreads |= Own.count("pthread_cancel") != 0;
    SetsFloatEnvironment |= any_of(Own, setsFloatEnvironment);
    const bool Operates = !Foreign.All || any_of(Own, namesOperations);
    const bool ReadInPart = !Foreign.All && !Foreign.Includes.empty();
    auto CanName = [&](const LockClass &Class) {
      return Class.Global || any_of(Class.Files, [&](const std::string &File) {
               return Foreign.Includes.count(File);
             });
    };
    auto Uses = [&](const LockClass &Class) {
      return Operates || any_of(NamesOf[&Class], [&](StringRef Name) { return Own.count(Name); });
    };
    for (LockClass &Class : Classes)
      if (ReadInPart || (CanName(Class) && Uses(Class)))
        Class.Kept.push_back({"not-c",
                              ReadInPart ? "this file is not C, a header of it is missing, and it "
                                           "may use the class"
                                         : "this file is not C, and may use it",
                              {Foreign.File, 0, 1, 1}});
  }
}

// A file with errors can use what changes in the text that it reads, and what has a name that every
// file can declare.
void Program::collectBroken(const std::vector<UnitFacts> &Units) {
  auto Keep = [&](LockClass &Class, const UnitFacts &Broken) {
    Class.Kept.push_back(
        {"unparsed", "this file has errors, and may use it", {Broken.MainFile, 0, 1, 1}});
  };
  for (const UnitFacts &Broken : Units) {
    if (!Broken.Broken)
      continue;
    auto Reads = [&](const std::string &File) {
      return any_of(Broken.Dependencies, [&](const Dependency &D) { return D.File == File; });
    };
    std::set<std::string> Groups;
    for (const auto &[Group, List] : Edits)
      if (any_of(List, [&](const Edit &E) { return Reads(E.At.File); }))
        Groups.insert(Group);
    for (LockClass &Class : Classes)
      if (Groups.count(Class.Group) || any_of(Class.Files, Reads))
        Keep(Class, Broken);
    for (const UnitFacts &Unit : Units)
      for (const Declaration &D : Unit.Declarations)
        if (auto Found = ClassOfRoot.find(find(D.Node));
            Found != ClassOfRoot.end() && Broken.Names.count(nameForOthers(D)))
          Keep(Classes[Found->second], Broken);
    AddressesKnown = false;
    CancelsThreads |= Broken.Names.count("pthread_cancel") != 0;
    SetsFloatEnvironment |= any_of(Broken.Names, setsFloatEnvironment);
  }
}

// What the program uses and does not define knows the types that it is declared with.
void Program::collectUndefined(const std::vector<UnitFacts> &Units) {
  std::map<std::string, std::set<std::string>> LocksOf; // by record
  std::set<std::string> DefinedVariables;
  std::map<std::string, const UndefinedUse *> Uses;
  for (const UnitFacts &Unit : Units) {
    DefinedVariables.insert(Unit.DefinedVariables.begin(), Unit.DefinedVariables.end());
    for (const LockRecord &R : Unit.LockRecords)
      LocksOf[R.Record].insert(R.Locks.begin(), R.Locks.end());
    for (const UndefinedUse &Use : Unit.UndefinedUses)
      Uses.try_emplace(Use.Node, &Use);
  }
  std::set<const LockClass *> Told;
  for (const auto &[Node, Use] : Uses) {
    if (Use->Function ? isDefined(Node) : DefinedVariables.count(Node) != 0)
      continue;
    for (const std::string &Record : Use->Records)
      for (const std::string &Lock : LocksOf[Record])
        if (auto Found = ClassOfRoot.find(find(Lock)); Found != ClassOfRoot.end())
          if (LockClass &Class = Classes[Found->second]; Told.insert(&Class).second)
            Class.Kept.push_back({"outside",
                                  "can be reached by '" + Use->Name +
                                      "', which the program uses and does not define",
                                  Use->At});
  }
}

bool Program::isOwnText(const Position &At) const {
  return any_of(Roots, [File = StringRef(At.File)](StringRef Folder) {
    return File.starts_with(Folder) && File.drop_front(Folder.size()).starts_with("/");
  });
}

// Text outside the roots belongs to somebody else. Macros of others stay, and are replaced where
// the program uses them.
void Program::keepOutsideRoots() {
  std::set<std::string> Foreign; // macros
  for (auto &[Group, List] : Edits)
    erase_if(List, [&](const Edit &E) {
      bool Stays = E.Where == Edit::InBody && !isOwnText(E.At);
      if (Stays)
        Foreign.insert(E.Macro);
      return Stays;
    });
  for (auto &[Group, List] : Edits) // of a layer, a part may be the program's own
    erase_if(List, [&](const Edit &E) {
      return (E.Where == Edit::InBody || E.Where == Edit::WithClass) && Foreign.count(E.Macro);
    });
  for (auto &[Group, List] : Edits)
    for (Edit &E : List) {
      if (Foreign.count(E.Macro))
        E.Where = Edit::Anywhere;
      if (isOwnText(E.At))
        continue;
      const LockClass *Own = classOf(E.Node); // a typedef has none
      for (LockClass &Class : Classes)
        if (Own ? &Class == Own : Class.Group == Group)
          Class.Kept.push_back(
              {"outside-root", "would change here, outside the source root " + Roots.back(), E.At});
    }
}

// Gives each group that uses a layer the edits of the layer's own text, for where all of them
// convert.
void Program::collectLayerEdits(const std::vector<UnitFacts> &Units,
                                std::map<std::string, std::vector<Edit>> &Bodies) {
  std::map<std::pair<std::string, std::string>, std::string> Users; // a node, by layer and group
  Own.eachUse(Units, [&](const std::string &Node, const std::string &Layer) {
    Users.emplace(std::make_pair(Layer, Together.find(Node)), Node);
  });
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls)
      for (Edit &E : Own.editsOf(C))
        addEdit(std::move(E));
  std::set<std::string> WithClass;
  for (const LockClass &Class : Classes)
    WithClass.insert(Class.Group);
  for (const auto &[By, Node] : Users) {
    const auto &[Layer, Group] = By;
    // What is in no class does not hinder the layer, unless there is more of it to change.
    auto List = Edits.find(Group);
    if (!WithClass.count(Group) && List != Edits.end() &&
        all_of(List->second, [&](const Edit &E) { return Own.has(E.Macro); }))
      Edits.erase(List);
    if (WithClass.count(Group))
      for (Edit E : Bodies[Layer]) {
        E.Node = Node;
        Edits[Group].push_back(std::move(E));
      }
  }
}

void Program::addEdit(Edit E) {
  auto Found = ClassOfRoot.find(find(E.Node));
  if (Found != ClassOfRoot.end()) {
    LockClass &Class = Classes[Found->second];
    bool ChecksErrors = E.Text.find("ERRORCHECK") != std::string::npos;
    Class.Plain &= !ChecksErrors && E.Text.find("RECURSIVE") == std::string::npos;
    if (ChecksErrors)
      Class.ChecksErrors = E.At;
    size_t Name = E.Text.find("$CLASS");
    if (Name != std::string::npos)
      E.Text.replace(Name, StringRef("$CLASS").size(), Class.Identifier);
  }
  Edits[Together.find(E.Node)].push_back(std::move(E));
}

void Program::collectEdits(const std::vector<UnitFacts> &Units) {
  std::map<std::string, std::vector<Edit>> Bodies; // by layer
  for (const UnitFacts &Unit : Units)
    for (Edit E : Unit.Edits) {
      std::string Names = E.Where == Edit::AtUse ? Own.of(E.Macro) : "", Layer = Own.of(E.Node);
      if (!Names.empty())
        E.Macro = Names;
      if (Layer.empty()) {
        addEdit(std::move(E));
      } else if (Names.empty()) { // else the layer's own use of its name
        // Those who call the layer name their class.
        const StringRef Class = "RELOCK_CLASS($CLASS)";
        if (size_t At = E.Text.find(Class); At != std::string::npos)
          E.Text.replace(At, Class.size(), "NULL");
        if (E.Where == Edit::Anywhere || E.Where == Edit::AtUse) {
          E.Where = Edit::InBody;
          E.Macro = Layer;
        }
        E.Layer = Layer;
        Bodies[Layer].push_back(std::move(E));
      }
    }
  collectLayerEdits(Units, Bodies);
  auto Key = [](const Edit &E) {
    return std::tie(E.At, E.Length, E.Text, E.Where, E.Macro, E.Variable, E.Use);
  };
  for (auto &[Group, List] : Edits) {
    dropNeedlessInitialisers(List);
    dropOtherClasses(List);
    sort(List, [&](const Edit &A, const Edit &B) { return Key(A) < Key(B); });
    List.erase(std::unique(List.begin(), List.end(),
                           [&](const Edit &A, const Edit &B) { return Key(A) == Key(B); }),
               List.end());
  }
}

// Where the body of a macro names a class, the other uses of the macro are replaced, and what they
// would have the body say does not count.
void Program::dropOtherClasses(std::vector<Edit> &List) {
  std::set<Position> Named;
  for (const Edit &E : List)
    if (E.Where == Edit::Anywhere && StringRef(E.Text).contains("RELOCK_CLASS("))
      Named.insert(E.At);
  erase_if(List, [&](const Edit &E) {
    return E.Where == Edit::InBody && E.Text == ", NULL" && Named.count(E.At);
  });
}

// A class that calls initialise needs no initialiser, and several tentative definitions of one
// variable have one in all.
void Program::dropNeedlessInitialisers(std::vector<Edit> &List) const {
  std::set<const LockClass *> Named;
  std::map<std::string, Position> First;
  for (const Edit &E : List)
    if (E.Where != Edit::IfUnnamed && E.Text.find("RELOCK_CLASS(") != std::string::npos)
      Named.insert(classOf(E.Node));
    else if (E.Where == Edit::IfUnnamed)
      if (auto [It, New] = First.try_emplace(E.Variable, E.At); !New)
        It->second = std::min(It->second, E.At);
  erase_if(List, [&](const Edit &E) {
    return E.Where == Edit::IfUnnamed &&
           (Named.count(classOf(E.Node)) || !(First.at(E.Variable) == E.At));
  });
}

// A unit may compile the text of an operation as something else, or as nothing: a macro that is
// empty in a configuration without threads, say. If the operation is spelled in a macro body, that
// configuration is not touched; if it is spelled in the function, it would be.
void Program::collectConfigurations(const std::vector<UnitFacts> &Units) {
  std::vector<std::set<std::pair<Position, Position>>> Has(Units.size());
  std::map<Position, std::vector<size_t>> Definers;         // units by function definition
  std::map<std::string, std::set<std::string>> Initialised; // by macro: what its body is left to
  for (size_t I = 0; I < Units.size(); ++I) {
    for (const Site &S : Units[I].Sites)
      Has[I].insert({S.At, S.Spelled});
    for (const LockCall &C : Units[I].LockCalls)
      Has[I].insert({C.At, C.Spelled});
    for (const Function &F : Units[I].Functions)
      if (F.Defined && !F.Alias)
        Definers[F.At].push_back(I);
  }
  for (const UnitFacts &Unit : Units)
    for (const Site &S : Unit.Sites) {
      auto Found = ClassOfRoot.find(find(S.Node));
      if (S.Function.empty() || Found == ClassOfRoot.end())
        continue;
      bool Differs = any_of(Definers[S.FunctionAt],
                            [&](size_t Other) { return !Has[Other].count({S.At, S.Spelled}); });
      if (Differs && S.InMacro) // the use stays as it is; the body of the macro changes
        for (auto &[Group, List] : Edits)
          erase_if(List, [&, Use = tokenNode(S.At)](const Edit &E) {
            const bool OfUse =
                E.Where == Edit::AtUse ? E.At == S.At && E.Use.empty() : E.Use == Use;
            if (!OfUse)
              return false;
            if (S.Kind == Operation::Init)
              Initialised[E.Macro].insert(Classes[Found->second].Identifier);
            return true;
          });
      else if (Differs)
        Classes[Found->second].Kept.push_back(
            {"other-configuration",
             "is operated on here, which another command for this text compiles differently",
             S.At});
    }
  // A call of a layer's function may be spelled as one of POSIX's.
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls) {
      const std::string Lock = Own.lockOf(C);
      auto F = Functions.find(C.Function);
      if (Lock.empty() || C.InMacro || F == Functions.end() ||
          none_of(Definers[F->second.At],
                  [&](size_t Other) { return !Has[Other].count({C.At, C.Spelled}); }))
        continue;
      if (auto Found = ClassOfRoot.find(find(Lock)); Found != ClassOfRoot.end())
        Classes[Found->second].Kept.push_back(
            {"other-configuration",
             "is operated on here, which another command for this text compiles differently",
             C.At});
    }
  // The body names their class where it is one; else theirs is the default class.
  for (auto &[Group, List] : Edits)
    for (Edit &E : List) {
      auto Users = Initialised.find(E.Macro);
      if (E.Where == Edit::InBody && E.Text == ", NULL" && Users != Initialised.end() &&
          Users->second.size() == 1)
        E.Text = ", RELOCK_CLASS(" + *Users->second.begin() + ")";
    }
}

void Program::collectKernelOwned(const std::vector<UnitFacts> &Units) {
  auto KernelOwned = [&](const std::string &Node) {
    const LockClass *Class = classOf(Node);
    return Class && any_of(Class->Kept, [](const Reason &R) {
             return R.Code == "priority" || R.Code == "robust";
           });
  };
  auto Add = [&](const std::string &Function, StringRef Name, const std::string &Mutex,
                 const Position &At) {
    std::string How =
        ("'" + Name + "' takes '" + classOf(Mutex)->Name + "', whose owner the kernel knows").str();
    TakesKernelOwned.try_emplace(Function, std::vector<Step>{{How, At}});
  };
  for (const UnitFacts &Unit : Units)
    for (const Site &S : Unit.Sites)
      if (acquires(S.Kind) && KernelOwned(S.Node))
        Add(S.Function, S.FunctionName, S.Node, S.At);
  for (const auto &[Node, F] : Functions)
    for (const Call &C : F.Calls)
      if (const Wrapper *W = wrapperOf(C.Function); W && KernelOwned(W->Node))
        Add(Node, F.Name, W->Node, C.At);
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls)
      if (std::string Lock = Own.lockOf(C);
          !Lock.empty() && acquires(Own.operatorOf(C.Callee)->Kind) && KernelOwned(Lock))
        if (auto F = Functions.find(C.Function); F != Functions.end())
          Add(C.Function, F->second.Name, Lock, C.At);
}

void Program::keep(const std::string &Id, Reason Why) {
  auto Class = find_if(Classes, [&](const LockClass &C) { return C.Id == Id; });
  Class->Kept.push_back(std::move(Why));
  keepGroups();
}

Reason sharesTextWithKept(const LockClass &Kept) {
  return {"group",
          "shares source text (a macro, or the name of its type) with '" + Kept.Name +
              "', which is kept",
          Kept.Kept.front().At};
}

void Program::keepGroups() {
  std::map<std::string, const LockClass *> KeptIn; // the first of each group
  for (const LockClass &Class : Classes)
    if (!Class.Kept.empty())
      KeptIn.try_emplace(Class.Group, &Class);
  std::vector<std::pair<LockClass *, Reason>> Added;
  for (LockClass &Class : Classes)
    if (auto Found = KeptIn.find(Class.Group); Found != KeptIn.end() && Class.Kept.empty())
      Added.push_back({&Class, sharesTextWithKept(*Found->second)});
  for (auto &[Class, Why] : Added)
    Class->Kept.push_back(Why);
}

// The functions of skipped text that operate on what they are given, themselves or by others.
static std::set<std::string>
operatorsOfSkippedText(const std::map<std::pair<Position, std::string>, SkippedSite> &Sites) {
  std::set<std::string> Result;
  for (bool More = true; More;) {
    More = false;
    for (const auto &[Key, S] : Sites)
      if (!S.OfParameterOf.empty() && (S.Through.empty() || Result.count(S.Through)))
        More |= Result.insert(S.OfParameterOf).second;
  }
  return Result;
}

using DeclarationsByName = std::map<std::pair<std::string, bool>, std::vector<const Declaration *>>;

static std::vector<const Declaration *> membersOf(const DeclarationsByName &Named,
                                                  StringRef Record) {
  std::vector<const Declaration *> Result;
  for (const auto &[Name, Declarations] : Named)
    copy_if(Declarations, std::back_inserter(Result), [&](const Declaration *D) {
      return D->Kind == DeclarationKind::Field && StringRef(D->Name).rsplit('.').first == Record;
    });
  return Result;
}

void Program::collectUncovered(const std::vector<UnitFacts> &Units, bool Accept) {
  std::set<Position> Covered;
  std::map<std::pair<Position, std::string>, SkippedSite> Seen; // by place and operand
  std::map<Position, std::set<size_t>> Operated; // classes, by the name of the lock function
  for (const UnitFacts &Unit : Units) {
    for (const Edit &E : Unit.Edits)
      Covered.insert(E.At);
    for (const relock::Site &S : Unit.Sites) {
      Covered.insert(S.At);
      Covered.insert(S.Spelled);
      if (auto Class = ClassOfRoot.find(find(S.Node)); Class != ClassOfRoot.end())
        Operated[S.Spelled].insert(Class->second);
    }
  }
  for (const UnitFacts &Unit : Units)
    for (const SkippedSite &S : Unit.Skipped)
      if (!Covered.count(S.At))
        if (auto [It, New] = Seen.insert({{S.At, S.Operand}, S}); !New) {
          SkippedSite &Other = It->second;
          Other.Exact &= S.Exact;
          append_range(Other.Locks, S.Locks);
          // What only one of two units knows does not hold for both.
          for (std::string SkippedSite::*Known :
               {&SkippedSite::Record, &SkippedSite::Through, &SkippedSite::OfParameterOf})
            if (Other.*Known != S.*Known)
              (Other.*Known).clear();
        }
  const std::set<std::string> Given = operatorsOfSkippedText(Seen);
  // The classes that an operand such as `p->lock` or `&lock` may name.
  DeclarationsByName Named;
  for (const UnitFacts &Unit : Units)
    for (const Declaration &D : Unit.Declarations)
      Named[{StringRef(D.Name).rsplit('.').second.empty()
                 ? D.Name
                 : StringRef(D.Name).rsplit('.').second.str(),
             D.Kind == DeclarationKind::Field}]
          .push_back(&D);
  for (auto &[Key, Site] : Seen) {
    if (!Site.Through.empty() && !Given.count(Site.Through))
      continue;
    std::set<size_t> Means;
    const bool AnyMember = Site.Operand.empty() && !Site.Record.empty(); // an initialiser of it
    for (const Declaration *D :
         AnyMember ? membersOf(Named, Site.Record) : Named[{Site.Operand, Site.Member}]) {
      bool Visible =
          D->Kind == DeclarationKind::Field
              ? Site.Record.empty() || StringRef(D->Name).rsplit('.').first == Site.Record
              : D->Kind == DeclarationKind::Global || D->At.File == Site.At.File;
      auto Found = ClassOfRoot.find(find(D->Node));
      if (Visible && Found != ClassOfRoot.end())
        Means.insert(Found->second);
    }
    // What a variable of skipped text points to is not known, nor a field that only such text has.
    // The address of a variable or field that the program does not declare is a lock of its own.
    bool Any = Site.Pointer && (Means.empty() || !Site.Member);
    // Who calls a function of skipped text stands there, too, each call for itself.
    if (!Site.OfParameterOf.empty()) {
      Any = false;
      Means.clear();
    }
    if (Site.Exact) {
      Any = false;
      Means.clear();
      for (const std::string &Lock : Site.Locks)
        if (auto Found = ClassOfRoot.find(find(Lock)); Found != ClassOfRoot.end())
          Means.insert(Found->second);
    }
    if (Any)
      for (size_t I = 0; I < Classes.size(); ++I)
        Means.insert(I);
    std::set<std::string> Ids;
    for (size_t I : Means) {
      // By a macro that is used with locks of this class, and so is converted with it.
      if (Operated[Site.Operation].count(I))
        continue;
      Ids.insert(Classes[I].Id);
      if (!Accept && !Site.Elsewhere)
        Classes[I].Kept.push_back(
            {"uncovered",
             Site.Unrun
                 ? "mixes with a pointer that is not followed, in an arm of a constant condition "
                   "that never runs here"
                 : (Site.Through.empty() ? "may be operated on here"
                                         : "may be given to '" + Site.Through + "' here") +
                       (Any ? " through a pointer" : "") +
                       (Site.Through.empty() ? ", in text that"
                                             : ", which operates on it in text that") +
                       " no indexed configuration compiles (" + Site.Condition +
                       "); index one that does",
             Site.At});
    }
    if (Site.Acquires || (Accept && !Ids.empty()))
      (Site.Acquires ? Uncovered : LeftOperations)
          .push_back({Site.At, Site.Operator, Site.Operand, Site.Condition, Site.Elsewhere,
                      std::move(Ids), Site.Unrun});
  }
}

// What would take a lock in an arm that never runs is no section, and its text changes with its
// class: it keeps none, and is listed so that all text is accounted for.
void Program::collectUnrun(const std::vector<UnitFacts> &Units) {
  std::set<Position> Listed; // where another unit runs the arm of a header, it is a site
  for (const UnitFacts &Unit : Units)
    for (const Site &S : Unit.Sites)
      Listed.insert(S.At);
  for (const UnitFacts &Unit : Units)
    for (const Call &C : Unit.UnrunCalls) {
      const Wrapper *Wraps = wrapperOf(C.Function);
      const Layers::Operator *Does = operatorOf(C.Function);
      const std::optional<LockFunction> Api = lockFunction(C.Name);
      if (Wraps ? acquires(Wraps->Kind) : Does ? acquires(Does->Kind) : Api && acquires(Api->Kind))
        if (Listed.insert(C.At).second)
          Uncovered.push_back({C.At, C.Name, "", "", /*Elsewhere=*/true, {}, /*Unrun=*/true});
    }
  stable_sort(Uncovered,
              [](const UncoveredSite &A, const UncoveredSite &B) { return A.At < B.At; });
}

std::string describe(const UncoveredSite &Site) {
  if (Site.Unrun)
    return Site.Operator + ", in an arm of a constant condition that never runs here";
  return Site.Operator +
         (Site.Elsewhere ? " in text for another system ("
                         : " in text that no indexed configuration compiles (") +
         Site.Condition + ")";
}

// --- Queries ------------------------------------------------------------------------------------

const LockClass *Program::classOf(const std::string &Node) const {
  auto It = ClassOfRoot.find(find(Node));
  return It == ClassOfRoot.end() ? nullptr : &Classes[It->second];
}

const OtherOperator *Program::relayOfOtherLock(const std::string &FunctionNode) const {
  auto Found = OtherRelays.find(FunctionNode);
  return Found == OtherRelays.end() ? nullptr : &Found->second;
}

std::optional<OtherOperator> Program::otherOperator(const Call &C) const {
  if (const OtherOperator *Relay = relayOfOtherLock(C.Function))
    return *Relay;
  std::optional<OtherLock> Does = Project.otherLock(C.Name);
  return Does ? std::optional(OtherOperator{*Does}) : std::nullopt;
}

const Layers::Operator *Program::operatorOf(const std::string &FunctionNode) const {
  return Own.operatorOf(FunctionNode);
}

std::string Program::groupGiven(const LockCall &Call) const {
  std::string Lock = Own.lockOf(Call);
  return Lock.empty() ? "" : Together.find(Lock);
}

std::string Program::layerOf(const std::string &FunctionNode) const {
  const Layers::Operator *Does = Own.operatorOf(FunctionNode);
  return Does ? Own.of(parameterNode(FunctionNode, Does->Mutex)) : "";
}

std::string Program::lockAt(const std::string &FunctionNode, const Position &At,
                            const Position &Spelled) const {
  const Layers::Operator *Does = Own.operatorOf(FunctionNode);
  auto Found = Does ? Given.find({At, Spelled, FunctionNode}) : Given.end();
  return Found == Given.end() ? "" : Found->second[Does->Mutex];
}

std::string Program::calledThrough(const IndirectCall &C) const {
  for (const std::string &Of : {C.Slot, C.Type})
    if (std::string Node = "pointer:" + Of; !Of.empty() && Functions.count(Node))
      return Node;
  return "";
}

bool Program::canExecuteThrough(const std::string &FunctionNode) const {
  const Wrapper *W = wrapperOf(FunctionNode);
  return W && !W->Elsewhere && !W->End.File.empty() &&
         (W->Body || (W->Pure && (W->Computed || (W->Exported && W->Parameter < 0)))) &&
         !Functions.at(FunctionNode).Prototypes.empty() &&
         all_of(Functions.at(FunctionNode).Prototypes,
                [&](const Prototype &P) { return isOwnText(P.At); });
}

std::pair<std::string, std::string> Program::releasedBy(const std::string &FunctionNode) const {
  auto Found = Functions.find(FunctionNode);
  if (Found == Functions.end())
    return {};
  return {Found->second.Releases, Found->second.OfRecord};
}

bool Program::isFollowed(const std::string &FunctionNode) const {
  auto Found = Functions.find(FunctionNode);
  return Found != Functions.end() && relock::isFollowed(Found->second);
}

bool Program::neverReturns(const std::string &FunctionNode) const {
  auto Found = Functions.find(FunctionNode);
  return Found != Functions.end() && Found->second.Defined && Found->second.NeverReturns;
}

bool Program::endsProcess(const std::string &FunctionNode) const {
  std::set<StringRef> Seen;
  auto Found = Functions.find(FunctionNode);
  while (Found != Functions.end() && Found->second.Defined && Seen.insert(Found->first).second) {
    const DeclaredFunction *Declared = Project.named(Found->second.Name);
    if (Found->second.EndsProcess || (Declared && Declared->Effect == FunctionEffect::Ends))
      return true;
    Found = Functions.find(Found->second.LastCallee);
  }
  return false;
}

bool Program::isDefined(const std::string &FunctionNode) const {
  auto Found = Functions.find(FunctionNode);
  return Found != Functions.end() && Found->second.Defined;
}

const Wrapper *Program::wrapperOf(const std::string &FunctionNode) const {
  auto It = Functions.find(FunctionNode);
  return It != Functions.end() && It->second.Wraps ? &*It->second.Wraps : nullptr;
}

} // namespace relock
