// SPDX-License-Identifier: MIT
#include "program/DataUse.h"

#include "program/Decide.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace relock {

static void add(ArrayRef<TouchedLine> From, DataUse &To) {
  for (const TouchedLine &Line : From) {
    To.Touched.insert(Line.Line);
    if (Line.Written)
      To.Written.insert(Line.Line);
  }
}

DataUse dataUse(const Program &Linked, const Section &S) {
  DataUse Use;
  std::set<std::string> Seen;
  std::vector<const std::string *> Open;
  auto Follow = [&](ArrayRef<Call> Calls) {
    for (const Call &C : Calls)
      if (Seen.insert(C.Function).second)
        Open.push_back(&C.Function);
  };
  add(*S.Touched, Use);
  Follow(S.Calls);
  Use.Complete = S.IndirectCalls.empty();
  while (!Open.empty()) {
    auto F = Linked.Functions.find(*Open.back());
    Open.pop_back();
    if (F == Linked.Functions.end() || !isFollowed(F->second)) {
      Use.Complete = false;
      continue;
    }
    Use.Complete &= F->second.Defined && F->second.IndirectCalls.empty();
    add(F->second.Touched, Use);
    Follow(F->second.Calls);
  }
  return Use;
}

namespace {

bool haveCommon(const std::set<std::string> &A, const std::set<std::string> &B) {
  return any_of(A, [&](const std::string &Line) { return B.count(Line); });
}

// Two sections belong together if one writes what the other touches.
std::vector<std::vector<size_t>> groupsOf(ArrayRef<DataUse> Uses, const std::vector<bool> &None) {
  std::vector<size_t> GroupOf(Uses.size());
  for (size_t I = 0; I != Uses.size(); ++I)
    GroupOf[I] = I;
  for (size_t I = 0; I != Uses.size(); ++I)
    for (size_t J = 0; J != I; ++J)
      if (GroupOf[I] != GroupOf[J] && (haveCommon(Uses[I].Written, Uses[J].Touched) ||
                                       haveCommon(Uses[J].Written, Uses[I].Touched)))
        std::replace(GroupOf.begin(), GroupOf.end(), size_t(GroupOf[I]), size_t(GroupOf[J]));
  std::map<size_t, std::vector<size_t>> ByNumber;
  for (size_t I = 0; I != Uses.size(); ++I)
    if (!None[I])
      ByNumber[GroupOf[I]].push_back(I);
  std::vector<std::vector<size_t>> Groups;
  for (auto &[Number, Sections] : ByNumber)
    Groups.push_back(std::move(Sections));
  sort(Groups);
  return Groups;
}

} // namespace

ClassData classData(const Program &Linked, const CheckedClass &Class) {
  ClassData Data;
  std::vector<DataUse> Uses;
  std::set<std::string> Written;
  for (const CheckedSection &S : Class.Sections) {
    if (!S.Facts.Touched)
      return Data;
    Uses.push_back(dataUse(Linked, S.Facts));
    if (!Uses.back().Complete)
      return Data;
    Written.insert(Uses.back().Written.begin(), Uses.back().Written.end());
  }
  Data.Known = !Uses.empty();
  for (const DataUse &Use : Uses) {
    Data.OnlyReads.push_back(Use.Written.empty());
    Data.NeedsNone.push_back(!haveCommon(Use.Touched, Written));
  }
  Data.Groups = groupsOf(Uses, Data.NeedsNone);
  return Data;
}

} // namespace relock
