// SPDX-License-Identifier: MIT
#include "program/PointerEffects.h"

#include "program/Effects.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace relock {

static bool readPlace(StringRef Text, bool Target, PointerFlow::Place &Place) {
  if (Target && Text == "result")
    return Place.Kind = PointerFlow::Place::Result, true;
  if (Target && Text == "kept")
    return Place.Kind = PointerFlow::Place::Kept, true;
  for (; Text.consume_front("*"); ++Place.Loads)
    ;
  if (Text.getAsInteger(10, Place.Index) || Place.Index == 0 || (Target && Place.Loads == 0))
    return false;
  --Place.Index;
  return true;
}

std::optional<PointerFlow> readPointerFlow(StringRef Text, std::string &Problem) {
  auto [From, To] = Text.split('>');
  PointerFlow Flow;
  if (!readPlace(From, /*Target=*/false, Flow.From)) {
    Problem = "begins with no argument, like `1` or `*1`";
    return std::nullopt;
  }
  if (!readPlace(To, /*Target=*/true, Flow.To)) {
    Problem = "ends neither in `>result` nor in `>kept` nor in a place like `>*2`";
    return std::nullopt;
  }
  return Flow;
}

static PointerEffects readEffects(StringRef Words) {
  PointerEffects Effects;
  if (Words == "unknown")
    return Effects;
  Effects.Known = PointerEffects::Exact;
  std::string Problem;
  for (StringRef Word : split(Words, ' '))
    if (!Word.empty())
      Effects.Flows.push_back(*readPointerFlow(Word, Problem));
  return Effects;
}

static const StringMap<PointerEffects> &library() {
  static const StringMap<PointerEffects> Table = [] {
    StringMap<PointerEffects> Functions;
    auto Add = [&](StringRef Flows, StringRef Names) {
      SmallVector<StringRef, 64> Words;
      Names.split(Words, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef Name : Words)
        Functions[Name] = readEffects(Flows);
    };
#define POINTERS(FLOWS, NAMES) Add(FLOWS, NAMES);
#include "program/LibraryPointers.def"
    return Functions;
  }();
  return Table;
}

static PointerEffects libraryEffects(StringRef Name) {
  auto Found = library().find(Name);
  if (Found == library().end())
    Found = library().find(plainName(Name));
  return Found == library().end() ? PointerEffects() : Found->second;
}

PointerEffects pointerEffects(StringRef Name, bool Defined, const ProjectFile &Project) {
  PointerEffects Known = Defined ? PointerEffects() : libraryEffects(Name);
  const DeclaredFunction *Declared = declarationOf(Name, Defined, Project);
  if (!Declared)
    return Known;
  if (Declared->Pointers)
    return {PointerEffects::Exact, *Declared->Pointers, /*Trusted=*/true};
  bool MayKeep = Declared->KeepsPointers.value_or(Declared->Effect != FunctionEffect::Plain);
  if (Declared->Effect == FunctionEffect::Unknown || Declared->KeepsPointers == true)
    return {};
  if (Known.Known == PointerEffects::Unknown)
    return {MayKeep ? PointerEffects::Unknown : PointerEffects::KeepsNone, {}, !MayKeep};
  if (!MayKeep)
    Known.Trusted = std::erase_if(Known.Flows, [](const PointerFlow &Flow) {
      return Flow.To.Kind == PointerFlow::Place::Kept;
    });
  return Known;
}

} // namespace relock
