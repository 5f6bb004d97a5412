// SPDX-License-Identifier: MIT
#include "program/HandedOn.h"

#include <deque>

using namespace llvm;

namespace relock {

static bool handsOn(const Flow &F) {
  return F.How == Flow::Argument || F.How == Flow::Return || F.How == Flow::Assignment ||
         F.How == Flow::Initialiser || F.How == Flow::Choice;
}

HandedOn::HandedOn(const std::vector<UnitFacts> &Units, function_ref<bool(const Flow &)> Counts) {
  for (const UnitFacts &Unit : Units) {
    for (const Flow &F : Unit.Flows) {
      if (!handsOn(F) || !Counts(F))
        continue;
      Next[F.From].insert(F.To);
      if (F.How == Flow::Choice) // what becomes of the one becomes of the other
        Next[F.To].insert(F.From);
    }
    for (const Site &S : Unit.Sites) {
      const Site *&First = Operated[S.Node];
      if (!First || S.At < First->At)
        First = &S;
    }
    for (const Escape &E : Unit.Escapes)
      Escaped.insert(E.Node);
  }
}

HandedOn::Reach HandedOn::follow(const std::vector<const Flow *> &By) const {
  Reach Result;
  std::set<std::string> Seen;
  std::deque<std::string> Queue;
  auto Enter = [&](const std::string &Node) {
    if (Seen.insert(Node).second)
      Queue.push_back(Node);
  };
  for (const Flow *F : By)
    if (handsOn(*F))
      Enter(F->To);
  for (; !Queue.empty(); Queue.pop_front()) {
    auto S = Operated.find(Queue.front());
    if (S != Operated.end() && (!Result.Operation || S->second->At < Result.Operation->At))
      Result.Operation = S->second;
    Result.Lost |= Escaped.count(Queue.front()) != 0;
    if (auto Further = Next.find(Queue.front()); Further != Next.end())
      for (const std::string &Node : Further->second)
        Enter(Node);
  }
  return Result;
}

} // namespace relock
