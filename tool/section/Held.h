// SPDX-License-Identifier: MIT
//
// Which locks a function holds where, and what it does under each.
#pragma once

#include "section/Section.h"
#include "support/Source.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace clang {
class CFG;
class CFGBlock;
} // namespace clang

namespace relock {

// An operation on a lock, as far as it matters to who holds what.
struct HeldOperation {
  const clang::CallExpr *Call;
  Operation Kind;
  std::string Key; // of the operand: equal keys mean the same lock
  LockPart Lock;
  bool Follow = false;          // a wrapper that does more: what it calls counts, too
  bool SucceedsNonzero = false; // the call returns other than 0 where it has taken the lock
  bool Tells = true;            // it returns whether it has taken the lock
  bool NothingAtZero = false;   // the call does nothing where the lock's operand is 0
  bool Executes = false;        // the call releases the lock, and runs what it is given before
  bool Repeats = true;          // to take it again is no deadlock, or may be none
  bool Retries = false; // its result is kept: a loop may come back to it where it has failed
  const clang::VarDecl *Scope = nullptr; // the lock is released where its scope ends
  // It runs just where this holds, as do all on its lock, and it always holds or never.
  const clang::IfStmt *Guard = nullptr;
};

class HeldLocks {
public:
  // Never: statements that never run. Entered: of each `if` among these only the arm is entered.
  HeldLocks(const clang::FunctionDecl *F, std::vector<HeldOperation> Operations,
            llvm::ArrayRef<const clang::Stmt *> Never = {},
            const std::map<const clang::Stmt *, const clang::Stmt *> &Entered = {});

  // True if every lock that is taken in a section under Lock is released there, on each path to one
  // of its unlocks, and no other lock is. Inner: the operations of the section on other locks.
  bool balanced(const clang::CallExpr *Lock, llvm::ArrayRef<const clang::CallExpr *> Unlocks,
                llvm::ArrayRef<const clang::CallExpr *> Inner) const;

  // True if the function may return holding the lock of that operation.
  bool keeps(const clang::CallExpr *Call) const;

  // The first operation that takes a lock which it may have taken before and not released, or null.
  const HeldOperation *takenAgain() const;

  // What is done while a lock is held. Function, Name: its node and name. Wraps: the function
  // returns holding that mutex (a node), as its callers know. Operator: it is declared to take that
  // lock.
  void describe(const Source &S, llvm::StringRef Function, llvm::StringRef Name,
                llvm::StringRef Wraps, const std::optional<OtherLock> &Operator,
                std::vector<UnderLock> &Result) const;

private:
  using Stack = std::vector<unsigned>; // the held locks, the last one taken at the end
  using Stacks = std::set<Stack>;

  struct Tested {
    unsigned Key;
    unsigned Fails; // the successor of the block on which the lock was not taken
  };

  const HeldOperation *operation(const clang::CallExpr *Call) const;
  void follow(const clang::FunctionDecl *F, llvm::ArrayRef<const clang::Stmt *> Never,
              const std::map<const clang::Stmt *, const clang::Stmt *> &Entered);
  std::optional<Tested> tested(const clang::CFGBlock &Block) const;
  Stack step(const clang::Stmt *Statement, Stack Held);
  Stack operate(const HeldOperation &Op, Stack Held);
  Stack endScope(const clang::VarDecl *V, Stack Held);
  void findGuards(const clang::CFG &Graph);
  std::set<unsigned> releasedFirst(const clang::CFG &Graph) const;
  Stack operateUnguarded(const clang::CFGBlock &Block, const clang::CFGBlock *Next, Stack Held);
  Stack operateAtZero(const clang::CFGBlock &Block, const clang::CFGBlock *Next, Stack Held);
  void loseChanged(const clang::Stmt *Statement, const Stack &Held);

  std::vector<HeldOperation> Operations;
  // By operation: where control goes if its guard does not hold; null: it has none.
  std::vector<const clang::CFGBlock *> Unguarded;
  std::vector<std::string> Keys;
  llvm::DenseMap<const clang::CallExpr *, unsigned> Index; // of operations
  std::vector<unsigned> KeyOf;                             // by operation
  llvm::DenseMap<const clang::CallExpr *, Stacks> Before;  // each call
  llvm::DenseMap<const clang::VarDecl *, Stacks>
      AtEnd;                  // of the scope of each with a cleanup function
  std::set<unsigned> Lost;    // keys whose lock may stay held where that is not seen
  std::set<unsigned> Renamed; // of them, those whose operand names something else on the way
  std::set<unsigned> Again;   // operations that take a lock which may be held already
  bool Known = true;          // false: too many ways through the function
};

} // namespace relock
