// SPDX-License-Identifier: MIT
//
// Recognises the types, functions and initialisers of POSIX locks.
#pragma once

#include "index/Records.h"
#include "support/Source.h"

#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"

#include <optional>

namespace relock {

enum class SyncType { None, Mutex, Condition, MutexAttribute, ConditionAttribute };

struct LockFunction {
  Operation Kind;
  int Mutex;     // index of the mutex argument, -1: none
  int Companion; // index of the condition or attribute argument, -1: none
};

// The lock function of that name, if it is one.
std::optional<LockFunction> lockFunction(llvm::StringRef Name);
// The type of such locks that librelock has.
inline constexpr llvm::StringLiteral ConvertedMutex = "relock_mutex_t";
// What the function of that name does to a lock that is not to be converted: a readers-writer lock,
// a spinlock, a mutex of C11, or one of librelock's, which was.
std::optional<OtherLock> otherLock(llvm::StringRef Name);
// True if a name has a word of lock operations in it: `lock`, `enter`, `release`.
bool looksLikeOperation(llvm::StringRef Name);
// True for a function of librelock, whose headers may stand in any folder: it is the library's.
bool isOfRuntime(const clang::FunctionDecl *F, const Source &S);
// `pthread_mutex_lock` → `relock_mutex_lock`.
std::string relockName(llvm::StringRef PosixName);
// The text that replaces a static initialiser macro (with `$CLASS`); empty: not one we know.
std::string relockInitialiser(llvm::StringRef MacroName);

// True for `pthread_mutex_t` and the like.
bool isSyncName(llvm::StringRef Name);
// What a type is about, seen through pointers, arrays and typedefs.
SyncType syncType(clang::QualType T);
// The same, but only for an object itself (or an array of them), not for a pointer to one.
SyncType syncObject(clang::QualType T);

// The call that a statement consists of, if it is nothing but one call of a function: the call
// itself, or in braces, `do { … } while (0)`, a statement expression; `(void)` is looked through.
const clang::CallExpr *soleCall(const clang::Stmt *S);

// Whether an operand points to a lock or condition of librelock's: an earlier rewrite has converted
// it. A cast that the user wrote is not looked through.
bool isConvertedOperand(const clang::Expr *E);

// An operand without casts that change nothing: `&q->lock` of
// `(pthread_mutex_t *)&q->lock`.
const clang::Expr *withoutIdleCasts(const clang::Expr *E);

// A lock operand in canonical form, so that the operands of a lock and an unlock can be
// compared: spelling, parentheses and casts do not matter, declarations do. The variable
// Argument, if given, is written `$`.
std::string lockKey(const clang::Expr *E, const clang::VarDecl *Argument = nullptr);

// The part of a lock class that an operand belongs to: a field that holds the lock's struct, or the
// struct variable itself; empty: not known. Operand is the mutex's address, or the struct's.
std::string lockPart(const clang::Expr *Operand, bool OfStruct, const Source &S);

// True for a null pointer, and for a number that only marks something: `SIG_IGN`,
// `SQLITE_TRANSIENT`.
bool isNoFunction(const clang::Expr *Pointer, clang::ASTContext &Context);

// Records a direct call and, for a function of a library, the functions that it is given to call.
// Ends: the process ends behind it, see callsBeforeEnd().
void recordCalls(const clang::CallExpr *Call, bool Ends, const Source &S,
                 std::vector<relock::Call> &Calls, std::vector<IndirectCall> &IndirectCalls);

// The type of a function, or of what a pointer to one points to, as text that is equal in all
// translation units for compatible types; empty if it has no prototype.
std::string functionTypeText(clang::QualType T);

} // namespace relock
