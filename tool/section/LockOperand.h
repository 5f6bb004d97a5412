// SPDX-License-Identifier: MIT
//
// The operand of a section's lock, and the condition under which it is taken: they are evaluated
// once, before the section, but the original evaluates them again at the unlock. So they must be
// the same there.
#pragma once

#include "section/Captures.h"
#include "section/Operations.h"

namespace relock {

// Says in Found.Against what may change it in the section's own text, and fills Found.Loads and
// StoresThroughPointer, for what callees may do. Skips: the section has text that is not compiled.
void checkLockOperand(const LockOperation &Lock, const SectionText &Text,
                      const std::vector<Mention> &All, bool Skips, const Source &S, Section &Found);

} // namespace relock
