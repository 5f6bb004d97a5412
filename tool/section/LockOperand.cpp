// SPDX-License-Identifier: MIT
#include "section/LockOperand.h"

#include "index/Operand.h"
#include "section/Waits.h"

#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class OperandCheck {
public:
  OperandCheck(const LockOperation &Lock, const SectionText &Text, const std::vector<Mention> &All,
               bool Skips, const Source &S, Section &Found)
      : Lock(Lock), Text(Text), All(All), Skips(Skips), S(S), Found(Found) {}

  void run() {
    std::vector<const CallExpr *> Calls = Text.Unlocks;
    Calls.insert(Calls.begin(), Lock.Call);
    for (const Gap &G : Text.Gaps)
      Calls.push_back(G.Lock);
    SmallPtrSet<const ValueDecl *, 4> Loaded, OfCondition;
    if (Lock.Wraps)
      Found.Loads = Lock.Wraps->Loads;
    Found.Relocks = !Text.Gaps.empty();
    bool Unknown = Lock.Wraps && Lock.Wraps->LoadsUnknown, UnknownCondition = false;
    if (!Lock.Scope) // else it is evaluated once
      collectLoaded(Lock.Call, Loaded, Unknown);
    else if (!Text.Waits.empty())
      collectLoaded(Lock.Scope->getInit(), Loaded, Unknown);
    if (Lock.Guard)
      collectLoaded(Lock.Guard, OfCondition, UnknownCondition);
    if (Unknown || UnknownCondition)
      changes(UnknownCondition, "the lock operand reads memory that may change",
              Lock.Call->getExprLoc());
    SmallVector<const Expr *, 4> Operands;
    for (const CallExpr *Call : Calls)
      append_range(Operands, Call->arguments());
    for (size_t I = 0; I < Text.Waits.size(); ++I)
      if (const Expr *Mutex = waitMutex(Text, I))
        Operands.push_back(Mutex);
    for (const Expr *Argument : Operands)
      if (!callIn(Argument) && Argument->HasSideEffects(S.Context))
        against("lock-expression", "the operand has an effect of its own", Argument->getExprLoc());
    for (const Expr *Argument : Operands)
      if (const CallExpr *Inner = callIn(Argument))
        against("lock-expression",
                "the lock operand calls a function, at the lock and at "
                "the unlock",
                Inner->getExprLoc());
    Loads = Found.Loads;
    for (const ValueDecl *D : Loaded)
      Loads.push_back(operandLoad(D, S));
    for (const ValueDecl *D : OfCondition)
      Loads.push_back(operandLoad(D, S)), Loads.back().OfCondition = true;
    for (const Stmt *Statement : Text.Statements)
      checkStores(Statement);
    recordLoads(Loaded, false);
    recordLoads(OfCondition, true);
    sort(Found.Loads, [](const OperandLoad &A, const OperandLoad &B) {
      return std::tie(A.Node, A.OfCondition) < std::tie(B.Node, B.OfCondition);
    });
    if (Skips && !Found.Loads.empty())
      against("preprocessor",
              "text that is not compiled here may change what the lock operand reads",
              Text.Lock->getExprLoc());
  }

private:
  const LockOperation &Lock;
  const SectionText &Text;
  const std::vector<Mention> &All;
  const bool Skips;
  const Source &S;
  Section &Found;
  std::vector<OperandLoad> Loads;

  void against(StringRef Code, const Twine &Message, SourceLocation At) {
    Found.Against.push_back({Code.str(), Message.str(), S.shown(At)});
  }

  // A thread that has no other lock of the class unlocks the one that it took, whatever the operand
  // reads. That says nothing of the condition.
  void changes(bool OfCondition, const Twine &Message, SourceLocation At) {
    auto &To = OfCondition ? Found.Against : Found.OperandChanges;
    To.push_back({"lock-expression", Message.str(), S.shown(At)});
  }

  static const CallExpr *callIn(const Stmt *E) {
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return Call;
    for (const Stmt *Child : E->children())
      if (const CallExpr *Found = Child ? callIn(Child) : nullptr)
        return Found;
    return nullptr;
  }

  void recordLoads(const SmallPtrSetImpl<const ValueDecl *> &Loaded, bool OfCondition) {
    for (const ValueDecl *D : Loaded) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!V || V->hasGlobalStorage()) {
        Found.Loads.push_back(operandLoad(D, S));
        Found.Loads.back().OfCondition = OfCondition;
      } else if ((!Found.Calls.empty() || Found.StoresThroughPointer) &&
                 any_of(All, [&](const Mention &M) {
                   return M.Variable == V && M.How == Mention::AddressTaken;
                 })) {
        changes(OfCondition, "'" + V->getName() + "' in the lock operand may change in a callee",
                V->getLocation());
      }
    }
  }

  void checkStores(const Stmt *Statement) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    const Expr *Changed = nullptr;
    if (const auto *Binary = dyn_cast<BinaryOperator>(Statement);
        Binary && Binary->isAssignmentOp())
      Changed = Binary->getLHS();
    if (const auto *Unary = dyn_cast<UnaryOperator>(Statement);
        Unary && (Unary->isIncrementDecrementOp() || Unary->getOpcode() == UO_AddrOf))
      Changed = Unary->getSubExpr();
    const ValueDecl *D = Changed ? storedDeclaration(Changed) : nullptr;
    // What has other names, a member of a union, is in no operand that counts as known.
    Found.StoresThroughPointer |= Changed && !D;
    QualType Whole = Changed && !isa<UnaryOperator>(Statement) ? Changed->getType() : QualType();
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Statement); // handed on as bytes
        Cast && Cast->getCastKind() == CK_BitCast && Cast->getType()->isVoidPointerType() &&
        !Cast->getType()->getPointeeType().isConstQualified())
      Whole = Cast->getSubExpr()->getType()->getPointeeType();
    for (const OperandLoad &Load : Loads)
      if ((D && nodeFor(D, S) == Load.Node) || isPartOf(Load.Record, Whole))
        changes(Load.OfCondition, "'" + Load.Name + "' in the lock operand changes in the section",
                Statement->getBeginLoc());
    for (const Stmt *Child : Statement->children())
      checkStores(Child);
  }

  // True if the struct with that node is an object of the type, or a part of one.
  bool isPartOf(const std::string &Record, QualType T) const {
    if (T.isNull() || Record.empty())
      return false;
    T = S.Context.getBaseElementType(T);
    const auto *Type = T->getAs<RecordType>();
    return Type && (recordNode(T, S) == Record ||
                    any_of(Type->getDecl()->fields(), [&](const FieldDecl *Field) {
                      return isPartOf(Record, Field->getType());
                    }));
  }
};

} // namespace

void checkLockOperand(const LockOperation &Lock, const SectionText &Text,
                      const std::vector<Mention> &All, bool Skips, const Source &S,
                      Section &Found) {
  OperandCheck(Lock, Text, All, Skips, S, Found).run();
}

} // namespace relock
