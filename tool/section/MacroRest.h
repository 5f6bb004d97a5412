// SPDX-License-Identifier: MIT
//
//   LOCK_ZONE(z)        do { lock(&(z)->lock); (z)->locked = true; } while (0)
//   LOCK_ZONE_HELD(z)   do { (z)->locked = true; } while (0)
//
// A macro that takes a lock first, or releases it last, and does more. The rest is a part of the
// section: its function uses a second macro, which is the first one without the operation.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/ParentMap.h"

namespace relock {

struct LockMacro {
  const clang::Stmt *Whole; // what the macro stands for, a statement of a block
  MacroRest Rest;
};

// The macro of which a statement is the first, or the last one. None: there is no such macro, it
// brings nothing else, or its text cannot be taken apart here.
std::optional<LockMacro> lockMacroAround(const clang::Stmt *Operation, bool First,
                                         const clang::ParentMap &Parents, const Source &S);

} // namespace relock
