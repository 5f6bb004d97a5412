// SPDX-License-Identifier: MIT
//
// The waits of a section on condition variables, and what has to survive them. A section that
// waits becomes resumable: a switch over the wait at which it goes on. So does one that releases
// its lock and takes it again: what stands between is the caller's, who then enters it again.
#pragma once

#include "section/Captures.h"

namespace relock {

// Fills the waits of the extraction and the variables declared in the section that live across
// one or across a gap, or says in Against why the section cannot go on behind it. Text.Waits are
// the calls; operands that can only be printed are added to Text.Printed.
void findWaits(SectionText &Text, const clang::FunctionDecl *F, const std::vector<Mention> &All,
               const CallLiveness &Liveness, const clang::ParentMap &Parents, const Source &S,
               Extraction &Result, std::vector<Reason> &Against);

// The argument of a wait that is nothing but the section's lock; null: there is none.
const clang::Expr *waitMutex(const SectionText &Text, size_t I);

} // namespace relock
