// SPDX-License-Identifier: MIT
#include "program/Layers.h"

#include "index/LockApi.h"
#include "support/Source.h"

using namespace llvm;

namespace relock {

Layers::Layers(const std::vector<UnitFacts> &Units, const FunctionTable &Functions,
               const std::set<std::string> &But) {
  findOperators(Units, Functions, But);
  for (const auto &[Function, Does] : Operators)
    for (unsigned I : Does.Locks)
      LayerOf[parameterNode(Function, I)] = parameterNode(Function, I);
  // A name that some text uses where it cannot be replaced is a type like any other.
  std::set<std::string> Fixed;
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if (F.How == Flow::Text)
        Fixed.insert(F.To);
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if (F.How == Flow::Named && !Fixed.count(F.To))
        LayerOf.emplace(F.To, F.To);
  // What a part of the layer is spelled with, or handed to, changes with it.
  for (const UnitFacts &Unit : Units)
    for (const Flow &F : Unit.Flows)
      if ((F.How == Flow::Named || F.How == Flow::Argument || F.How == Flow::Wait) && has(F.From) &&
          has(F.To))
        unite(F.From, F.To);
}

void Layers::unite(const std::string &A, const std::string &B) {
  std::string From = LayerOf.at(A), To = LayerOf.at(B);
  if (From != To)
    for (auto &[Node, Layer] : LayerOf)
      if (Layer == std::max(From, To))
        Layer = std::min(From, To);
}

void Layers::findOperators(const std::vector<UnitFacts> &Units, const FunctionTable &Functions,
                           const std::set<std::string> &But) {
  // Functions of which a call has no text of its own, or only their name.
  std::set<std::string> Unnamed, Handlers;
  for (const UnitFacts &Unit : Units)
    for (const LockCall &C : Unit.LockCalls)
      if (!C.Length)
        Unnamed.insert(C.Callee);
      else if (C.Behind.File.empty())
        Handlers.insert(C.Callee);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const auto &[Node, F] : Functions) {
      if (!F.Defined || !F.Forwards || F.AddressTaken || Operators.count(Node) ||
          Unnamed.count(Node) || But.count(Node))
        continue;
      Operator Does;
      if (auto Inner = Operators.find(F.Forwards->Callee); Inner != Operators.end()) {
        Does = Inner->second;
      } else if (std::optional<LockFunction> Api = lockFunction(F.Forwards->Posix)) {
        Does.Posix = F.Forwards->Posix;
        Does.Kind = Api->Kind;
        Does.NoAttributes = F.Forwards->NoAttributes;
        for (int Argument : {Api->Mutex, Api->Kind == Operation::Init ? -1 : Api->Companion})
          if (Argument >= 0)
            Does.Locks.insert(Argument);
        Does.Mutex = Api->Mutex >= 0 ? Api->Mutex : *Does.Locks.begin();
      } else {
        continue;
      }
      if (Does.NoAttributes && Handlers.count(Node))
        continue; // it would get an argument more
      Does.Tests |= F.Forwards->Tests;
      Changed = Operators.emplace(Node, Does).second;
    }
  }
}

std::string Layers::of(const std::string &Node) const {
  auto Found = LayerOf.find(Node);
  return Found == LayerOf.end() ? "" : Found->second;
}

void Layers::eachParameter(
    function_ref<void(const std::string &Node, const std::string &First)> Visit) const {
  std::map<std::string, std::string> Firsts;
  for (const auto &[Function, Does] : Operators)
    for (unsigned I : Does.Locks) {
      std::string Node = parameterNode(Function, I);
      Visit(Node, Firsts.emplace(of(Node), Node).first->second);
    }
}

const Layers::Operator *Layers::operatorOf(const std::string &Function) const {
  auto Found = Operators.find(Function);
  return Found == Operators.end() ? nullptr : &Found->second;
}

std::string Layers::lockOf(const LockCall &Call) const {
  const Operator *Does = operatorOf(Call.Callee);
  return Does && Does->Mutex < Call.Nodes.size() ? Call.Nodes[Does->Mutex] : "";
}

void Layers::eachUse(
    const std::vector<UnitFacts> &Units,
    function_ref<void(const std::string &Node, const std::string &Layer)> Visit) const {
  auto Use = [&](const std::string &Node, const std::string &Layer) {
    if (!Node.empty() && !Layer.empty() && !has(Node))
      Visit(Node, Layer);
  };
  for (const UnitFacts &Unit : Units) {
    for (const Flow &F : Unit.Flows)
      if (F.How == Flow::Named)
        Use(F.From, of(F.To));
    for (const LockCall &C : Unit.LockCalls)
      if (const Operator *Does = operatorOf(C.Callee))
        for (unsigned I : Does->Locks)
          if (I < C.Nodes.size())
            Use(C.Nodes[I], of(parameterNode(C.Callee, I)));
  }
}

std::vector<Edit> Layers::editsOf(const LockCall &Call) const {
  const Operator *Does = operatorOf(Call.Callee);
  const std::string Node = lockOf(Call);
  if (Node.empty() || has(Node))
    return {}; // not of a layer, or a part of it
  std::string Layer = of(parameterNode(Call.Callee, Does->Mutex));
  std::vector<Edit> Result = {
      {Call.Name, Call.Length, relockName(Does->Posix), Node, Edit::AtUse, Layer}};
  if (Does->Kind == Operation::Init) // names the class, wherever it stands
    Result.push_back({Call.Behind, 0, ", NULL, RELOCK_CLASS($CLASS)", Node, Edit::Anywhere, ""});
  else if (Does->NoAttributes)
    Result.push_back({Call.Behind, 0, ", NULL", Node, Edit::AtUse, Layer});
  if (Does->Kind == Operation::Init)
    Result.front().Where = Edit::Anywhere;
  return Result;
}

} // namespace relock
