// SPDX-License-Identifier: MIT
//
// Lock operands that are computed, as a lock wrapper's `&locks[hash & mask]`: from parameters of
// the wrapper and from global variables, without an effect. Callers cannot spell such an operand,
// for its variables may be static ones of another file, but they can have the wrapper's file
// evaluate it: the wrapper gets a companion that takes the same parameters. What the operand reads
// besides its parameters is recorded, node by node: it must not change while the lock is held.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace relock {

// The variables and fields whose values the operand reads.
// Unknown: it also reads what a pointer points to, other than a member, or a member of a union.
void collectLoaded(const clang::Stmt *Operand,
                   llvm::SmallPtrSetImpl<const clang::ValueDecl *> &Loaded, bool &Unknown);

OperandLoad operandLoad(const clang::ValueDecl *D, const Source &S);

// True if the operand is one that a companion of the wrapper F can evaluate.
bool isComputed(const clang::Expr *Operand, const clang::FunctionDecl *F, const Source &S);

// Which parameters of F the operand reads, how a companion is declared, and the names that its own
// parameters must not have.
void describeComputed(const clang::Expr *Operand, const clang::FunctionDecl *F, const Source &S,
                      WrapperPlace &W);

// The same for one that does what the wrapper does, and takes all of its parameters.
void describeCompanion(const clang::FunctionDecl *F, const Source &S, WrapperPlace &W);

// Behind the `;` of a declaration, which may declare others as well; none if that is not seen here.
std::optional<unsigned> behindDeclaration(const Source::Range &Declarator, const Source &S);

// A place where the companion must be declared, directly behind a declaration of F; empty if a part
// of it stands in a macro.
std::optional<Prototype> computedPrototype(const clang::FunctionDecl *F, const WrapperPlace &W,
                                           const Source &S);

// An expression in canonical form, exactly: conversions that may change a value are part of it, and
// the variables of all files are told apart. The parameters of Of stand for arguments.
std::string exactKey(const clang::Expr *E, const clang::FunctionDecl *Of, const Source &S);

// Puts the keys of the arguments into that of a wrapper's operand.
std::string keyAtCall(llvm::StringRef Key, const clang::CallExpr *Call, const Source &S);

} // namespace relock
