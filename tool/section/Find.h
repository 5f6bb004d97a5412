// SPDX-License-Identifier: MIT
//
// Finds the critical sections of one translation unit, with the lock wrappers of the whole program
// known.
#pragma once

#include "section/ProgramView.h"
#include "section/Section.h"
#include "support/Unit.h"

namespace relock {

struct UnitSections {
  std::vector<Section> Sections;
  // Functions that take, release or wait with a lock otherwise than in simple sections of their
  // own. A caller that runs under that lock must hold.
  std::vector<LockUse> Loose;
  // For the order of locks: what is done under each, and which locks a function waits for.
  std::vector<UnderLock> Under;
  std::vector<LockUse> Takes;
  // The acquisitions of locks that are not converted: the type, and the place.
  std::vector<std::pair<std::string, Position>> Others;
  std::vector<Position> Assertions; // that a lock is held, by trylocks
  // Locks that a function takes again, and releases nowhere.
  std::vector<LockUse> TakenAgain;
  // The functions that may return holding a lock that is not converted: its owner is their thread.
  std::vector<LockUse> Keepers;
};

UnitSections findSections(const clang::tooling::CompileCommand &Command, const UnitFacts &Facts,
                          const ProgramView &Linked);

} // namespace relock
