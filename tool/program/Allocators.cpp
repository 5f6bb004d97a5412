// SPDX-License-Identifier: MIT
#include "program/Allocators.h"

#include "index/SharedRecords.h"
#include "support/Source.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {

static bool isResult(StringRef Node) { return Node.starts_with("R:"); }
static bool isParameter(StringRef Node) { return Node.starts_with("P:"); }

// The function of a result or parameter.
static StringRef ownerOf(StringRef Node) {
  return isParameter(Node) ? Node.drop_front(2).rsplit('#').first : Node.drop_front(2);
}

static ArrayRef<StringRef> at(const StringMap<std::vector<StringRef>> &Edges, StringRef Node) {
  auto Found = Edges.find(Node);
  return Found == Edges.end() ? ArrayRef<StringRef>() : ArrayRef<StringRef>(Found->second);
}

// Takes nodes out until all that are left hold.
static void shrink(StringSet<> &Nodes, function_ref<bool(StringRef)> Holds) {
  for (bool Changed = true; Changed;) {
    std::vector<std::string> Out;
    for (const auto &Node : Nodes)
      if (!Holds(Node.first()))
        Out.push_back(Node.first().str());
    for (const std::string &Node : Out)
      Nodes.erase(Node);
    Changed = !Out.empty();
  }
}

// A node is that of a `void *` if such a value goes there.
Allocators::Allocators(const std::vector<UnitFacts> &Units, bool IntegersEnd) {
  StringSet<> Other; // they are used otherwise than by flows of a `void *`
  StringSet<> Defined;
  Edges Next, Before;
  for (const UnitFacts &Unit : Units) {
    for (const Flow &F : Unit.Flows) {
      if (IntegersEnd && F.To == IntegersNode)
        continue;
      Next[F.From].push_back(F.To);
      if (F.Untyped)
        Before[F.To].push_back(F.From);
      else
        Other.insert(F.To);
    }
    for (const Escape &E : Unit.Escapes)
      if (!isResult(E.Node)) // what its users do is not the function's
        Other.insert(E.Node);
    for (const SkippedSite &S : Unit.Skipped)
      for (const std::string &Node : S.Locks)
        Other.insert(Node);
    for (const Site &S : Unit.Sites)
      Other.insert(S.Node);
    for (const LockCall &C : Unit.LockCalls)
      for (const std::string &Node : C.Nodes)
        Other.insert(Node);
    for (const Edit &E : Unit.Edits)
      Other.insert(E.Node);
  }
  for (const auto &F : distinct(Units, &UnitFacts::Functions))
    if (F->Defined)
      Defined.insert(F->Node);
  for (const auto &Node : Before)
    if (!Other.contains(Node.first()) && !isResult(Node.first()) &&
        (!isParameter(Node.first()) || Defined.contains(ownerOf(Node.first()))))
      Ended.insert(Node.first());
  findEnded(Next);
  findFresh(Next, Before, Other, Defined);
}

void Allocators::findEnded(const Edges &Next) {
  shrink(Ended, [&](StringRef Node) {
    return all_of(at(Next, Node), [&](StringRef To) { return Ended.contains(To); });
  });
}

// Fresh memory is in the result of a function, in variables, and in the result of one call, each of
// which gets nothing else. Until it is returned it goes only where that is so, or where it ends.
void Allocators::findFresh(const Edges &Next, const Edges &Before, const StringSet<> &Other,
                           const StringSet<> &Defined) {
  StringSet<> Candidates;
  for (const auto &[From, To] : Next)
    if (From.starts_with("A:"))
      Candidates.insert(From);
  for (const auto &Node : Before)
    if (!isParameter(Node.first()) &&
        (!isResult(Node.first()) || Defined.contains(ownerOf(Node.first()))))
      Candidates.insert(Node.first());
  shrink(Candidates, [&](StringRef Node) {
    auto Leads = [&](StringRef To) { return Candidates.contains(To) || Ended.contains(To); };
    return !Other.contains(Node) && (isResult(Node) || all_of(at(Next, Node), Leads)) &&
           all_of(at(Before, Node), [&](StringRef From) { return Candidates.contains(From); });
  });
  for (const auto &Node : Candidates)
    if (isResult(Node.first()))
      Fresh.insert(Node.first());
}

bool Allocators::separate(const Flow &F) const {
  return F.Untyped && (Ended.contains(F.To) || Fresh.contains(F.From));
}

} // namespace relock
