// SPDX-License-Identifier: MIT
//
// What stands behind an unlock in a branch: statements that leave the section or reach its end, or
// that lock again.
#pragma once

#include "section/Place.h"

namespace relock {

// The next operation behind an unlock in its block, if it takes the same lock again. Between: the
// statements before it.
const LockOperation *takenBehind(const LockOperation &Unlock, const LockOperation &Lock,
                                 std::vector<const clang::Stmt *> &Between,
                                 const std::vector<LockOperation> &Operations,
                                 const clang::ParentMap &Parents);

// Fills what follows Exit.Unlock. False if the section goes on there otherwise.
bool findTail(const LockOperation &Lock, const SectionText &Text,
              const std::vector<LockOperation> &Operations, const clang::ParentMap &Parents,
              EarlyExitText &Exit);

} // namespace relock
