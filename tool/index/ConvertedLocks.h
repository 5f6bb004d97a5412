// SPDX-License-Identifier: MIT
//
// Locks that an earlier rewrite has converted: which class the text gives each, so that an
// initialisation that somebody adds later can be given the same one.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

#include <optional>

namespace relock {

// The class that a variable of the table relock_locks.h defines, if it does:
// `relock_class_t relock_class_queue_lock = {"queue.lock", "mcs"};`.
std::optional<ConvertedClass> convertedClass(const clang::VarDecl *V);

// The variable or field that an operand is, or is an element of; null: none that is known.
const clang::ValueDecl *convertedLock(const clang::Expr *Operand);

// The classes that the initialiser of D names.
void recordClassUses(const clang::ValueDecl *D, const clang::Expr *Init, const Source &S,
                     UnitFacts &Facts);
// The class that a call of relock_mutex_init() names.
void recordClassUse(const clang::CallExpr *Call, const Source &S, UnitFacts &Facts);

} // namespace relock
