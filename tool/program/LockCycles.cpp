// SPDX-License-Identifier: MIT
#include "program/LockCycles.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <set>

using namespace llvm;

namespace relock {

bool mayBeSame(const OrderedLock &A, const OrderedLock &B) {
  return A.first == B.first && (A.second == B.second || A.second.empty() || B.second.empty());
}

namespace {

class Circles {
public:
  explicit Circles(const std::vector<OrderEdge> &Edges) : Edges(Edges) {
    for (size_t I = 0; I < Edges.size(); ++I)
      Of[Edges[I].Held.first].push_back(I);
  }

  std::vector<std::vector<OrderEdge>> all() const {
    std::vector<std::vector<OrderEdge>> Result;
    std::set<size_t> Covered;
    std::set<std::vector<std::string>> Shown; // by the names of their locks
    for (bool OnlySure : {true, false})
      for (size_t I = 0; I < Edges.size(); ++I) {
        if (Covered.count(I) || (OnlySure && !Edges[I].Surely))
          continue;
        std::vector<size_t> Circle = shortest(I, OnlySure);
        Covered.insert(Circle.begin(), Circle.end());
        std::rotate(Circle.begin(), llvm::min_element(Circle), Circle.end());
        std::vector<std::string> Names;
        for (size_t Edge : Circle)
          Names.push_back(Edges[Edge].HeldName);
        if (Circle.empty() || !Shown.insert(Names).second)
          continue;
        std::vector<OrderEdge> &Found = Result.emplace_back();
        for (size_t Edge : Circle)
          Found.push_back(Edges[Edge]);
      }
    return Result;
  }

private:
  const std::vector<OrderEdge> &Edges;
  std::map<std::string, std::vector<size_t>> Of; // by the name of the lock that is held

  // The shortest circle through an edge; empty: none.
  std::vector<size_t> shortest(size_t Start, bool OnlySure) const {
    std::map<size_t, size_t> Before = {{Start, Start}};
    for (std::deque<size_t> Queue = {Start}; !Queue.empty(); Queue.pop_front()) {
      size_t At = Queue.front();
      if (mayBeSame(Edges[At].Taken, Edges[Start].Held)) {
        std::vector<size_t> Circle = {At};
        for (; At != Start; Circle.push_back(At))
          At = Before.at(At);
        return {Circle.rbegin(), Circle.rend()};
      }
      if (auto Further = Of.find(Edges[At].Taken.first); Further != Of.end())
        for (size_t Next : Further->second)
          if ((Edges[Next].Surely || !OnlySure) && mayBeSame(Edges[At].Taken, Edges[Next].Held) &&
              Before.try_emplace(Next, At).second)
            Queue.push_back(Next);
    }
    return {};
  }
};

} // namespace

std::vector<std::vector<OrderEdge>> lockCycles(const std::vector<OrderEdge> &Edges) {
  return Circles(Edges).all();
}

} // namespace relock
