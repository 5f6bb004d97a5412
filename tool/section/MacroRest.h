// SPDX-License-Identifier: MIT
//
//   LOCK_ZONE(z)        do { lock(&(z)->lock); (z)->locked = true; } while (0)
//   LOCK_ZONE_HELD(z)   do { (z)->locked = true; } while (0)
//
// A macro that takes or releases a lock and does more, behind that or before it. Sections use a
// second macro for the rest, which is the first one without the operation. What is done under the
// lock is a part of the section; what is not stays where the macro is:
//
//   LOCK_LOG(m)         do { if (debug) log_lock(m); lock(m); } while (0)
//   LOCK_LOG_BEFORE(m)  do { if (debug) log_lock(m); } while (0)
//
// The operation may stand in each arm of an `if`, and in macros of the macro.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/ParentMap.h"

namespace relock {

// What an operation leaves of a statement.
struct StatementRest {
  bool Any = false;  // there is more in it than the operation
  bool Held = false; // it runs under the lock
};

// The rest of a statement that runs just one of some operations, which are parts of it, on each way
// through. None: it may run none or several, or goes on elsewhere, or does something both before
// and behind. Locks: they take the lock.
std::optional<StatementRest> restOf(const clang::Stmt *Whole,
                                    llvm::ArrayRef<const clang::Stmt *> Operations, bool Locks,
                                    const clang::ASTContext &Context);

// The outermost statement, of a block, that a macro brings around another one. Null: there is none.
const clang::Stmt *statementOfMacro(const clang::Stmt *Inner, const clang::ParentMap &Parents,
                                    const Source &S);

// The macro for the rest of such a statement, which is all that the macro in its place brings.
// None: its text cannot be taken apart here. Held: the section uses it, where the statement is;
// else Text is the statement that stays.
std::optional<MacroRest> divideMacro(const clang::Stmt *Whole,
                                     llvm::ArrayRef<const clang::Stmt *> Operations, bool Locks,
                                     bool Held, const clang::ParentMap &Parents, const Source &S);

} // namespace relock
