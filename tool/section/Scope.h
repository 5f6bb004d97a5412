// SPDX-License-Identifier: MIT
//
// Locks that a variable releases when its scope ends:
//
//   __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &queue->lock;
//   pthread_mutex_lock(guard);
//
// mostly in a macro. The section is what follows in the block. Whatever leaves the block releases
// the lock: a `return` after it has evaluated its value.
#pragma once

#include "section/Captures.h"
#include "section/Operations.h"
#include "section/ProgramView.h"

#include <optional>

namespace relock {

// Fills Scope of the locks that such a variable releases, and names the lock as the variable's
// initialiser does. Body: of the function.
void findScopes(const clang::CompoundStmt *Body, const clang::ParentMap &Parents,
                const ProgramView &Linked, const Source &S, std::vector<LockOperation> &All);

// The call of a variable's cleanup function.
Call cleanupCall(const clang::VarDecl *V, const Source &S);

// What runs at the end of such a variable's scope: that call, or those of the block that it runs.
void recordCleanup(const clang::VarDecl *V, const Source &S, std::vector<Call> &Calls,
                   std::vector<IndirectCall> &IndirectCalls);

// What follows the lock in its block.
std::vector<const clang::Stmt *> statementsUnder(const LockOperation &Lock,
                                                 const clang::CompoundStmt *Block);

// How a section is left that ends with the block.
struct ScopeExits {
  std::vector<const clang::ReturnStmt *> Returns;
  std::vector<const clang::Stmt *> Jumps; // break, continue and goto
};
ScopeExits scopeExits(const std::vector<const clang::Stmt *> &Statements,
                      const clang::ParentMap &Parents);

// True if the function can return what the section does: an int has each value, and converted to
// the function's type it is what the function returned.
bool fitsInt(const clang::ReturnStmt *Return, const clang::FunctionDecl *F,
             const clang::ASTContext &Context);

// True if the value is the same behind the section: a constant, or a local variable that nothing
// else can change.
bool isValueBehind(const clang::ReturnStmt *Return, const std::vector<Mention> &All,
                   const clang::ASTContext &Context);

} // namespace relock
