// SPDX-License-Identifier: MIT
#include "program/AccidentalMerges.h"

#include "program/HandedOn.h"
#include "program/Merge.h"
#include "program/NodeNames.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace relock {
namespace {

// All that joins two nodes.
struct Edge {
  std::string A, B;
  const Flow *First = nullptr; // by its place
  std::vector<const Flow *> All;
  bool Loose = true; // nothing but `void *` and comparisons
};

// How many mutexes and acquisitions there are among nodes.
struct Weight {
  size_t Objects = 0, Acquisitions = 0;
  bool isLocked() const { return Objects && Acquisitions; }
};

class Finder {
public:
  Finder(const std::vector<UnitFacts> &Units, const Program &Linked)
      : Units(Units), Linked(Linked),
        Pointers(Units, [&](const Flow &F) { return !Linked.keepsApart(F); }) {
    for (const UnitFacts &Unit : Units) {
      for (const Flow &F : Unit.Flows)
        if (F.Untyped)
          Untyped.insert(F.To);
      for (const Declaration &D : Unit.Declarations)
        if (isObject(D) && Linked.classOf(D.Node))
          Objects.emplace(D.Node, &D);
      for (const Site &S : Unit.Sites)
        if (acquires(S.Kind))
          Acquired.insert(S.Node);
    }
    for (const UnitFacts &Unit : Units)
      for (const Flow &F : Unit.Flows)
        add(F);
  }

  std::vector<AccidentalMerge> run() {
    for (const auto &[Node, Declared] : Objects)
      if (!Entered.count(Node))
        findBridges(Node);
    std::vector<AccidentalMerge> Result;
    if (Found.empty())
      return Result;
    MergeFinder Merges(Units, Linked);
    NodeNames Names(Units);
    for (const auto &[Side, B] : Found) {
      const Flow &F = *B.Joins->First;
      AccidentalMerge M{Linked.classOf(F.From)->Name,
                        nameAmong(B.Near),
                        nameAmong(B.Far),
                        Names.name(F.From),
                        Names.name(F.To),
                        Merges.describe(F),
                        F.At,
                        B.Lost};
      if (!M.From.empty() && !M.To.empty())
        Result.push_back(std::move(M));
    }
    sort(Result, [](auto &A, auto &B) { return std::tie(A.At, A.Text) < std::tie(B.At, B.Text); });
    return Result;
  }

private:
  struct Bridge {
    const Edge *Joins;
    std::set<std::string> Near, Far; // the mutexes on both sides
    bool Lost;
  };

  const std::vector<UnitFacts> &Units;
  const Program &Linked;
  std::set<std::string> Untyped, Acquired;
  HandedOn Pointers;
  std::map<std::string, const Declaration *> Objects;
  std::map<std::pair<std::string, std::string>, Edge> Edges;
  std::map<std::string, std::vector<const Edge *>> Beside;
  std::map<std::string, size_t> Entered;         // the search's order
  std::map<std::set<std::string>, Bridge> Found; // by the mutexes of one side: once each

  static bool isObject(const Declaration &D) {
    return !D.Condition && !D.Pointer && D.Kind != DeclarationKind::Parameter &&
           D.Kind != DeclarationKind::Result && D.Kind != DeclarationKind::Typedef;
  }

  bool isLoose(const Flow &F) const {
    return F.Untyped || Untyped.count(F.From) || F.How == Flow::Comparison;
  }

  void add(const Flow &F) {
    if (F.How == Flow::Text || F.How == Flow::Named || Linked.keepsApart(F) ||
        !Linked.classOf(F.From))
      return;
    auto [A, B] = std::minmax(F.From, F.To);
    auto [Known, New] = Edges.try_emplace({A, B}, Edge{A, B, &F, {}});
    Edge &E = Known->second;
    E.Loose &= isLoose(F);
    E.All.push_back(&F);
    if (F.At < E.First->At)
      E.First = &F;
    if (New)
      Beside[A].push_back(&E), Beside[B].push_back(&E);
  }

  // --- Bridges: edges of a depth-first search from whose far side no other one leads back ---

  struct Visit {
    std::string Node;
    const Edge *Through;
    size_t Next = 0, Lowest = 0, Begin = 0; // Begin: in Order
    Weight Below;
  };

  Weight weightOf(const std::string &Node) const {
    return {Objects.count(Node), Acquired.count(Node)};
  }

  void findBridges(const std::string &Start) {
    std::vector<std::string> Order;
    std::vector<Visit> Path;
    std::vector<std::pair<const Edge *, std::pair<size_t, size_t>>> Candidates;
    auto Enter = [&](const std::string &Node, const Edge *Through) {
      Path.push_back({Node, Through, 0, Entered.size(), Order.size(), weightOf(Node)});
      Entered.emplace(Node, Entered.size());
      Order.push_back(Node);
    };
    Enter(Start, nullptr);
    Weight All;
    while (!Path.empty()) {
      Visit &At = Path.back();
      auto &Around = Beside[At.Node];
      if (At.Next < Around.size()) {
        const Edge *E = Around[At.Next++];
        const std::string &Other = E->A == At.Node ? E->B : E->A;
        auto Known = Entered.find(Other);
        if (E != At.Through && Known != Entered.end())
          At.Lowest = std::min(At.Lowest, Known->second);
        else if (E != At.Through)
          Enter(Other, E);
        continue;
      }
      Visit Left = std::move(Path.back());
      Path.pop_back();
      if (Path.empty()) {
        All = Left.Below;
        break;
      }
      Visit &Above = Path.back();
      Above.Lowest = std::min(Above.Lowest, Left.Lowest);
      Above.Below.Objects += Left.Below.Objects;
      Above.Below.Acquisitions += Left.Below.Acquisitions;
      if (Left.Lowest == Entered.at(Left.Node) && Left.Through->Loose && Left.Below.isLocked())
        Candidates.push_back({Left.Through, {Left.Begin, Order.size()}});
    }
    for (const auto &[E, Side] : Candidates)
      judge(*E, Order, Side.first, Side.second, All);
  }

  // The nodes of Order from Begin to End are on one side.
  void judge(const Edge &E, const std::vector<std::string> &Order, size_t Begin, size_t End,
             const Weight &All) {
    Bridge B{&E, {}, {}, false};
    Weight Here, There;
    for (size_t I = 0; I < Order.size(); ++I) {
      bool Far = I >= Begin && I < End;
      Weight &Side = Far ? There : Here;
      Side.Objects += Objects.count(Order[I]);
      Side.Acquisitions += Acquired.count(Order[I]);
      if (Objects.count(Order[I]))
        (Far ? B.Far : B.Near).insert(Order[I]);
    }
    if (!Here.isLocked() || !There.isLocked())
      return;
    HandedOn::Reach Reach = Pointers.follow(E.All);
    if (Reach.Operation)
      return;
    B.Lost = Reach.Lost;
    auto [Known, New] = Found.try_emplace(B.Far < B.Near ? B.Far : B.Near, B);
    if (!New && E.First->At < Known->second.Joins->First->At)
      Known->second = B;
  }

  std::string nameAmong(const std::set<std::string> &Nodes) const {
    std::vector<std::string> Names;
    for (const std::string &Node : Nodes)
      Names.push_back(Objects.at(Node)->Name);
    return *min_element(Names);
  }
};

} // namespace

std::vector<AccidentalMerge> accidentalMerges(const std::vector<UnitFacts> &Units,
                                              const Program &Linked) {
  return Finder(Units, Linked).run();
}

std::string describe(const AccidentalMerge &M) {
  return M.Text + ": nothing else makes one class of '" + M.Left + "' and '" + M.Right +
         "', and no lock operation is on what it hands on" +
         (M.Lost ? ", as far as that is followed" : "");
}

} // namespace relock
