// SPDX-License-Identifier: MIT
//
// Companions of lock wrappers: functions beside them that run a section where the wrapper would
// have returned. A section needs one where it cannot name the lock, or where a wrapper does more
// than to lock or unlock (index/WrapperBody.h).
#pragma once

#include "section/Operations.h"
#include "section/Section.h"

namespace relock {

// True if the wrapper is something else, or does more, in a configuration that compiles F. Whoever
// stands beside it in a group of directives is compiled with it.
bool varies(const Wrapper &W, const clang::FunctionDecl *F, const Source &S);

// The companion for a section of F with that lock and these unlocks. Nothing if it needs none, or
// if there can be none that is declared before F.
std::optional<Companion> companionFor(const LockOperation &Lock,
                                      llvm::ArrayRef<const LockOperation *> Unlocks,
                                      const clang::FunctionDecl *F, const LockOperations &Locks,
                                      const ProgramView &Linked, const Source &S);

} // namespace relock
