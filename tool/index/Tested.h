// SPDX-License-Identifier: MIT
//
// What a program does with the result of a lock operation that does not fail.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <set>
#include <vector>

namespace relock {

// True for an argument of which a function like printf() only prints the value.
bool isPrinted(const clang::FunctionDecl *F, unsigned Argument);

// What a statement does besides its lock operation.
struct Besides {
  bool Aborts = false;  // if the operation fails, and no more, if it tests at all, …
  bool Reports = false; // … perhaps with a message before
  bool Prints = false;  // it may print a message if the operation succeeds
  // Aborts is true if these functions end the process, whatever they do before.
  std::vector<const clang::FunctionDecl *> Ends;
};

// True if Statement does what the lock operation Call in it does, and nothing else, as long as that
// returns Result: `if (lock(&l) != 0) abort();`, `assert(lock(&l) == 0);`, or a macro's
// `do { int e; if ((e = lock(&l)) != 0) report(e); } while (0)`. False if something outside would
// notice that the rest has gone. What: if not null, it may also print messages, by functions that
// are declared to be like printf().
bool onlyOperation(const clang::Stmt *Statement, const clang::CallExpr *Call,
                   const clang::ASTContext &Context, Besides *What = nullptr, int64_t Result = 0);
// The same for the body of a function, which may also return in the end what the call does, or
// with Returns another number, which is put there: `if (lock(&l)) die(); return true;`. Aborts:
// whether it aborts otherwise, and no more, if it tests at all.
bool onlyOperationOfBody(const clang::CompoundStmt *Body, const clang::CallExpr *Call,
                         const clang::ASTContext &Context, int64_t Result = 0,
                         bool *Aborts = nullptr, int64_t *Returns = nullptr);

// The same for statements of the body of F, the last of which may return any number. They stay
// there where other files may call F.
bool onlyOperationOf(llvm::ArrayRef<const clang::Stmt *> Statements, const clang::CallExpr *Call,
                     const clang::FunctionDecl *F);

// What a statement does with the result of a lock operation that returns 0, where the result stays
// in a variable or goes to the caller: `rc = lock(&l);`, and `if (rc) return rc;` behind it.
struct ResultUse {
  std::vector<const clang::Stmt *> Decided;  // the statements behind it that only test it
  const clang::Expr *Target = nullptr;       // `rc`, which is 0 then
  const clang::VarDecl *Declared = nullptr;  // instead, of `int rc = lock(&l);`
  bool Returns = false;                      // it, or the last one decided, returns 0
  std::vector<const clang::Stmt *> Never;    // parts of all this that never run
  std::set<const clang::NamedDecl *> Missed; // what else they name, whose last mention might go

  // The local variable that holds the result, or null.
  const clang::VarDecl *variable() const;
};

// Nothing if the statement does anything else. Behind: the statements behind it in its block. What:
// if not null, what is decided may also print messages before it aborts.
std::optional<ResultUse> useOfResult(const clang::Stmt *Statement,
                                     llvm::ArrayRef<const clang::Stmt *> Behind,
                                     const clang::CallExpr *Call, const clang::ASTContext &Context,
                                     Besides *What = nullptr);

// An `if` that only asks whether a lock operation has taken its lock, which it has:
// `if (lock(&l) == 0) { … } else { … }`.
struct Entrance {
  const clang::IfStmt *If;
  const clang::CompoundStmt *Arm; // what runs
  ResultUse Use;                  // of the result; the other arm never runs

  // What goes of the `if`, besides its braces: the condition, and the other arm.
  std::vector<const clang::Stmt *> gone() const;
};

// Nothing if the statement is no such `if`, nor followed by one that tests a variable which it puts
// the result in. Result: what the operation returns where it has taken the lock.
std::optional<Entrance> entranceOf(const clang::Stmt *Statement,
                                   llvm::ArrayRef<const clang::Stmt *> Behind,
                                   const clang::CallExpr *Call, const clang::ASTContext &Context,
                                   int64_t Result);

} // namespace relock
