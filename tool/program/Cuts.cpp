// SPDX-License-Identifier: MIT
#include "program/Cuts.h"

#include "program/HandedOn.h"
#include "program/NodeNames.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;

namespace relock {
namespace {

using Ends = std::pair<std::string, std::string>; // nodes, the smaller one first

Ends endsOf(const Flow &F) { return std::minmax(F.From, F.To); }

// Text that two declarations share is no flow, and a condition variable goes with its mutexes.
bool canBeCut(const Flow &F) {
  return F.How != Flow::Text && F.How != Flow::NamingText && F.How != Flow::Named &&
         F.How != Flow::Wait;
}

class Cutter {
public:
  explicit Cutter(IndexResult &Index)
      : Index(Index), Names(Index.Units), Pointers(Index.Units, [](const Flow &) { return true; }) {
  }

  void resolve(Cut &C) {
    std::map<Ends, Position> Found; // with the first place of each
    std::set<Ends> OnLine;
    bool Outside = false;
    for (const UnitFacts &Unit : Index.Units)
      for (const Flow &F : Unit.Flows)
        if (canBeCut(F) && names(C, F)) {
          auto [Known, New] = Found.try_emplace(endsOf(F), F.At);
          if (F.At < Known->second)
            Known->second = F.At;
          if (F.At.Line == C.Line)
            OnLine.insert(endsOf(F));
          Outside |= !isInside(F);
        }
    std::string Both = "'" + C.From + "' and '" + C.To + "'";
    if (Found.empty())
      return problem(C, "no mutex pointer goes directly between " + Both +
                            (C.File.empty() ? "" : " in " + C.File) +
                            "; take the cut out, or see `relock check --why` for what does");
    if (Found.size() > 1 && OnLine.size() != 1)
      return problem(C, "there are several " + Both + "; tell them apart by 'at: FILE:LINE'");
    if (Outside)
      return problem(C, "the flow between " + Both +
                            " leaves the program; only what stays in it can be cut");
    const auto &[Nodes, At] = Found.size() == 1 ? *Found.begin() : *Found.find(*OnLine.begin());
    C.Flow = At;
    Index.Cuts.push_back({Nodes.first, Nodes.second, C.At, operationBeyond(Nodes)});
    Gone.insert(Nodes);
  }

  void erase() {
    for (UnitFacts &Unit : Index.Units)
      erase_if(Unit.Flows, [&](const Flow &F) { return canBeCut(F) && Gone.count(endsOf(F)); });
  }

  std::vector<CutProblem> Problems;

private:
  IndexResult &Index;
  NodeNames Names;
  HandedOn Pointers;
  std::set<Ends> Gone;

  void problem(const Cut &C, std::string Text) { Problems.push_back({C.At, std::move(Text)}); }

  bool names(const Cut &C, const Flow &F) const {
    StringRef File = F.At.File;
    if (!C.File.empty() && File != C.File && !File.ends_with("/" + C.File))
      return false;
    std::string From = Names.name(F.From), To = Names.name(F.To);
    return (From == C.From && To == C.To) || (From == C.To && To == C.From);
  }

  std::optional<Position> operationBeyond(const Ends &Nodes) const {
    std::vector<const Flow *> By;
    for (const UnitFacts &Unit : Index.Units)
      for (const Flow &F : Unit.Flows)
        if (canBeCut(F) && endsOf(F) == Nodes)
          By.push_back(&F);
    HandedOn::Reach Reach = Pointers.follow(By);
    return Reach.Operation ? std::optional(Reach.Operation->At) : std::nullopt;
  }

  // What a function that is not seen does with a mutex is not the user's to say here.
  bool isInside(const Flow &F) const {
    return all_of(ArrayRef{StringRef(F.From), StringRef(F.To)}, [&](StringRef Node) {
      bool Parameter = Node.consume_front("P:");
      if (!Parameter && !Node.consume_front("R:"))
        return true;
      return Names.isDefined(Parameter ? Node.rsplit('#').first : Node);
    });
  }
};

} // namespace

std::vector<CutProblem> applyCuts(IndexResult &Index, ArrayRef<Cut *> Cuts) {
  Cutter All(Index);
  for (Cut *C : Cuts)
    All.resolve(*C);
  if (All.Problems.empty())
    All.erase();
  return std::move(All.Problems);
}

} // namespace relock
