// SPDX-License-Identifier: MIT
#include "program/NodeNames.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace relock {

NodeNames::NodeNames(const std::vector<UnitFacts> &Units) {
  for (const UnitFacts &Unit : Units)
    for (const Declaration &D : Unit.Declarations)
      Declared.try_emplace(D.Node, &D);
  for (const auto &F : distinct(Units, &UnitFacts::Functions)) {
    const Function *&Known = Functions[F->Node];
    if (!Known || (F->Defined && !Known->Defined))
      Known = F.get();
  }
}

bool NodeNames::isDefined(StringRef FunctionNode) const {
  auto F = Functions.find(FunctionNode);
  return F != Functions.end() && F->second->Defined;
}

std::string NodeNames::name(StringRef Node) const {
  auto D = Declared.find(Node);
  StringRef Known = D == Declared.end() ? "" : StringRef(D->second->Name);
  bool Parameter = Node.consume_front("P:");
  if (Parameter && Known.contains('.') && !Known.ends_with("."))
    return Known.str();
  if (!Parameter && !Node.consume_front("R:"))
    return Known.empty() ? localName(Node) : Known.str();
  auto [Owner, Index] = Parameter ? Node.rsplit('#') : std::pair(Node, StringRef());
  unsigned Number = 0;
  Index.getAsInteger(10, Number);
  auto F = Functions.find(Owner);
  std::string Name = F == Functions.end() ? localName(Owner) : F->second->Name;
  return Name + "(" + (Parameter ? std::to_string(Number + 1) : "") + ")";
}

bool isOfOneFile(StringRef Node) { return Node.rsplit('@').second.contains('/'); }

// `c:main.c@120@F@function@variable@/path/main.c`
std::string localName(StringRef Node) {
  if (Node.starts_with("A:") || Node.starts_with("D:") || Node.starts_with("E:"))
    return "";
  StringRef Name = Node.take_front(Node.find("@/"));
  auto [Function, Variable] = Name.rsplit('@');
  if (Function.consume_front("c:") && Function.contains("@F@") && !Variable.empty())
    return (Twine(Function.rsplit('@').second) + "." + Variable).str();
  return Name.rsplit('@').second.str();
}

} // namespace relock
