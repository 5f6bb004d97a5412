// SPDX-License-Identifier: MIT
//
// Lock wrappers that do more than to lock or unlock:
//
//   void mutex_lock(struct mutex *m, const char *where) {      void mutex_unlock(struct mutex *m) {
//     assert(m->initialised);                                    m->where = NULL;
//     pthread_mutex_lock(&m->lock);                              pthread_mutex_unlock(&m->lock);
//     m->where = where;                                        }
//   }
//
// A companion of such a pair can do all that around a section. What stands outside of the two
// operations its caller does, as before; what stands between them is done under the lock, with the
// section, by the thread that runs it. Where both leave their operation out under one condition,
// `if (m == NULL) return;` or `if (threaded) { … }`, the companion runs the section without the
// lock.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"

#include <optional>

namespace relock {

// The body of the wrapper F, known as W, of the operation, if a companion can do what it does.
// Calls: of F. Loads: what its guards read besides parameters is added there.
std::optional<WrapperBody> wrapperBody(const clang::FunctionDecl *F,
                                       const clang::CallExpr *Operation, const clang::Expr *Operand,
                                       const Wrapper &W, const std::vector<Call> &Calls,
                                       std::vector<OperandLoad> &Loads, const Source &S);

} // namespace relock
