// SPDX-License-Identifier: MIT
#include "program/Reach.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {

static const Function *find(const Program &Linked, const std::string &Node) {
  auto Found = Linked.Functions.find(Node);
  return Found == Linked.Functions.end() ? nullptr : &Found->second;
}

CallGraph::CallGraph(const Program &Linked) : Linked(Linked) {
  for (const auto &[Node, F] : Linked.Functions) {
    for (const Call &C : F.Calls) {
      const Function *Callee = find(Linked, C.Function);
      if (!Callee)
        continue;
      bool ToWrapper = Callee->Wraps && Callee->Wraps->Kind != Operation::Wait;
      if (ToWrapper ? !Callee->Wraps->Pure : isFollowed(*Callee))
        Callers[Callee].push_back({&F, &C, ToWrapper});
    }
  }
}

// Level by level. Of the calls by which a function comes equally near, its first one is the way.
Reach CallGraph::reach(WayEnds Ends, bool ThroughWrappers,
                       const std::set<std::string> &Stop) const {
  Reach Result(Linked, std::move(Ends));
  std::vector<const Function *> Level;
  for (const auto &[Node, Steps] : Result.Ends)
    if (const Function *F = find(Linked, Node))
      Level.push_back(F);
  std::set<const Function *> Done(Level.begin(), Level.end());
  while (!Level.empty()) {
    std::vector<const Function *> Above;
    for (const Function *Callee : Level) {
      auto Found = Callers.find(Callee);
      if (Found == Callers.end())
        continue;
      for (const Edge &E : Found->second) {
        if ((E.ToWrapper && !ThroughWrappers) || Done.count(E.Caller) || Stop.count(E.Caller->Node))
          continue;
        auto [Known, New] = Result.Next.try_emplace(E.Caller, E.Through);
        if (New)
          Above.push_back(E.Caller);
        else
          Known->second = std::min(Known->second, E.Through); // both lie in the caller's calls
      }
    }
    Done.insert(Above.begin(), Above.end());
    append_range(Result.Nearest, Above);
    Level = std::move(Above);
  }
  return Result;
}

bool Reach::has(const std::string &Node) const { return Ends.count(Node) || next(Node); }

const Call *Reach::next(const std::string &Node) const {
  const Function *F = find(*Linked, Node);
  return F ? Next.lookup(F) : nullptr;
}

// Caller: null for the section itself.
static Step callStep(const Program &Linked, const Function *Caller, const Call &C) {
  const Function *Callee = find(Linked, C.Function);
  if (Caller && StringRef(Caller->Node).starts_with("pointer:"))
    return {"which may point to '" + C.Name + "'", Callee ? Callee->At : C.At};
  if (Caller && !Caller->Defined)
    return {"'" + Caller->Name + "' may call '" + C.Name + "', which its library was given",
            Callee ? Callee->At : C.At};
  std::string Text = Caller ? "'" + Caller->Name + "' " : "";
  if (StringRef(C.Function).starts_with("pointer:"))
    return {Text + "calls through a " + C.Name, C.At};
  return {Text + "calls '" + C.Name + "'", C.At};
}

std::vector<Step> Reach::way(const Call &C) const {
  std::vector<Step> Steps = {callStep(*Linked, nullptr, C)};
  const std::string *Node = &C.Function;
  while (const Call *Further = next(*Node)) {
    Steps.push_back(callStep(*Linked, find(*Linked, *Node), *Further));
    Node = &Further->Function;
  }
  if (auto End = Ends.find(*Node); End != Ends.end())
    append_range(Steps, End->second);
  return Steps;
}

} // namespace relock
