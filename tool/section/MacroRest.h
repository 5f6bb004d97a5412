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
// A macro that does something on both sides gets one for each. The operation may stand in each arm
// of an `if`, and in macros of the macro.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/ParentMap.h"

namespace relock {

// What a statement does before and behind the operation in it: statements of blocks.
struct StatementRest {
  std::vector<const clang::Stmt *> Before, Behind;
};

// The rest of a statement that runs just one of some operations, which are parts of it, on each way
// through. None: it may run none or several, or goes on elsewhere. With: statements that only serve
// the operations, and go with them.
std::optional<StatementRest> restOf(const clang::Stmt *Whole,
                                    llvm::ArrayRef<const clang::Stmt *> Operations,
                                    llvm::ArrayRef<const clang::Stmt *> With,
                                    const clang::ASTContext &Context);

// The outermost statement, of a block, that a macro brings around another one. Null: there is none.
const clang::Stmt *statementOfMacro(const clang::Stmt *Inner, const clang::ParentMap &Parents,
                                    const Source &S);

// The macro for one side of such a statement, which is all that the macro in its place brings: for
// what is left where these statements go. None: its text cannot be taken apart here. Locks: the
// operation takes the lock. Held: the section uses it, where the statement is; else Text is the
// statement that stays.
std::optional<MacroRest> divideMacro(const clang::Stmt *Whole,
                                     llvm::ArrayRef<const clang::Stmt *> Go, bool Locks, bool Held,
                                     const clang::ParentMap &Parents, const Source &S);

} // namespace relock
