// SPDX-License-Identifier: MIT
//
// The lock operations of a function, and the statements that are nothing but one of them.
#pragma once

#include "index/Cleanup.h"
#include "index/Tested.h"
#include "section/Held.h"
#include "section/MacroRest.h"
#include "section/ProgramView.h"
#include "section/StaticUses.h"

#include "clang/AST/ParentMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace clang {
class CFG;
}

namespace relock {

// A call of a POSIX function or of a lock wrapper.
struct LockOperation {
  const clang::CallExpr *Call;
  Operation Kind;
  std::string Node, Key;
  std::string Lock; // text of the mutex pointer, for relock_execute
  bool ThroughWrapper = false;
  bool Pure = true;    // the wrapper does nothing else
  bool Visible = true; // the wrapper's lock can be named here
  bool Tests = false;  // more is done with its result, here or in the wrapper
  bool Prints = false; // its statement may also print a message
  std::string Wrapper; // node of the wrapper
  std::string Part;    // see LockPart
  const relock::Wrapper *Wraps = nullptr;
  const clang::Stmt *Statement; // the statement that is nothing but this operation; null: none
  const clang::Stmt *Branch;    // likewise, also the arm of an `if`, or behind a case label
  const clang::Stmt *Silent = nullptr; // likewise, without what prints a message
  // Statement is all of a macro, which does more; these in it are the operation, and what it does
  // without the lock, which is Instead. Empty: Statement is nothing but the operation.
  std::vector<const clang::Stmt *> InMacro;
  bool RestHeld = false;        // then: it also does something that is a part of the section
  std::vector<MacroRest> Rests; // for what it does more: one for each side
  // Statement runs one of several calls, in the arms of an `if`. The other ones.
  std::vector<const clang::CallExpr *> Others;
  // Of a wait whose result a macro tests: all that the macro is, if it goes with the wait.
  const clang::Stmt *Checked = nullptr;
  // The operation runs only where this holds, as do all on its lock in the function; Statement and
  // Branch are the `if` around it, or all of a macro that is no more. Null: there is no such
  // condition.
  const clang::Expr *Guard = nullptr;
  // The `if` of that, where the condition is the same at each operation on the lock in the
  // function.
  const clang::IfStmt *FixedGuard = nullptr;
  // An unlock by pthread_cleanup_pop(1): from the push through the pop. Statement is the pop then.
  const clang::DoStmt *Push = nullptr;
  // The lock is released where the scope of this variable ends; its declaration. Lock, Key and Part
  // are what it points to.
  const clang::VarDecl *Scope = nullptr;
  const clang::DeclStmt *ScopeStatement = nullptr;
  // Statement, or Branch, uses the result, which is 0; what it decides goes with it.
  std::optional<ResultUse> Uses;
  // Of a lock: the `if` in whose condition it stands, or that follows Statement, of which one arm
  // runs, and unlocks at its end.
  std::optional<Entrance> Enters;
  // Takes the place of all that, `rc = 0;`, `return 0;`, or of a branch that also notes in a
  // variable that the lock is taken: Guard. Or it is the rest of a macro, which is not in the
  // section.
  std::string Instead;

  // The variable of the result, where nothing but the use of such results names it.
  const clang::VarDecl *Orphan = nullptr;

  // What the call returns, if it does not fail.
  int64_t result() const { return Wraps ? Wraps->Result : 0; }
  bool leaves() const { return Uses && Uses->Returns; }
  bool hasRest() const { return !InMacro.empty(); }
  bool hasHeldRest() const { return hasRest() && RestHeld; }
  // What is not the section's of a statement that begins or ends it.
  std::vector<const clang::Stmt *> own() const {
    return hasHeldRest() ? InMacro : std::vector{Branch};
  }
  // The statements that go with an operation whose result is used; none of another operation.
  std::vector<const clang::Stmt *> gone() const {
    std::vector<const clang::Stmt *> All;
    if (Uses) {
      All = Uses->Decided;
      if (Branch)
        All.insert(All.begin(), Branch);
      if (Enters)
        llvm::append_range(All, Enters->gone());
    }
    return All;
  }
  // The last statement that goes with the operation.
  const clang::Stmt *last() const {
    return Uses && !Uses->Decided.empty() ? Uses->Decided.back() : Branch;
  }
};

// Puts the argument in the place of `$` in what a wrapper's lock is called.
void substitute(std::string &Text, const std::string &Argument);

// The mutex that a wrapper takes for its argument, as Spell spells the part of that which is
// needed.
std::string lockThrough(const Wrapper &W, const clang::Expr *Argument,
                        llvm::function_ref<std::string(const clang::Expr *)> Spell);

inline bool sameLock(const LockOperation &A, const LockOperation &B) { return A.Key == B.Key; }

// The sites of a unit, by where they are shown and spelled.
using SiteIndex = std::map<std::pair<Position, Position>, const Site *>;

class LockOperations {
public:
  // Visible: the global variables that are declared before F. Statics: of the unit.
  LockOperations(const clang::FunctionDecl *F, const Source &S, const SiteIndex &Sites,
                 const ProgramView &Linked, const llvm::StringSet<> &Visible,
                 const clang::ParentMap &Parents, StaticUses &Statics);

  std::vector<LockOperation> All;
  std::vector<HeldOperation> Others; // on locks that are not converted
  std::vector<Cleanup> Cleanups;     // all handlers that the function pushes
  // Trylocks where the process ends if they take the lock: they only assert that it is held.
  std::vector<const clang::CallExpr *> Assertions;

  const LockOperation *at(const clang::CallExpr *Call) const;
  // Statements that never run, as they are for operations that fail.
  std::vector<const clang::Stmt *> never() const;
  // The unlock at the end of an arm that Lock enters, if no other operation on the lock is in it.
  const LockOperation *unlockEnding(const Entrance &Way, const LockOperation &Lock) const;
  // The arms that are entered, by the `if` of which they are one.
  std::map<const clang::Stmt *, const clang::Stmt *> entrances() const;

  // True for the lock and the unlock of a mutex that does not check errors.
  bool cannotFail(const LockOperation &Op) const;
  bool resultIgnored(const clang::CallExpr *Call) const;
  // `&(q->lock)`, as a macro leaves it: `&q->lock`.
  std::string operandText(const clang::Expr *E) const;
  // True if a local variable has the name of the global one that an expression starts from.
  bool hidden(llvm::StringRef Expression) const;

private:
  const clang::FunctionDecl *F;
  const Source &S;
  const SiteIndex &Sites;
  const ProgramView &Linked;
  const llvm::StringSet<> &Visible;
  const clang::ParentMap &Parents;
  StaticUses &Statics;

  bool neverFails(const std::string &Node) const;
  bool testCanGo(const clang::Stmt *Statement, const LockOperation &Op,
                 bool *Prints = nullptr) const;
  void collect(const clang::Stmt *Statement);
  void add(const clang::CallExpr *Call);
  bool addOperator(const clang::CallExpr *Call, LockOperation &Op) const;
  void addOther(const clang::CallExpr *Call);
  void nameOperand(LockOperation &Op, const Wrapper &W, const clang::Expr *Argument) const;
  void addPop(const Cleanup &C);
  const clang::IfStmt *guardOf(const LockOperation &Op) const;
  const clang::IfStmt *notedIn(const LockOperation &Op, const clang::Expr *Flag) const;
  bool isUnsetAt(const clang::IfStmt *If, const clang::VarDecl *Flag) const;
  bool isFixed(const clang::Expr *Condition, bool Noted) const;
  std::optional<std::string> withoutOperation(const LockOperation &Op,
                                              const clang::IfStmt *If) const;
  const clang::Stmt *macroAround(const LockOperation &Op) const;
  const clang::Stmt *wholeGuard(const clang::IfStmt *If) const;
  void findMacros();
  void takeMacro(LockOperation &Op, llvm::ArrayRef<LockOperation *> Arms,
                 const clang::Stmt *Whole) const;
  bool statementsOf(const LockOperation &Op, const clang::Stmt *Whole,
                    std::vector<const clang::Stmt *> &Operations,
                    std::vector<const clang::Stmt *> &With, bool &Reports) const;
  bool testsCanGo(const Besides &What, const LockOperation &Op) const;
  void findGuards();
  void findUses();
  void findUse(LockOperation &Op) const;
  bool findEntrance(LockOperation &Op) const;
  std::pair<const clang::Stmt *, std::vector<const clang::Stmt *>>
  statementAround(const LockOperation &Op) const;
  std::string targetText(const clang::Expr *Target) const;
  std::optional<std::string> insteadOf(const LockOperation &Op, const clang::CFG *Graph) const;
  using StatementTest = llvm::function_ref<bool(const clang::Stmt *)>;
  const clang::Stmt *wholeStatement(const clang::CallExpr *Call, StatementTest IsAll) const;
  const clang::Stmt *wholeBranch(const clang::CallExpr *Call, StatementTest IsAll) const;
};

} // namespace relock
