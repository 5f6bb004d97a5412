// SPDX-License-Identifier: MIT
//
// Two tables of effects differ where one was made with more declarations: on which functions a
// section's verdict depends, then, is what this finds. With the project file and without it, these
// are the declarations that a section rests on; with all unknown functions declared and as it is,
// those that hold it back.
#pragma once

#include "program/Effects.h"

#include "llvm/ADT/ArrayRef.h"

namespace relock {

class LiftedFunctions {
public:
  LiftedFunctions(const Program &Linked, const EffectTable &Narrow, const EffectTable &Wide)
      : Linked(Linked), Narrow(Narrow), Wide(Wide) {}

  // Adds the names of the functions that these calls reach and that Wide allows more for.
  // AnyThread: also those of which it only says that they touch nothing of their thread.
  void collect(llvm::ArrayRef<Call> Calls, bool AnyThread, std::set<std::string> &Names) const;

private:
  const Program &Linked;
  const EffectTable &Narrow, &Wide;
};

// Project, and every unknown function that the program calls, or that calls through pointers,
// declared to touch its thread's identity and no more.
ProjectFile assumeUnknown(const Program &Linked, const EffectTable &Table);

// Project, and every function of the program that ends the process, though it may wait before or
// jump away, declared to.
ProjectFile assumePanics(const Program &Linked);

// The entries that speak of no function that the program defines or calls, by name, with the `*`.
std::map<std::string, Position> unmatchedEntries(const Program &Linked);

} // namespace relock
