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

// What the body of a wrapper is read for: Operation is one of that kind, and what it is given there
// finds the lock. Pure: the body is that and nothing else. Tests: … but for a test of the result.
struct WrapperOperation {
  const clang::CallExpr *Call;
  Operation Kind;
  llvm::ArrayRef<const clang::Expr *> Given;
  bool Pure, Tests;
};

// The body of the wrapper F, if a companion can do what it does; its Lock is left empty. Calls: of
// F. Loads: what its guards read besides parameters is added there.
std::optional<WrapperBody> wrapperBody(const clang::FunctionDecl *F, const WrapperOperation &Of,
                                       const std::vector<Call> &Calls,
                                       std::vector<OperandLoad> &Loads, const Source &S);

} // namespace relock
