// SPDX-License-Identifier: MIT
#include "profile/TailCalls.h"

#include "profile/Dwarf.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace relock {

namespace {

constexpr size_t Deepest = 8;
constexpr unsigned MostEffort = 1000; // functions that are looked into

// What all copies of a function are of, and what other units declare.
DWARFDie firstOf(DWARFDie Function) {
  for (unsigned Steps = 0; Function && Steps < Deepest; ++Steps) {
    DWARFDie Next = originalOf(Function);
    if (!Next)
      break;
    Function = Next;
  }
  return Function;
}

StringRef nameOf(DWARFDie Function) {
  const char *Name = Function.getShortName();
  return Name ? Name : "";
}

bool isExported(DWARFDie Function) { return Function.findRecursively(DW_AT_external).has_value(); }

bool isSame(DWARFDie A, DWARFDie B) {
  return A == B || (isExported(A) && isExported(B) && nameOf(A) == nameOf(B));
}

void visitCallSites(DWARFDie Scope, function_ref<void(DWARFDie)> Visit) {
  for (DWARFDie Child : Scope.children()) {
    if (Child.getTag() == DW_TAG_call_site || Child.getTag() == DW_TAG_GNU_call_site)
      Visit(Child);
    else if (Child.getTag() == DW_TAG_lexical_block || Child.getTag() == DW_TAG_inlined_subroutine)
      visitCallSites(Child, Visit);
  }
}

bool isTailCall(DWARFDie Site) {
  return toUnsigned(Site.find({DW_AT_call_tail_call, DW_AT_GNU_tail_call}), 0) != 0;
}

// Compilers give the address behind a call, or that of the jump itself.
std::optional<uint64_t> returnAddress(DWARFDie Site) {
  if (auto Behind = toAddress(Site.find({DW_AT_call_return_pc, DW_AT_low_pc})))
    return Behind;
  std::optional<uint64_t> Jump = toAddress(Site.find(DW_AT_call_pc));
  return Jump ? std::optional(*Jump + 1) : std::nullopt;
}

// None where the call is through a pointer.
DWARFDie calleeOf(DWARFDie Site) {
  DWARFDie Callee = Site.getAttributeValueAsReferencedDie(DW_AT_call_origin);
  if (!Callee)
    Callee = Site.getAttributeValueAsReferencedDie(DW_AT_abstract_origin);
  return firstOf(Callee);
}

} // namespace

std::vector<TailCalls::Calls> TailCalls::ways(uint64_t ReturnAddress,
                                              function_ref<bool(StringRef)> IsCallee) {
  return waysTo(ReturnAddress, [&](DWARFDie F) { return IsCallee(nameOf(F)); });
}

// That has code of its own there, whatever was inlined into it.
DWARFDie TailCalls::functionAt(uint64_t Address) {
  DWARFDie Scope = Context.getDIEsForAddress(Address, /*CheckDWO=*/true).FunctionDIE;
  while (Scope && Scope.getTag() != DW_TAG_subprogram)
    Scope = Scope.getParent();
  return Scope;
}

std::vector<TailCalls::Calls> TailCalls::ways(uint64_t ReturnAddress, uint64_t Callee) {
  DWARFDie Last = firstOf(functionAt(Callee));
  if (!Last)
    return {};
  return waysTo(ReturnAddress, [&](DWARFDie F) { return isSame(F, Last); });
}

std::vector<TailCalls::Calls> TailCalls::waysTo(uint64_t ReturnAddress, IsLast Last) {
  DWARFDie Caller = functionAt(ReturnAddress - 1);
  DWARFDie Callee;
  if (Caller)
    visitCallSites(Caller, [&](DWARFDie Site) {
      if (!isTailCall(Site) && returnAddress(Site) == ReturnAddress)
        Callee = calleeOf(Site);
    });
  std::vector<Calls> Found;
  Calls Passed;
  unsigned Effort = 0;
  if (Callee && !Last(Callee))
    follow(Callee, Last, Passed, Found, Effort);
  return Effort < MostEffort ? Found : std::vector<Calls>();
}

// Adds the ways from a function on.
void TailCalls::follow(DWARFDie Function, IsLast Last, Calls &Passed, std::vector<Calls> &Found,
                       unsigned &Effort) {
  if (Passed.size() == Deepest || Effort == MostEffort)
    return;
  ++Effort;
  for (DWARFDie Definition : definitionsOf(Function))
    visitCallSites(Definition, [&](DWARFDie Site) {
      std::optional<uint64_t> Address = returnAddress(Site);
      DWARFDie Callee = isTailCall(Site) ? calleeOf(Site) : DWARFDie();
      if (!Callee || !Address)
        return;
      Passed.push_back(*Address);
      if (Last(Callee))
        Found.emplace_back(Passed.rbegin(), Passed.rend());
      else
        follow(Callee, Last, Passed, Found, Effort);
      Passed.pop_back();
    });
}

std::vector<DWARFDie> TailCalls::definitionsOf(DWARFDie Original) {
  if (!Searched)
    findDefinitions();
  auto Here = Definitions.find({Original.getDwarfUnit(), Original.getOffset()});
  if (Here != Definitions.end())
    return Here->second;
  auto Elsewhere = isExported(Original) ? Exported.find(nameOf(Original)) : Exported.end();
  return Elsewhere == Exported.end() ? std::vector<DWARFDie>() : std::vector{Elsewhere->second};
}

void TailCalls::findDefinitions() {
  Searched = true;
  for (const std::unique_ptr<DWARFUnit> &Unit : Context.compile_units())
    for (DWARFDie Function : Unit->getNonSkeletonUnitDIE(/*ExtractUnitDIEOnly=*/false).children()) {
      if (Function.getTag() != DW_TAG_subprogram || !Function.find({DW_AT_low_pc, DW_AT_ranges}))
        continue;
      DWARFDie Original = firstOf(Function);
      Definitions[{Original.getDwarfUnit(), Original.getOffset()}].push_back(Function);
      if (isExported(Function))
        Exported.try_emplace(nameOf(Function), Function);
    }
}

} // namespace relock
