// SPDX-License-Identifier: MIT
#include "program/Merge.h"

#include "program/MacroUsers.h"
#include "program/NodeNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <deque>

using namespace llvm;

namespace relock {

static bool isText(const Flow &F) {
  return F.How == Flow::Text || F.How == Flow::NamingText || F.How == Flow::Named;
}

MergeFinder::MergeFinder(const std::vector<UnitFacts> &Units, const Program &Linked)
    : Units(Units), Linked(Linked), MacroUsers(macroUsers(Units)) {
  auto Add = [&](const Flow &F) {
    Beside[F.From].push_back(&F);
    Beside[F.To].push_back(&F);
  };
  for (const UnitFacts &Unit : Units) {
    for (const Declaration &D : Unit.Declarations) {
      auto [Known, New] = Declared.try_emplace(D.Node, &D);
      if (!New && D.Definition && !Known->second->Definition)
        Known->second = &D;
    }
    for (const Flow &F : Unit.Flows)
      if (!Linked.keepsApart(F))
        Add(F);
  }
  for (const Flow &F : MacroUsers)
    Add(F);
}

bool MergeFinder::isMacroUser(const Flow *F) const {
  return !MacroUsers.empty() && F >= &MacroUsers.front() && F <= &MacroUsers.back();
}

// --- Names --------------------------------------------------------------------------------------

static bool isName(StringRef Name, const Declaration &D) {
  std::string InFile = (sys::path::filename(D.At.File) + ":" + D.Name).str();
  return Name == D.Name || Name == InFile || Name == InFile + ":" + std::to_string(D.At.Line);
}

static bool isPlace(StringRef Name, const Position &At) {
  auto [File, Line] = Name.rsplit(':');
  return Line == std::to_string(At.Line) &&
         (At.File.str() == File || StringRef(At.File).ends_with(("/" + File).str()));
}

std::vector<NamedLock> MergeFinder::named(StringRef Name) const {
  std::map<const LockClass *, std::set<std::string>> Found; // in the order of Program::Classes
  for (const auto &[Node, D] : Declared)
    if (isName(Name, *D))
      if (const LockClass *Class = Linked.classOf(Node))
        Found[Class].insert(Node);
  if (Found.empty())
    for (const UnitFacts &Unit : Units)
      for (const Site &S : Unit.Sites)
        if (isPlace(Name, S.At))
          if (const LockClass *Class = Linked.classOf(S.Node))
            Found[Class].insert(S.Node);
  std::vector<NamedLock> Result;
  for (const auto &[Class, Nodes] : Found) {
    if (Class->Name == Name)
      return {{Class, Nodes}};
    Result.push_back({Class, Nodes});
  }
  return Result;
}

// --- Chains -------------------------------------------------------------------------------------

std::optional<std::vector<Step>> MergeFinder::chain(const NamedLock &From, const NamedLock &To,
                                                    bool ThroughText) const {
  std::map<std::string, Link> Through; // to each node
  std::deque<std::string> Queue(From.Nodes.begin(), From.Nodes.end());
  for (const std::string &Node : From.Nodes)
    Through[Node] = {};
  for (; !Queue.empty(); Queue.pop_front()) {
    std::string At = Queue.front();
    if (To.Nodes.count(At)) {
      std::vector<Link> Links;
      for (Link Last = Through.at(At); Last.Passed; Last = Through.at(Last.Before))
        Links.push_back(Last);
      std::reverse(Links.begin(), Links.end());
      return steps(Links);
    }
    auto Further = Beside.find(At);
    if (Further == Beside.end())
      continue;
    for (const Flow *F : Further->second) {
      const std::string &Next = F->From == At ? F->To : F->From;
      if ((ThroughText || (F->How != Flow::Text && F->How != Flow::Named)) &&
          Through.try_emplace(Next, Link{F, At, Next}).second)
        Queue.push_back(Next);
    }
  }
  return std::nullopt;
}

std::vector<Step> MergeFinder::steps(const std::vector<Link> &Links) const {
  std::vector<Step> Result;
  for (size_t I = 0; I < Links.size(); ++I) {
    const Flow &F = *Links[I].Passed;
    // Text stands between the two that share it.
    bool Shared = isText(F) && I + 1 < Links.size() && Links[I].After == F.To;
    if (Shared)
      Result.push_back(sharedText(Links[I], Links[I + 1])), ++I;
    else
      Result.push_back({describe(F), F.At});
  }
  return Result;
}

Step MergeFinder::sharedText(const Link &To, const Link &From) const {
  std::string Both = shown(To.Before) + " and " + shown(From.After);
  if (auto Type = Declared.find(To.After); Type != Declared.end())
    return {Both + " are declared with the type '" + Type->second->Name + "'", Type->second->At};
  if (isMacroUser(To.Passed) || isMacroUser(From.Passed))
    return {Both + " use the macro with this text, which has to change for both", To.Passed->At};
  bool Naming = To.Passed->How == Flow::NamingText;
  return {Both + " share this text" + (Naming ? ", which names their class" : ""), To.Passed->At};
}

std::string MergeFinder::describe(const Flow &F) const {
  std::string From = shown(F.From), To = shown(F.To);
  std::string Untyped = F.Untyped ? ", as 'void *'" : "";
  switch (F.How) {
  case Flow::Argument:
    return From + " is the argument for " + To + Untyped;
  case Flow::Return:
    return From + " is returned as " + To + Untyped;
  case Flow::Assignment:
    return From + " is assigned to " + To + Untyped;
  case Flow::Initialiser:
    return From + " initialises " + To + Untyped;
  case Flow::Comparison:
    return From + " is compared with " + To;
  case Flow::Choice:
    return From + " and " + To + " are the two values of one expression";
  case Flow::Wait:
    return From + " is waited for with " + To;
  case Flow::Text:
  case Flow::NamingText:
  case Flow::Named:
    break;
  }
  return From + " and " + To + " share this text";
}

std::string MergeFinder::shown(StringRef Node) const {
  if (auto Found = Declared.find(Node.str()); Found != Declared.end()) {
    const Declaration &D = *Found->second;
    auto [Function, Name] = StringRef(D.Name).split('.');
    if (D.Kind == DeclarationKind::Parameter)
      return (Name.empty() ? "a parameter of '" + Function + "'"
                           : "parameter '" + Name + "' of '" + Function + "'")
          .str();
    return (D.Kind == DeclarationKind::Result ? "the result of '"
            : D.Condition                     ? "condition variable '"
                                              : "'") +
           D.Name + "'";
  }
  bool Parameter = Node.consume_front("P:");
  if (Parameter || Node.consume_front("R:")) {
    StringRef Owner = Parameter ? Node.rsplit('#').first : Node;
    auto F = Linked.Functions.find(Owner.str());
    std::string Name =
        F == Linked.Functions.end() ? Owner.rsplit('@').second.str() : F->second.Name;
    return (Parameter ? "a parameter of '" : "the result of '") + Name + "'";
  }
  if (Node.starts_with("A:"))
    return "memory that is allocated";
  if (Node.starts_with("D:"))
    return "an object without a name";
  if (Node.starts_with("E:"))
    return "a pointer that is not followed";
  return "'" + localName(Node) + "'";
}

} // namespace relock
