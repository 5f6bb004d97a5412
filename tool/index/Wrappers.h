// SPDX-License-Identifier: MIT
//
// Lock wrappers: functions whose only lock operation is one that their callers see.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>
#include <utility>

namespace relock {

// The lock operands of the operations found so far, and their nodes.
using LockOperands =
    llvm::DenseMap<const clang::CallExpr *, std::pair<const clang::Expr *, std::string>>;

// What F wraps, of whose operations `Only` is the only one: the lock is a global one or is reached
// from a parameter. Calls: those in F.
std::optional<Wrapper> findWrapper(const clang::FunctionDecl *F, const Site &Only,
                                   const LockOperands &Operands, const std::vector<Call> &Calls,
                                   const Source &S);

// The lock that F does nothing but release, in the form of Function::Releases and OfRecord.
std::pair<std::string, std::string> releasesArgument(const clang::FunctionDecl *F, const Site &Only,
                                                     const LockOperands &Operands, const Source &S);

// What F relays, which has no lock operation of its own. Calls: those in F.
std::optional<Relay> findRelay(const clang::FunctionDecl *F, const LockOperands &Operands,
                               const std::vector<Call> &Calls, const Source &S);

// What F forwards.
std::optional<Forward> findForward(const clang::FunctionDecl *F, const LockOperands &Operands,
                                   const Source &S);

} // namespace relock
