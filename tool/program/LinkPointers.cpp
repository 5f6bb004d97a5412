// SPDX-License-Identifier: MIT
//
// What pointers to functions may point to, by type, field and table, and what libraries call of
// what they were given.
#include "program/Program.h"

#include "index/Index.h"
#include "program/Effects.h"
#include "program/NodeNames.h"
#include "support/Source.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace relock {

// The functions that pointers in a slot may point to. Open: others, too.
using FunctionNames = std::map<std::string, std::string>; // node → name
struct PointedTo {
  FunctionNames Functions;
  bool Open = false;
  std::set<std::string> Next; // the slots to which they go from here
};
using Slots = std::map<std::string, PointedTo>;

static void followSlots(Slots &All) {
  std::vector<std::string> Changed;
  for (const auto &[Name, S] : All)
    Changed.push_back(Name);
  while (!Changed.empty()) {
    const PointedTo &From = All[Changed.back()];
    Changed.pop_back();
    for (const std::string &Next : From.Next) {
      PointedTo &To = All[Next];
      size_t Before = To.Functions.size() + To.Open;
      To.Functions.insert(From.Functions.begin(), From.Functions.end());
      To.Open |= From.Open;
      if (To.Functions.size() + To.Open != Before)
        Changed.push_back(Next);
    }
  }
}

// The slots that begin with Prefix, by what follows it.
static std::map<std::string, std::string> slotsBehind(const Slots &All, const std::string &Prefix) {
  std::map<std::string, std::string> Result;
  for (auto At = All.lower_bound(Prefix);
       At != All.end() && StringRef(At->first).starts_with(Prefix); ++At)
    Result[At->first.substr(Prefix.size())] = At->first;
  return Result;
}

namespace {

// What files in other languages can do with pointers to functions, by the names in them: they store
// to a member where they see its struct, perhaps without its name, as `{f, g}` does; to a variable
// that they name; and give to functions that they name, or that somebody has the address of. What
// the C files have in common with them is analysed there.
class ForeignText {
public:
  explicit ForeignText(const IndexResult &Index) : None(Index.NotC.empty()) {
    std::set<StringRef> OfC;
    if (!None)
      for (const auto &D : distinct(Index.Units, &UnitFacts::Dependencies))
        OfC.insert(D->File);
    for (const ForeignFile &Foreign : Index.NotC) {
      std::set<StringRef> Read;
      for (const FileNames &In : Foreign.NamesIn)
        Read.insert(In.File);
      // The program's own headers may be the system's for them (-isystem): these are not read.
      Known &= Foreign.All && all_of(Foreign.Includes, [&](StringRef File) {
                 return Read.count(File) || !File.starts_with(Index.Root + "/");
               });
      for (const FileNames &In : Foreign.NamesIn) {
        Seen.insert(In.Names.begin(), In.Names.end());
        if (!OfC.count(In.File))
          Own.insert(In.Names.begin(), In.Names.end());
      }
    }
  }

  bool none() const { return None; }
  bool isKnown() const { return Known; } // all that they include of the program is
  bool names(StringRef Name) const { return Own.count(Name) != 0; }

  // Taken: the functions whose address C files take.
  bool mayStore(StringRef Slot, const std::set<std::string> &Taken) const {
    if (None)
      return false;
    if (Slot.starts_with("*"))
      return true;
    if (Slot.consume_front("."))
      return Seen.count(Slot.split(' ').first) != 0;
    if (Slot.ends_with("#result")) // of a function of theirs, that a call through a pointer reaches
      return Slot.starts_with("(");
    if (StringRef Node = Slot;
        Node.consume_front("P:") && Taken.count(Node.rsplit('#').first.str()))
      return true;
    return !Slot.starts_with("(") &&
           any_of(split(Slot, '@'), [&](StringRef Part) { return names(Part.split('#').first); });
  }

private:
  const bool None;
  bool Known = true;
  std::set<StringRef> Own, Seen;
};

} // namespace

// Taken: the functions whose address becomes a pointer to functions of a type. Uncalled: those that
// only others call.
static Slots slotsOf(const std::vector<UnitFacts> &Units,
                     const std::map<std::string, FunctionNames> &Taken,
                     const std::set<std::string> &Uncalled, const ForeignText &Foreign,
                     function_ref<bool(const std::string &)> IsDefined) {
  Slots All;
  for (const auto &F : distinct(Units, &UnitFacts::FunctionFlows))
    if (!F->Function.empty())
      All[F->To].Functions[F->From] = F->Function;
    else if (F->From.empty())
      All[F->To].Open = true;
    else
      All[F->From].Next.insert(F->To), All[F->To];
  for (const std::string &Node : Uncalled)
    for (const auto &[Index, Slot] : slotsBehind(All, "P:" + Node + "#"))
      All[Slot].Open = true;
  for (auto &[Name, Slot] : All)
    if (StringRef Node = Name; Node.consume_back("#result") && !Node.starts_with("("))
      Slot.Open |= !IsDefined(Node.str());
  std::set<std::string> TakenNodes;
  for (const auto &[Type, Functions] : Taken)
    for (const auto &[Node, Name] : Functions)
      TakenNodes.insert(Node);
  for (auto &[Name, Slot] : All)
    Slot.Open |= Foreign.mayStore(Name, TakenNodes);
  // What a call through a pointer gives and gets, those that it may reach get and give.
  std::map<std::string, std::string> OfUnknown = slotsBehind(All, "()#");
  for (const auto &[Type, Functions] : Taken) {
    std::map<std::string, std::string> OfType = slotsBehind(All, "(" + Type + ")#");
    for (const auto *Through : {&OfType, &OfUnknown})
      for (const auto &[What, Slot] : *Through)
        for (const auto &[Node, Name] : Functions)
          if (What == "result")
            All[Node + "#result"].Next.insert(Slot);
          else
            All[Slot].Next.insert("P:" + Node + "#" + What);
  }
  followSlots(All);
  return All;
}

namespace {

// Makes the functions of libraries that call what others of their library were given do so. Known:
// what pointers may point to; null: anything. Taken: the functions whose address is taken.
class GivenFunctions {
public:
  GivenFunctions(FunctionTable &Functions, const ProjectFile &Project, const Slots *Known,
                 const std::set<std::string> &Taken, const ForeignText &Foreign)
      : Functions(Functions), Project(Project), Known(Known), Taken(Taken), Foreign(Foreign) {
    for (const auto &[Node, F] : Functions)
      for (const Call &C : F.Calls)
        if (auto Callee = Functions.find(C.Function);
            Callee == Functions.end() || !Callee->second.Defined) {
          std::string Name = plainName(C.Name).str();
          Nodes[Name].insert(C.Function);
          Calls.try_emplace(Name, C.At);
        }
  }

  void link() {
    for (const auto &[Name, Same] : Nodes) {
      const DeclaredFunction *D = declarationOf(Name, /*Defined=*/false, Project);
      const LibraryFunction *Library = D ? nullptr : libraryFunction(Name);
      std::vector<CallbackSetter> Setters;
      if (D)
        Setters = D->CallsGivenTo;
      else if (Library && !Library->CallsGivenTo.empty())
        Setters = {{Library->CallsGivenTo}};
      if (Setters.empty())
        continue;
      // Where that is said; of a function that Relock knows by itself, where one is given.
      const Position At =
          D ? D->At : Calls[Calls.count(Setters.front().Name) ? Setters.front().Name : Name];
      FunctionNames Given;
      bool Sure = all_of(Setters, [&](const CallbackSetter &To) { return collect(To, Given); });
      for (const std::string &Node : Same) {
        Function &F = Functions[Node];
        F.Node = Node, F.Name = Name;
        if (!Sure)
          F.IndirectCalls.push_back({At, "", "", ""});
        else
          for (const auto &[Callback, Name] : Given)
            F.Calls.push_back({Callback, Name, At});
      }
    }
  }

private:
  FunctionTable &Functions;
  const ProjectFile &Project;
  const Slots *Known;
  const std::set<std::string> &Taken;
  const ForeignText &Foreign;
  std::map<std::string, std::set<std::string>> Nodes; // of functions that libraries define, by name
  std::map<std::string, Position> Calls;              // the first of each

  // False: others may be given to it, too, or lock operations.
  bool collect(const CallbackSetter &Setter, FunctionNames &Given) const {
    if (Foreign.names(Setter.Name))
      return false;
    auto Same = Nodes.find(Setter.Name);
    if (Same == Nodes.end())
      return Known && !Taken.count(nodeOfFunction(Setter.Name));
    for (const std::string &Node : Same->second) {
      if (!Known || Taken.count(Node))
        return false;
      for (const std::string &Prefix : {givenSlot(Node), "P:" + Node + "#"})
        for (const auto &[Index, Slot] : slotsBehind(*Known, Prefix)) {
          unsigned Number = 0;
          if (!Setter.Arguments.empty() && !StringRef(Index).getAsInteger(10, Number) &&
              !Setter.Arguments.count(Number + 1))
            continue;
          const PointedTo &Value = Known->at(Slot);
          if (Value.Open)
            return false;
          Given.insert(Value.Functions.begin(), Value.Functions.end());
        }
    }
    return none_of(Given, [&](const auto &G) {
      auto F = Functions.find(G.first);
      return F != Functions.end() && F->second.Wraps;
    });
  }
};

} // namespace

// An inline function of a library's header that calls what it is given: its callers count that, as
// long as each of them calls it by its name.
static void leaveToCallers(FunctionTable &Functions) {
  for (auto &[Node, F] : Functions) {
    auto IsGiven = [Own = givenSlot(Node)](const IndirectCall &C) {
      return StringRef(C.Slot).starts_with(Own);
    };
    if (!F.AddressTaken)
      erase_if(F.IndirectCalls, IsGiven);
    else
      for (IndirectCall &C : make_filter_range(F.IndirectCalls, IsGiven))
        C.Slot.clear();
  }
}

// A static variable that nobody stores a function to is null, and nobody calls through it. What is
// so of others, a library may have set.
static bool isStaticVariable(StringRef Slot) {
  return !Slot.starts_with("P:") && !Slot.contains('#') && isOfOneFile(Slot);
}

// A function that calls all that a pointer may point to, for each type of function whose pointers
// are all known, and each slot. Calls through such pointers become calls of that function.
void Program::linkPointers(const IndexResult &Index) {
  leaveToCallers(Functions);
  const std::vector<UnitFacts> &Units = Index.Units;
  const ForeignText Foreign(Index);
  if (!Index.Unparsed.empty() || Index.Broken || !Foreign.isKnown())
    return GivenFunctions(Functions, Project, nullptr, {}, Foreign).link();
  std::set<std::string> Open = {""}, Called, Uncalled, TakenNodes;
  std::map<std::string, FunctionNames> Taken; // by type
  for (const UnitFacts &Unit : Units)
    Open.insert(Unit.OpenTypes.begin(), Unit.OpenTypes.end());
  for (const auto &T : distinct(Units, &UnitFacts::Taken)) {
    Taken[T->Type][T->Function] = T->Name;
    TakenNodes.insert(T->Function);
  }
  for (const auto &[Node, F] : Functions)
    for (const Call &C : F.Calls)
      Called.insert(C.Function);
  for (const auto &[Node, F] : Functions)
    if (!Project.Closed && !F.AddressTaken && !Called.count(Node) && !F.Callbacks.empty()) {
      Open.insert(F.Callbacks.begin(), F.Callbacks.end());
      Uncalled.insert(Node);
    }
  const auto Casts = distinct(Units, &UnitFacts::PointerCasts);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const auto &Cast : Casts) {
      const auto &[From, To] = *Cast;
      size_t Before = Open.size() + Taken[To].size();
      if (Open.count(From))
        Open.insert(To);
      Taken[To].insert(Taken[From].begin(), Taken[From].end());
      Changed |= Open.size() + Taken[To].size() != Before;
    }
  }
  AllPointersKnown = Foreign.none();
  OpenPointers = Open;
  auto Add = [&](const std::string &Of, std::string Name, const FunctionNames &Targets) {
    if (any_of(Targets, [&](const auto &T) { return wrapperOf(T.first) != nullptr; }))
      return;
    Function Any;
    Any.Node = "pointer:" + Of;
    Any.Name = std::move(Name);
    Any.Defined = true;
    for (const auto &[Node, Name] : Targets)
      Any.Calls.push_back({Node, Name, {}});
    Functions[Any.Node] = std::move(Any);
  };
  Slots All = slotsOf(Units, Taken, Uncalled, Foreign,
                      [&](const std::string &Node) { return isDefined(Node); });
  for (const auto &[Type, Targets] : Taken)
    if (!Targets.empty() && !Open.count(Type) && Foreign.none())
      Add(Type, "pointer to " + Type, Targets);
  // What is given to a function of another program may be found again wherever its type allows.
  FunctionNames Escaped;
  for (const auto &[Name, Slot] : All)
    if (StringRef Node = Name; Node.consume_front("P:") && !isDefined(Node.rsplit('#').first.str()))
      Escaped.insert(Slot.Functions.begin(), Slot.Functions.end());
  std::map<std::string, std::string> Read; // the slots that calls read, and how people call them
  for (const auto &[Node, F] : Functions)
    for (const IndirectCall &C : F.IndirectCalls)
      if (auto Known = All.find(C.Slot); Known != All.end()) {
        Read.try_emplace(C.Slot, C.Name.empty() ? C.Type : C.Name);
        copy_if(Taken[C.Type],
                std::inserter(Known->second.Functions, Known->second.Functions.end()),
                [&](const auto &T) { return Escaped.count(T.first) != 0; });
      }
  for (const auto &[Slot, Name] : Read)
    if (const PointedTo &Known = All[Slot];
        !Known.Open && (!Known.Functions.empty() || isStaticVariable(Slot)))
      Add(Slot, "pointer " + Name, Known.Functions);
  for (auto &[Node, F] : Functions)
    erase_if(F.IndirectCalls, [&, &Calls = F.Calls](const IndirectCall &C) {
      std::string Any = calledThrough(C);
      if (!Any.empty())
        Calls.push_back({Any, Functions[Any].Name, C.At});
      return !Any.empty();
    });
  GivenFunctions(Functions, Project, &All, TakenNodes, Foreign).link();
}

} // namespace relock
