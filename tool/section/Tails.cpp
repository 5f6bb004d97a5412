// SPDX-License-Identifier: MIT
#include "section/Tails.h"

#include "index/LockApi.h"
#include "section/Flow.h"

#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace llvm;

namespace relock {

const LockOperation *takenBehind(const LockOperation &Unlock, const LockOperation &Lock,
                                 std::vector<const Stmt *> &Between,
                                 const std::vector<LockOperation> &Operations,
                                 const ParentMap &Parents) {
  const CompoundStmt *Block = blockOf(Unlock.Branch, Parents);
  if (!Block || Unlock.leaves())
    return nullptr;
  const Stmt *First = childOf(Block, Unlock.Branch, Parents);
  bool After = false;
  for (const Stmt *Child : Block->body()) {
    if (is_contained(Unlock.gone(), Child) && Child != First)
      continue;
    if (After)
      for (const LockOperation &Op : Operations)
        if (sameLock(Op, Lock) && within({Child}, Op.Call, Parents)) {
          bool Takes = Op.Kind == Operation::Lock && Op.Statement == Child && Op.Pure &&
                       Op.Node == Lock.Node;
          return Takes ? &Op : nullptr;
        }
    if (After)
      Between.push_back(Child);
    After |= Child == First;
  }
  return nullptr;
}

namespace {

class Tails {
public:
  Tails(const LockOperation &Lock, const SectionText &Text,
        const std::vector<LockOperation> &Operations, const ParentMap &Parents)
      : Lock(Lock), Text(Text), Operations(Operations), Parents(Parents) {}

  // The statements after an unlock in a branch, if they end by leaving the section or at its end.
  bool findTail(EarlyExitText &Exit) const {
    const Stmt *Unlock = Exit.Unlock->Branch;
    const CompoundStmt *Block = blockOf(Unlock, Parents);
    if (Exit.Unlock->leaves())
      return true;
    if (!Block) {
      Exit.Joins = true;
      return joins(Unlock);
    }
    const Stmt *First = childOf(Block, Unlock, Parents);
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (After && is_contained(Exit.Unlock->gone(), Child))
        continue;
      if (After && leaves(Child)) {
        Exit.Tail.push_back(Child);
        return tailIsPlain(Exit.Tail);
      }
      if (const auto *Break = dyn_cast<BreakStmt>(Child); After && Break) {
        Exit.Break = Break;
        Exit.Joins = true;
        return tailIsPlain(Exit.Tail) && joins(brokenBy(Break, Parents));
      }
      if (After)
        Exit.Tail.push_back(Child);
      After |= Child == First;
    }
    Exit.Joins = true;
    return tailIsPlain(Exit.Tail) && joins(Block);
  }

  // The statements between an unlock and the lock behind it with which the section goes on.
  bool findGap(EarlyExitText &Exit) const {
    std::vector<const Stmt *> Between;
    const LockOperation *Relock = takenBehind(*Exit.Unlock, Lock, Between, Operations, Parents);
    auto Breaks = [](const Stmt *Statement) { return breaksOut(Statement); };
    if (!Relock || !tailIsPlain(Between) || any_of(Between, Breaks))
      return false; // the caller has them in a loop
    Exit = {Exit.Unlock, std::move(Between)};
    Exit.Relock = Relock;
    return true;
  }

private:
  const LockOperation &Lock;
  const SectionText &Text;
  const std::vector<LockOperation> &Operations;
  const ParentMap &Parents;

  bool within(ArrayRef<const Stmt *> Statements, const Stmt *Inner) const {
    return relock::within(Statements, Inner, Parents);
  }

  // True if the statement leaves a loop or switch around it, or continues one.
  static bool breaksOut(const Stmt *Statement, bool InSwitch = false) {
    if (!Statement || isa<ForStmt>(Statement) || isa<WhileStmt>(Statement) ||
        isa<DoStmt>(Statement))
      return false;
    if (isa<ContinueStmt>(Statement) || (isa<BreakStmt>(Statement) && !InSwitch))
      return true;
    InSwitch |= isa<SwitchStmt>(Statement);
    return any_of(Statement->children(),
                  [&](const Stmt *Child) { return breaksOut(Child, InSwitch); });
  }

  // True if the section ends as soon as this statement of it does.
  bool joins(const Stmt *Inner) const {
    return Text.Joins && within({Text.Joins}, Inner) && endsWith(Inner, Text.Joins, Parents);
  }

  bool leaves(const Stmt *Jump) const {
    if (isa<ReturnStmt>(Jump))
      return true;
    if (const auto *Goto = dyn_cast<GotoStmt>(Jump))
      return !within(Text.Statements, Goto->getLabel()->getStmt());
    if (isa<BreakStmt>(Jump) || isa<ContinueStmt>(Jump)) {
      for (const Stmt *Up = Parents.getParent(Jump); Up && within(Text.Statements, Up);
           Up = Parents.getParent(Up)) {
        bool Loop = isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up);
        if (Loop || (isa<BreakStmt>(Jump) && isa<SwitchStmt>(Up)))
          return false;
      }
      return true;
    }
    const CallExpr *Call = soleCall(Jump);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Callee->isNoReturn();
  }

  // No label, and no jump to a loop or switch between the section's begin and the tail.
  bool tailIsPlain(const std::vector<const Stmt *> &Tail) const {
    for (const Stmt *Statement : Tail)
      if (!plain(Statement, Statement))
        return false;
    return true;
  }

  bool plain(const Stmt *Statement, const Stmt *Top) const {
    if (!Statement)
      return true;
    if (isa<LabelStmt>(Statement) || isa<SwitchCase>(Statement))
      return isa<SwitchCase>(Statement) && Statement != Top;
    if (isa<GotoStmt>(Statement) && !leaves(Statement))
      return false;
    if (isa<BreakStmt>(Statement) || isa<ContinueStmt>(Statement)) {
      bool InTail = false;
      for (const Stmt *Up = Parents.getParent(Statement); Up && Up != Parents.getParent(Top);
           Up = Parents.getParent(Up))
        InTail |= isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up) ||
                  (isa<BreakStmt>(Statement) && isa<SwitchStmt>(Up));
      if (!InTail && !leaves(Statement))
        return false;
    }
    for (const Stmt *Child : Statement->children())
      if (!plain(Child, Top))
        return false;
    return true;
  }
};

} // namespace

bool findTail(const LockOperation &Lock, const SectionText &Text,
              const std::vector<LockOperation> &Operations, const ParentMap &Parents,
              EarlyExitText &Exit) {
  const Tails Behind(Lock, Text, Operations, Parents);
  return Behind.findTail(Exit) || Behind.findGap(Exit);
}

} // namespace relock
