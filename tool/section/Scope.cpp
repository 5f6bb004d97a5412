// SPDX-License-Identifier: MIT
#include "section/Scope.h"

#include "index/Cleanup.h"
#include "index/LockApi.h"
#include "index/Operand.h"
#include "section/Flow.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

// A declaration whose variable's cleanup function unlocks the mutex that the variable points to.
const VarDecl *guardOf(const Stmt *Statement, const ProgramView &Linked, const Source &S) {
  const auto *Declared = dyn_cast<DeclStmt>(Statement);
  const auto *V =
      Declared && Declared->isSingleDecl() ? dyn_cast<VarDecl>(Declared->getSingleDecl()) : nullptr;
  const auto *Cleanup = V ? V->getAttr<CleanupAttr>() : nullptr;
  if (!Cleanup || !V->hasLocalStorage() || !V->hasInit() || !V->getType()->isPointerType() ||
      syncObject(V->getType()->getPointeeType()) != SyncType::Mutex)
    return nullptr;
  const Wrapper *W = Linked.wrapperOf(nodeFor(Cleanup->getFunctionDecl(), S));
  std::optional<ClassOfLock> Class = W ? Linked.classOf(nodeFor(V, S)) : std::nullopt;
  bool Unlocks = W && W->Kind == Operation::Unlock && W->Pure && !W->Computed &&
                 W->Parameter == 0 && W->Expression == "*$" &&
                 (!W->Tests || W->Aborts || (Class && Class->ChecksErrors.empty()));
  return Unlocks ? V : nullptr;
}

void collectMentions(const Stmt *In, const VarDecl *V, std::vector<const DeclRefExpr *> &Found) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(In); Ref && Ref->getDecl() == V)
    Found.push_back(Ref);
  for (const Stmt *Child : In->children())
    if (Child)
      collectMentions(Child, V, Found);
}

class Finder {
public:
  Finder(const CompoundStmt *Body, const ParentMap &Parents, const ProgramView &Linked,
         const Source &S, std::vector<LockOperation> &All)
      : Body(Body), Parents(Parents), Linked(Linked), S(S), All(All) {}

  void visit(const Stmt *Statement) {
    if (const VarDecl *V = guardOf(Statement, Linked, S))
      if (LockOperation *Lock = lockOf(V, cast<DeclStmt>(Statement)))
        release(*Lock, V, cast<DeclStmt>(Statement));
    for (const Stmt *Child : Statement->children())
      if (Child)
        visit(Child);
  }

private:
  const CompoundStmt *Body;
  const ParentMap &Parents;
  const ProgramView &Linked;
  const Source &S;
  std::vector<LockOperation> &All;

  // The lock beside the declaration, of which it is the variable's only use.
  LockOperation *lockOf(const VarDecl *V, const DeclStmt *Declared) const {
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Declared));
    std::vector<const DeclRefExpr *> Mentions;
    collectMentions(Body, V, Mentions);
    if (!Block || Mentions.size() > 1)
      return nullptr;
    const DeclRefExpr *Ref = Mentions.empty() ? nullptr : Mentions.front();
    std::string Key = Ref ? lockKey(Ref) : lockKey(V->getInit());
    auto Found = find_if(All, [&](const LockOperation &Op) {
      return Op.Kind == Operation::Lock && Op.Pure && Op.Visible && !Op.Uses && !Op.Guard &&
             Op.Key == Key && Op.Statement && !Op.hasRest() &&
             Parents.getParent(Op.Statement) == Block &&
             (!Ref || within({Op.Statement}, Ref, Parents)) &&
             (follows(Op.Statement, Declared, Block) ||
              (!Ref && follows(Declared, Op.Statement, Block)));
    });
    return Found == All.end() ? nullptr : &*Found;
  }

  void release(LockOperation &Lock, const VarDecl *V, const DeclStmt *Declared) const {
    const Expr *Mutex = withoutIdleCasts(V->getInit());
    Lock.Scope = V;
    Lock.ScopeStatement = Declared;
    Lock.Key = lockKey(Mutex);
    Lock.Part = lockPart(Mutex, false, S);
  }
};

const Expr *unconverted(const Expr *E) {
  while (const auto *Cast = dyn_cast<ImplicitCastExpr>(E->IgnoreParens())) {
    if (Cast->getCastKind() == CK_LValueToRValue)
      break;
    E = Cast->getSubExpr();
  }
  return E->IgnoreParens();
}

void collectExits(const Stmt *Statement, bool InLoop, bool InSwitch,
                  const std::vector<const Stmt *> &All, const ParentMap &Parents,
                  ScopeExits &Result) {
  if (const auto *Return = dyn_cast<ReturnStmt>(Statement))
    Result.Returns.push_back(Return);
  const auto *Goto = dyn_cast<GotoStmt>(Statement);
  if ((Goto && !within(All, Goto->getLabel()->getStmt(), Parents)) ||
      (isa<BreakStmt>(Statement) && !InLoop && !InSwitch) ||
      (isa<ContinueStmt>(Statement) && !InLoop))
    Result.Jumps.push_back(Statement);
  InLoop |= isa<ForStmt>(Statement) || isa<WhileStmt>(Statement) || isa<DoStmt>(Statement);
  InSwitch |= isa<SwitchStmt>(Statement);
  for (const Stmt *Child : Statement->children())
    if (Child)
      collectExits(Child, InLoop, InSwitch, All, Parents, Result);
}

} // namespace

void findScopes(const CompoundStmt *Body, const ParentMap &Parents, const ProgramView &Linked,
                const Source &S, std::vector<LockOperation> &All) {
  if (!All.empty())
    Finder(Body, Parents, Linked, S, All).visit(Body);
}

Call cleanupCall(const VarDecl *V, const Source &S) {
  const FunctionDecl *F = V->getAttr<CleanupAttr>()->getFunctionDecl();
  return {nodeFor(F, S), F->getNameAsString(), S.shown(V->getLocation())};
}

static void recordAll(const Stmt *In, const Source &S, std::vector<Call> &Calls,
                      std::vector<IndirectCall> &IndirectCalls) {
  if (const auto *Call = dyn_cast<CallExpr>(In))
    recordCalls(Call, /*Ends=*/false, S, Calls, IndirectCalls);
  for (const Stmt *Child : In->children())
    if (Child)
      recordAll(Child, S, Calls, IndirectCalls);
}

void recordCleanup(const VarDecl *V, const Source &S, std::vector<Call> &Calls,
                   std::vector<IndirectCall> &IndirectCalls) {
  if (const BlockExpr *Run = blockOfCleanup(V))
    recordAll(Run->getBody(), S, Calls, IndirectCalls);
  else
    Calls.push_back(cleanupCall(V, S));
}

std::vector<const Stmt *> statementsUnder(const LockOperation &Lock, const CompoundStmt *Block) {
  std::vector<const Stmt *> Result;
  for (const Stmt *Child : Block->body())
    if (Child == Lock.Statement || Child == Lock.ScopeStatement)
      Result.clear(); // the one may stand before the other
    else
      Result.push_back(Child);
  return Result;
}

ScopeExits scopeExits(const std::vector<const Stmt *> &Statements, const ParentMap &Parents) {
  ScopeExits Result;
  for (const Stmt *Statement : Statements)
    collectExits(Statement, false, false, Statements, Parents, Result);
  return Result;
}

bool fitsInt(const ReturnStmt *Return, const FunctionDecl *F, const ASTContext &Context) {
  QualType Type = F->getReturnType();
  auto Fits = [&](QualType T) {
    return T->isIntegralOrEnumerationType() &&
           Context.getTypeSize(T) <= Context.getTypeSize(Context.IntTy);
  };
  return Return->getRetValue() && Fits(Type) && Fits(unconverted(Return->getRetValue())->getType());
}

bool isValueBehind(const ReturnStmt *Return, const std::vector<Mention> &All,
                   const ASTContext &Context) {
  const Expr *Value = Return->getRetValue();
  if (!Value || Value->isEvaluatable(Context, Expr::SE_NoSideEffects))
    return true;
  const auto *Ref = dyn_cast<DeclRefExpr>(Value->IgnoreParenCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !V->hasAttr<CleanupAttr>() && V->getType()->isScalarType() &&
         !V->getType().isVolatileQualified() && none_of(All, [&](const Mention &M) {
           return M.Variable == V && M.How == Mention::AddressTaken;
         });
}

} // namespace relock
