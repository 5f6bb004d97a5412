// SPDX-License-Identifier: MIT
//
// Cleanup handlers that release a lock:
//
//   pthread_cleanup_push(release, &lock);
//   pthread_mutex_lock(&lock);                    or before the push
//   …
//   pthread_cleanup_pop(1);
//
// A section that ends at the pop leaves the handler where it is, for a thread that is cancelled in
// it, and the pop has nothing more to do.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

#include <optional>

namespace relock {

// What the two macros of the GNU C library make, without -fexceptions.
struct Cleanup {
  const clang::DoStmt *All;        // from the push through the pop
  const clang::CompoundStmt *Body; // what stands between them
  const clang::Stmt *Pop;      // the last statement of Body, without labels: the pop begins there
  const clang::CallExpr *Call; // of the handler, at the pop
  const clang::Expr *Routine, *Argument;
  bool Executes; // the pop surely calls the handler
};

std::optional<Cleanup> cleanupOf(const clang::Stmt *S, const clang::ASTContext &Context);

// The block that a variable's cleanup function runs, where it does nothing else:
// `void (^run)(void) __attribute__((cleanup(call))) = ^{ release(object); };`
const clang::BlockExpr *blockOfCleanup(const clang::VarDecl *V);

// True for the setjmp of a push: it returns again only to run the handler and to end the thread.
bool isOfCleanup(const clang::CallExpr *Setjmp);

} // namespace relock
