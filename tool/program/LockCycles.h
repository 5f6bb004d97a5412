// SPDX-License-Identifier: MIT
//
// The graph of which lock is taken under which, and the circles in it: threads that are at its
// places at the same time wait for each other for good.
#pragma once

#include "program/Program.h"

#include <string>
#include <utility>
#include <vector>

namespace relock {

// A lock as the order of locks knows it: a class by its name, and the part of it; see LockPart.
using OrderedLock = std::pair<std::string, std::string>;

// True if they may be one object.
bool mayBeSame(const OrderedLock &A, const OrderedLock &B);

// Some function takes Taken while it holds Held, or calls what does so. Way: how, at one place.
struct OrderEdge {
  OrderedLock Held, Taken;
  std::string HeldName, TakenName; // as the user knows them
  std::string Function;
  bool Surely = false; // false: Held is not held on every way to that place, as far as is known
  std::vector<Step> Way;
};

// Each edge that lies on a circle is in one of those that are returned, up to the parts of classes,
// and each of these is a shortest one through one of its edges: there may be many more. Those of
// sure edges come first. A circle begins with the lock whose name comes first. Edges: sorted.
std::vector<std::vector<OrderEdge>> lockCycles(const std::vector<OrderEdge> &Edges);

} // namespace relock
