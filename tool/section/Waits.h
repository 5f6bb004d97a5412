// SPDX-License-Identifier: MIT
//
// The waits of a section on condition variables, and what has to survive them. A section that
// waits becomes resumable: a switch over the wait at which it goes on.
#pragma once

#include "section/Captures.h"

namespace relock {

// Fills the waits of the extraction and the variables declared in the section that live across
// one, or says in Against why the section cannot go on behind a wait. Text.Waits are the calls;
// operands that can only be printed are added to Text.Printed.
void findWaits(SectionText &Text, const clang::FunctionDecl *F, const std::vector<Mention> &All,
               const CallLiveness &Liveness, const clang::ParentMap &Parents, const Source &S,
               Extraction &Result, std::vector<Reason> &Against);

} // namespace relock
