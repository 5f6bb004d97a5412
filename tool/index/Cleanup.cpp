// SPDX-License-Identifier: MIT
#include "index/Cleanup.h"

#include "index/LockApi.h"

#include "clang/AST/Attr.h"

using namespace clang;
using namespace llvm;

namespace relock {

static const Stmt *withoutLabels(const Stmt *S) {
  while (const auto *Label = dyn_cast_or_null<LabelStmt>(S))
    S = Label->getSubStmt();
  return S;
}

// `do { } while (0)`, to which a label before the pop belongs.
static const Stmt *popOf(const CompoundStmt *Body) {
  const Stmt *Last = nullptr;
  for (const Stmt *Child : Body->body())
    if (!isa<NullStmt>(Child))
      Last = withoutLabels(Child);
  const auto *Do = dyn_cast_or_null<DoStmt>(Last);
  const auto *Empty = Do ? dyn_cast<CompoundStmt>(Do->getBody()) : nullptr;
  return Empty && Empty->body_empty() && Do->getBeginLoc().isMacroID() ? Do : nullptr;
}

static const VarDecl *variableOf(const Stmt *S) {
  const auto *Declared = dyn_cast<DeclStmt>(S);
  return Declared && Declared->isSingleDecl() ? dyn_cast<VarDecl>(Declared->getSingleDecl())
                                              : nullptr;
}

std::optional<Cleanup> cleanupOf(const Stmt *S, const ASTContext &Context) {
  const auto *All = dyn_cast<DoStmt>(S);
  const auto *Block = All ? dyn_cast<CompoundStmt>(All->getBody()) : nullptr;
  if (!Block || !All->getBeginLoc().isMacroID())
    return std::nullopt;
  Cleanup Result = {All, nullptr, nullptr, nullptr, nullptr, nullptr, false};
  for (const Stmt *Child : Block->body()) {
    const VarDecl *V = variableOf(Child);
    if (V && V->getName() == "__cancel_routine")
      Result.Routine = V->getInit();
    else if (V && V->getName() == "__cancel_arg")
      Result.Argument = V->getInit();
    else if (const auto *Inner = dyn_cast<DoStmt>(Child))
      Result.Body = dyn_cast<CompoundStmt>(Inner->getBody());
  }
  const auto *Last = dyn_cast_or_null<IfStmt>(Block->body_empty() ? nullptr : Block->body_back());
  Result.Call = Last ? dyn_cast<CallExpr>(Last->getThen()) : nullptr;
  if (!Result.Routine || !Result.Argument || !Result.Body || !Result.Call)
    return std::nullopt;
  Result.Pop = popOf(Result.Body);
  Expr::EvalResult Executes;
  Result.Executes = Last->getCond()->EvaluateAsInt(Executes, Context) && Executes.Val.getInt() != 0;
  return Result.Pop ? std::optional(Result) : std::nullopt;
}

const BlockExpr *blockOfCleanup(const VarDecl *V) {
  const auto *Attribute = V->getAttr<CleanupAttr>();
  const FunctionDecl *F = Attribute ? Attribute->getFunctionDecl() : nullptr;
  const auto *Run =
      V->hasInit() ? dyn_cast<BlockExpr>(V->getInit()->IgnoreParenImpCasts()) : nullptr;
  const CallExpr *Only = Run && F->hasBody() ? soleCall(F->getBody()) : nullptr;
  if (!Only || !Only->getCallee()->getType()->isBlockPointerType())
    return nullptr;
  const auto *Given = dyn_cast<UnaryOperator>(Only->getCallee()->IgnoreParenImpCasts());
  const auto *Ref = Given && Given->getOpcode() == UO_Deref
                        ? dyn_cast<DeclRefExpr>(Given->getSubExpr()->IgnoreParenImpCasts())
                        : nullptr;
  return Ref && isa<ParmVarDecl>(Ref->getDecl()) ? Run : nullptr;
}

bool isOfCleanup(const CallExpr *Setjmp) {
  const Expr *Buffer = Setjmp->getNumArgs() ? Setjmp->getArg(0)->IgnoreParenCasts() : nullptr;
  while (Buffer) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Buffer))
      return Ref->getDecl()->getName() == "__cancel_buf" && Ref->getExprLoc().isMacroID();
    if (const auto *Member = dyn_cast<MemberExpr>(Buffer))
      Buffer = Member->getBase()->IgnoreParenCasts();
    else if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Buffer))
      Buffer = Element->getBase()->IgnoreParenCasts();
    else
      return false;
  }
  return false;
}

} // namespace relock
