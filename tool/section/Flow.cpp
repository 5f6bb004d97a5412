// SPDX-License-Identifier: MIT
#include "section/Flow.h"

#include "clang/AST/Expr.h"
#include "clang/Analysis/CFG.h"

using namespace clang;
using namespace llvm;

namespace relock {
const Stmt *brokenBy(const BreakStmt *Break, const ParentMap &Parents) {
  for (const Stmt *Up = Parents.getParent(Break); Up; Up = Parents.getParent(Up))
    if (isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up) || isa<SwitchStmt>(Up))
      return Up;
  return nullptr;
}

bool endsWith(const Stmt *Inner, const Stmt *End, const ParentMap &Parents) {
  for (const Stmt *Up; Inner != End; Inner = Up) {
    Up = Parents.getParent(Inner);
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Up);
    const auto *If = dyn_cast_or_null<IfStmt>(Up);
    const auto *Switch = dyn_cast_or_null<SwitchStmt>(Up);
    bool Last = (Block && Block->body_back() == Inner) ||
                (If && (If->getThen() == Inner || If->getElse() == Inner)) ||
                (Switch && Switch->getBody() == Inner) || isa_and_nonnull<LabelStmt>(Up) ||
                isa_and_nonnull<SwitchCase>(Up);
    if (!Last)
      return false;
  }
  return true;
}

const CompoundStmt *blockOf(const Stmt *Statement, const ParentMap &Parents) {
  const Stmt *Parent = Parents.getParent(Statement);
  while (isa_and_nonnull<LabelStmt>(Parent) || isa_and_nonnull<SwitchCase>(Parent))
    Parent = Parents.getParent(Parent);
  return dyn_cast_or_null<CompoundStmt>(Parent);
}

const Stmt *lastStatement(const CompoundStmt *Block) {
  for (const Stmt *Child : reverse(Block->body()))
    if (!isa<NullStmt>(Child))
      return Child;
  return nullptr;
}

const Stmt *childOf(const CompoundStmt *Block, const Stmt *Statement, const ParentMap &Parents) {
  while (Statement && Parents.getParent(Statement) != Block)
    Statement = Parents.getParent(Statement);
  return Statement;
}

bool follows(const Stmt *Next, const Stmt *First, const CompoundStmt *Block) {
  const Stmt *Before = nullptr;
  for (const Stmt *Child : Block->body()) {
    if (Child == Next)
      return Before == First;
    if (!isa<NullStmt>(Child))
      Before = Child;
  }
  return false;
}

bool within(ArrayRef<const Stmt *> Statements, const Stmt *Inner, const ParentMap &Parents) {
  for (const Stmt *Up = Inner; Up; Up = Parents.getParent(Up))
    if (is_contained(Statements, Up))
      return true;
  return false;
}

static void collectParts(const Stmt *S, StatementParts &Parts) {
  Parts.insert(S);
  for (const Stmt *Child : S->children())
    if (Child)
      collectParts(Child, Parts);
}

bool calls(const Stmt *Statement) {
  return Statement && (isa<CallExpr>(Statement) || any_of(Statement->children(), calls));
}

StatementParts partsOf(ArrayRef<const Stmt *> Statements) {
  StatementParts Parts;
  for (const Stmt *S : Statements)
    collectParts(S, Parts);
  return Parts;
}

bool runsNever(const CFGBlock &Block, const StatementParts &Never) {
  std::optional<CFGStmt> First = Block.empty() ? std::nullopt : Block.front().getAs<CFGStmt>();
  return Never.contains(First ? First->getStmt() : Block.getTerminatorStmt());
}

} // namespace relock
