// SPDX-License-Identifier: MIT
//
// Where control goes between the statements of a section, by their structure.
#pragma once

#include "index/Completion.h"

#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace clang {
class CFGBlock;
}

namespace relock {

// The loop or switch that a break leaves.
const clang::Stmt *brokenBy(const clang::BreakStmt *Break, const clang::ParentMap &Parents);

// True if End has ended as soon as Inner, a part of it, has: nothing of End comes between.
bool endsWith(const clang::Stmt *Inner, const clang::Stmt *End, const clang::ParentMap &Parents);

// The block of which a statement is one, perhaps with labels; null: of none.
const clang::CompoundStmt *blockOf(const clang::Stmt *Statement, const clang::ParentMap &Parents);

// The last statement of a block that is no mere `;`, or null.
const clang::Stmt *lastStatement(const clang::CompoundStmt *Block);

// The statement of Block that contains another one.
const clang::Stmt *childOf(const clang::CompoundStmt *Block, const clang::Stmt *Statement,
                           const clang::ParentMap &Parents);

// True if no statement but `;` stands between the two in the block. First null: before Next.
bool follows(const clang::Stmt *Next, const clang::Stmt *First, const clang::CompoundStmt *Block);

// True if Inner is one of the statements, or a part of one.
bool within(llvm::ArrayRef<const clang::Stmt *> Statements, const clang::Stmt *Inner,
            const clang::ParentMap &Parents);

// True if a statement, which may be null, calls anything.
bool calls(const clang::Stmt *Statement);

// Statements with all that is part of them.
using StatementParts = llvm::SmallPtrSet<const clang::Stmt *, 32>;
StatementParts partsOf(llvm::ArrayRef<const clang::Stmt *> Statements);

// True if a block of the control-flow graph stands in one of the statements, which do not run.
bool runsNever(const clang::CFGBlock &Block, const StatementParts &Never);

} // namespace relock
