// SPDX-License-Identifier: MIT
#include "program/PointerEffects.h"

#include "program/Effects.h"

using namespace llvm;

namespace relock {

static PointerEffects libraryEffects(StringRef Name) {
  const LibraryFunction *Found = libraryFunction(Name);
  if (!Found || !Found->Pointers)
    return {};
  return {PointerEffects::Exact, *Found->Pointers};
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
