// SPDX-License-Identifier: MIT
#include "index/Wrappers.h"

#include "index/LocalNames.h"
#include "index/LockApi.h"
#include "index/Operand.h"
#include "index/Resolve.h"
#include "index/Tested.h"
#include "index/WrapperBody.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <cerrno>

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

class WrapperFinder {
public:
  WrapperFinder(const LockOperands &Operands, const Source &S) : Operands(Operands), S(S) {}

  std::optional<Wrapper> find(const FunctionDecl *F, const Site &Only,
                              const std::vector<relock::Call> &Calls) {
    Wrapper W;
    W.Kind = Only.Kind;
    bool Waits = W.Kind == Operation::Wait;
    if (W.Kind != Operation::Lock && W.Kind != Operation::Unlock && !Waits)
      return std::nullopt;
    const auto *Body = dyn_cast<CompoundStmt>(F->getBody());
    const CallExpr *Call = operationIn(Body);
    if (!Call)
      return std::nullopt;
    int64_t Returns = 0;
    W.Pure = onlyOperationOfBody(Body, Call, S.Context, 0, &W.Aborts, Waits ? nullptr : &Returns) &&
             isInt<32>(Returns);
    W.Result = W.Pure ? Returns : 0;
    W.Perhaps = !W.Pure && !alwaysCalls(Body, Call);
    auto [Operand, Node] = Operands.lookup(Call);
    if (untypedVariable(Operand, S))
      return std::nullopt; // callers cannot write the operand
    W.At = S.shown(Call->getExprLoc());
    W.Node = Node;
    W.Tests = W.Pure && !soleOperation(Body, Call);
    LocalNames Names(F, Call, W.Pure, S);
    if (Waits && !onlyWaits(Body, Call, Names, W))
      return std::nullopt;
    if (!followOperand(Operand, F, Names, W))
      return std::nullopt;
    describePlace(F, W);
    W.Loads = loadsOf(Names.expand(Operand), W.LoadsUnknown);
    const Expr *Plain = withoutIdleCasts(Operand)->IgnoreParenImpCasts();
    if (!Waits && !W.Computed && !isa<CStyleCastExpr>(Plain))
      W.Body = wrapperBody(F, {Call, W.Kind, Plain, W.Pure, W.Tests}, Calls, W.Loads, S);
    if (W.Body)
      describeCompanion(F, S, W);
    if (W.Body && W.Kind == Operation::Lock)
      W.Body->Lock = S.expressionText(Plain);
    W.Guarded =
        !W.Pure && mayLeaveOut(F, Call, W.Body, W.Perhaps, [&](int P) { return P == W.Parameter; });
    return W;
  }

  // A cleanup handler, for instance: `void release(void *lock) { pthread_mutex_unlock(lock); }`.
  std::pair<std::string, std::string> releasesArgument(const FunctionDecl *F, const Site &Only) {
    const auto *Body = dyn_cast<CompoundStmt>(F->getBody());
    const CallExpr *Call = Body ? operationIn(Body) : nullptr;
    if (Only.Kind != Operation::Unlock || F->getNumParams() != 1 || !Call ||
        !onlyOperationOfBody(Body, Call, S.Context) || !soleOperation(Body, Call) ||
        !F->getParamDecl(0)->getType()->isVoidPointerType())
      return {};
    LocalNames Names(F, Call, true, S);
    const ParmVarDecl *Argument = F->getParamDecl(0);
    auto IsArgument = [&](const Expr *E) {
      const auto *Ref = dyn_cast<DeclRefExpr>(Names.expand(E)->IgnoreParenCasts());
      return Ref && Ref->getDecl() == Argument;
    };
    const Expr *Operand = Names.expand(Operands.lookup(Call).first)->IgnoreParenCasts();
    if (IsArgument(Operand))
      return {"$", ""};
    // `struct queue *q = argument; pthread_mutex_unlock(&q->part.mutex);`
    const auto *Address = dyn_cast<UnaryOperator>(Operand);
    const Expr *E = Address && Address->getOpcode() == UO_AddrOf
                        ? Address->getSubExpr()->IgnoreParens()
                        : nullptr;
    std::string Way;
    for (const auto *Member = dyn_cast_or_null<MemberExpr>(E); Member;
         Member = dyn_cast<MemberExpr>(Member->getBase()->IgnoreParens())) {
      Way = ((Member->isArrow() ? "->" : ".") + Member->getMemberDecl()->getName()).str() + Way;
      if (Member->isArrow()) {
        const QualType Of = Member->getBase()->getType()->getPointeeType();
        return IsArgument(Member->getBase()) ? std::pair("&$" + Way, recordNode(Of, S))
                                             : std::pair<std::string, std::string>();
      }
    }
    return {};
  }

  std::optional<Relay> findRelay(const FunctionDecl *F, const std::vector<relock::Call> &CallsOfF) {
    const auto *Body = cast<CompoundStmt>(F->getBody());
    std::vector<const CallExpr *> Calls;
    collectCalls(Body, Calls);
    Relay R;
    const CallExpr *Call = libraryOperation(Body);
    auto IsAll = [&] {
      R.Aborts = false;
      return Call && onlyOperationOfBody(Body, Call, S.Context, 0, &R.Aborts) &&
             none_of(Call->arguments(),
                     [&](const Expr *Argument) { return Argument->HasSideEffects(S.Context); });
    };
    const CallExpr *OfLibrary = Call;
    R.Pure = IsAll();
    if (!R.Pure && !Calls.empty()) {
      Call = Calls.front();
      R.Pure = IsAll();
    }
    if (!R.Pure) {
      erase_if(Calls, [&](const CallExpr *Other) {
        const FunctionDecl *Callee = Other->getDirectCallee();
        return !Callee->getIdentifier() || !looksLikeOperation(Callee->getName()) ||
               Callee->getCanonicalDecl() == F->getCanonicalDecl();
      });
      if (!all_of(Calls, isOfReadersWriter))
        erase_if(Calls, isOfReadersWriter);
      const bool Either = Calls.size() == 2 && choiceOf(Body, Calls.front());
      Call = Calls.size() == 1 || Either ? Calls.front() : Calls.empty() ? OfLibrary : nullptr;
      if (!Call)
        return std::nullopt;
    }
    R.Perhaps = !R.Pure && !alwaysCalls(Body, Call);
    R.Tests = R.Pure && !soleOperation(Body, Call);
    R.Value = statementOf(Body, Call);
    if (std::optional<Choice> Made = choiceOf(Body, Call)) {
      R.Value = Made->Value;
      R.Perhaps = false;
      R.Else = nodeFor(Made->Other->getDirectCallee(), S);
    }
    // `int r = lock(l); assert(r == 0); return 0;` does not return where it fails; where nothing
    // tests, callers count as holding the lock.
    if (R.Value == Relay::Used && R.Pure && (F->getReturnType()->isVoidType() || R.Aborts))
      R.Value = Relay::Ignored;
    else if (R.Value == Relay::Used && R.Pure && !R.Tests)
      R.Value = Relay::Returned;
    R.Callee = nodeFor(Call->getDirectCallee(), S);
    LocalNames Names(F, Call, R.Pure, S);
    for (const Expr *Given : Call->arguments()) {
      const Expr *Argument = Names.expand(Given);
      RelayedArgument Passed;
      if (std::optional<WrapperOperand> Operand = wrapperOperand(Argument)) {
        Passed.Operand = *Operand;
        Passed.Changed =
            Operand->Parameter >= 0 && mayChange(Body, F->getParamDecl(Operand->Parameter));
        Passed.Loads = loadsOf(Argument, Passed.LoadsUnknown);
        QualType Behind = Argument->IgnoreParenImpCasts()->getType()->getPointeeType();
        Passed.Opaque = !Behind.isNull() && Behind->isIncompleteType();
        Passed.Part = lockPart(Argument, true, S);
      } else
        Passed.Key = givenKey(Given, F);
      Passed.Text = S.expressionText(Given->IgnoreParenImpCasts());
      R.Arguments.push_back(std::move(Passed));
    }
    describePlace(F, R);
    const SmallVector<const Expr *> Given(Call->arguments());
    std::vector<OperandLoad> Loads;
    R.AsLock =
        wrapperBody(F, {Call, Operation::Lock, Given, R.Pure, R.Tests}, CallsOfF, R.Loads, S);
    R.AsUnlock =
        wrapperBody(F, {Call, Operation::Unlock, Given, R.Pure, R.Tests}, CallsOfF, Loads, S);
    auto Finds = [&](int P) {
      return any_of(R.Arguments,
                    [&](const RelayedArgument &A) { return A.Operand.Parameter == P; });
    };
    R.Guarded = !R.Pure && mayLeaveOut(F, Call, R.AsLock ? R.AsLock : R.AsUnlock, R.Perhaps, Finds);
    if (R.AsLock || R.AsUnlock)
      describeCompanion(F, S, R);
    return R;
  }

  std::optional<Forward> findForward(const FunctionDecl *F) {
    const auto *Body = dyn_cast<CompoundStmt>(F->getBody());
    const CallExpr *Call = Body ? operationIn(Body) : nullptr;
    Forward Found;
    if (!Call) {
      std::vector<const CallExpr *> Calls;
      collectCalls(F->getBody(), Calls);
      if (Calls.size() != 1)
        return std::nullopt;
      Call = Calls.front();
      Found.Callee = nodeFor(Call->getDirectCallee(), S);
    } else {
      Found.Posix = Call->getDirectCallee()->getName();
    }
    if (F->isVariadic() || !onlyOperationOfBody(Body, Call, S.Context))
      return std::nullopt;
    bool Sole = soleOperation(Body, Call);
    std::optional<LockFunction> Api = lockFunction(Found.Posix);
    Found.Tests = !Sole;
    // Only of these are the failures that a test looks for none of the program's own.
    bool Fails = Api && (acquires(Api->Kind)
                             ? Api->Kind != Operation::Lock
                             : Api->Kind == Operation::Wait || Api->Kind == Operation::Unsupported);
    if (Found.Tests && (Fails || !Api))
      return std::nullopt;
    unsigned Given = Call->getNumArgs();
    if (Api && (Api->Kind == Operation::Init || Api->Kind == Operation::CondInit)) {
      // What attributes say is part of the class.
      if (Given != 2 ||
          !Call->getArg(1)->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
        return std::nullopt;
      Found.NoAttributes = true;
      --Given;
    }
    if (Given != F->getNumParams())
      return std::nullopt;
    for (unsigned I = 0; I < Given; ++I) {
      const auto *Ref =
          dyn_cast<DeclRefExpr>(withoutIdleCasts(Call->getArg(I))->IgnoreParenImpCasts());
      if (!Ref || Ref->getDecl() != F->getParamDecl(I) ||
          syncType(Ref->getType()) != syncType(Call->getArg(I)->getType()))
        return std::nullopt; // also: it is handed on as a `void *`
    }
    describePlace(F, Found);
    return Found;
  }

private:
  const LockOperands &Operands;
  const Source &S;

  void describePlace(const FunctionDecl *F, WrapperPlace &Place) {
    Place.Exported = F->hasExternalFormalLinkage() && !F->isInlined();
    Place.Declared = F->getPreviousDecl() != nullptr;
    Place.Common = F->isInlined() && !S.SM.isInMainFile(S.SM.getExpansionLoc(F->getLocation()));
    if (std::optional<Source::Range> Range = S.range(F->getSourceRange())) {
      Place.Begin = S.position(Range->File, Range->Begin);
      Place.End = Place.Behind = S.position(Range->File, Range->End);
    }
  }

  std::vector<OperandLoad> loadsOf(const Expr *Operand, bool &Unknown) {
    SmallPtrSet<const ValueDecl *, 4> Loaded;
    collectLoaded(Operand, Loaded, Unknown);
    std::vector<OperandLoad> Loads;
    for (const ValueDecl *D : Loaded)
      if (!isa<ParmVarDecl>(D))
        Loads.push_back(operandLoad(D, S));
    sort(Loads, [](const OperandLoad &A, const OperandLoad &B) { return A.Node < B.Node; });
    return Loads;
  }

  // The calls of functions that no library declares.
  void collectCalls(const Stmt *Statement, std::vector<const CallExpr *> &Calls) const {
    if (const auto *Call = dyn_cast<CallExpr>(Statement)) {
      const FunctionDecl *Callee = Call->getDirectCallee();
      if (Callee && !Callee->getBuiltinID() && !S.inSystemHeader(Callee->getLocation()))
        Calls.push_back(Call);
    }
    for (const Stmt *Child : Statement->children())
      if (Child)
        collectCalls(Child, Calls);
  }

  // The first call of a library's lock function below a statement: of no mutex, as its name tells.
  const CallExpr *libraryOperation(const Stmt *Statement) const {
    const auto *Call = dyn_cast<CallExpr>(Statement);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (Callee && Callee->getIdentifier() && S.inSystemHeader(Callee->getLocation()) &&
        looksLikeOperation(Callee->getName()))
      return Call;
    for (const Stmt *Child : Statement->children())
      if (const CallExpr *Found = Child ? libraryOperation(Child) : nullptr)
        return Found;
    return nullptr;
  }

  // `sys_rwlock_rdlock(&o->rwlock)`: a readers-writer lock is handed on, and no mutex.
  static bool isOfReadersWriter(const CallExpr *Call) {
    bool Mutex = false, ReadersWriter = false;
    for (const Expr *Argument : Call->arguments())
      if (QualType Behind = Argument->IgnoreParenImpCasts()->getType()->getPointeeType();
          !Behind.isNull())
        collectLocks(Behind, Mutex, ReadersWriter);
    return ReadersWriter && !Mutex;
  }

  // Which locks an object of that type has in it.
  static void collectLocks(QualType T, bool &Mutex, bool &ReadersWriter) {
    Mutex |= syncObject(T) == SyncType::Mutex;
    const auto *Name = T->getAs<TypedefType>();
    ReadersWriter |= Name && Name->getDecl()->getName() == "pthread_rwlock_t";
    if (const RecordDecl *Record = T->getAsRecordDecl(); Record && Record->getDefinition())
      for (const FieldDecl *Field : Record->getDefinition()->fields())
        collectLocks(Field->getType(), Mutex, ReadersWriter);
  }

  // How callers name the wrapper's operand: from one variable, or through a companion.
  bool followOperand(const Expr *Written, const FunctionDecl *F, LocalNames &Names, Wrapper &W) {
    Written = withoutIdleCasts(Written);
    const Expr *Operand = withoutIdleCasts(Names.expand(Written));
    const VarDecl *Base = operandBase(Operand);
    const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(Base);
    bool OneBase = Base && (Parameter || Base->hasGlobalStorage()) && !Base->isStaticLocal();
    bool Simple = OneBase && simpleOperand(Operand);
    if (!Simple && W.Pure && W.Kind != Operation::Wait && isComputed(Operand, F, S))
      if (std::optional<std::string> Text = Names.text(Written)) {
        W.Computed = true;
        W.Expression = *Text;
        W.Key = exactKey(Operand, F, S);
        describeComputed(Operand, F, S, W);
        return true;
      }
    if (!OneBase)
      return W.Kind != Operation::Wait && isGiven(Operand, F, W);
    if (Parameter)
      W.Parameter = Parameter->getFunctionScopeIndex();
    else
      W.Variable = nodeFor(Base, S);
    W.Pure &= Simple; // else it cannot be named at a caller
    W.Expression = W.Key = lockKey(Operand, Parameter);
    return true;
  }

  // `pthread_mutex_lock(mutex_of(group, id));`: neither callers nor a companion can repeat that,
  // but it is the same lock that an unlock wrapper finds in the same way.
  bool isGiven(const Expr *Operand, const FunctionDecl *F, Wrapper &W) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Operand->IgnoreParenCasts());
    const auto *Local = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Local && Local->hasLocalStorage())
      if (const Expr *Value = soleValue(Local, F->getBody()))
        Operand = Value;
    W.Key = givenKey(Operand, F);
    W.Computed = !W.Key.empty();
    if (!W.Computed)
      return false;
    W.Pure = false;
    W.Expression = S.expressionText(Operand);
    describeComputed(Operand, F, S, W);
    return true;
  }

  // The way in which a function finds a lock from its parameters, in canonical form; through
  // variables which have only one value there. Empty: it may be found otherwise.
  std::string givenKey(const Expr *E, const FunctionDecl *F, unsigned Depth = 0) const {
    constexpr unsigned Deepest = 4;
    std::string Key = exactKey(E, F, S);
    std::vector<const DeclRefExpr *> Locals;
    if (Depth == Deepest || !namesParametersOr(E, F, Locals))
      return "";
    for (const DeclRefExpr *Ref : Locals) {
      const Expr *Value = soleValue(cast<VarDecl>(Ref->getDecl()), F->getBody());
      const std::string Name = exactKey(Ref, F, S);
      const std::string Found = Value ? givenKey(Value, F, Depth + 1) : "";
      if (Found.empty())
        return "";
      for (size_t At = 0; (At = Key.find(Name, At)) != std::string::npos; At += Found.size())
        Key.replace(At, Name.size(), Found);
    }
    return Key;
  }

  // True if an expression names nothing but functions, parameters that keep their values, and
  // those local variables.
  static bool namesParametersOr(const Stmt *E, const FunctionDecl *F,
                                std::vector<const DeclRefExpr *> &Locals) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (V && !V->hasLocalStorage())
        return false;
      if (V && isa<ParmVarDecl>(V) && mayChange(F->getBody(), V))
        return false;
      if (V && !isa<ParmVarDecl>(V))
        Locals.push_back(Ref);
    }
    return !isa<StmtExpr>(E) && all_of(E->children(), [&](const Stmt *Child) {
      return !Child || namesParametersOr(Child, F, Locals);
    });
  }

  // What a local variable is: its initialiser, or what is assigned to it once.
  static const Expr *soleValue(const VarDecl *V, const Stmt *Body) {
    switch (changesOf(V, Body)) {
    case 0:
      return V->getInit();
    case 1:
      return V->hasInit() ? nullptr : assigned(V, Body);
    default:
      return nullptr;
    }
  }

  static const Expr *assigned(const VarDecl *V, const Stmt *Statement) {
    const auto *Assignment = dyn_cast<BinaryOperator>(Statement);
    if (Assignment && Assignment->getOpcode() == BO_Assign)
      if (const auto *Ref = dyn_cast<DeclRefExpr>(Assignment->getLHS()->IgnoreParens());
          Ref && Ref->getDecl() == V)
        return Assignment->getRHS();
    for (const Stmt *Child : Statement->children())
      if (const Expr *Found = Child ? assigned(V, Child) : nullptr)
        return Found;
    return nullptr;
  }

  // True if the body tests nothing.
  bool soleOperation(const CompoundStmt *Body, const CallExpr *Call) const {
    const Stmt *Only = nullptr;
    for (const Stmt *Statement : Body->body()) {
      const auto *E = dyn_cast<Expr>(Statement); // `(void)unused;`
      if (isa<NullStmt>(Statement) || (isa<DeclStmt>(Statement) && !operationIn(Statement)) ||
          (E && !E->HasSideEffects(S.Context)))
        continue;
      if (Only)
        return false;
      const auto *Return = dyn_cast<ReturnStmt>(Statement);
      Only = Return ? Return->getRetValue() : Statement;
    }
    return soleCall(Only) == Call;
  }

  // True if the function, when it returns at its end, has made the call, whatever it does besides.
  bool alwaysCalls(const CompoundStmt *Body, const CallExpr *Call) const {
    return any_of(Body->body(), [&](const Stmt *Statement) {
      return alwaysEvaluates(Statement, Call) || onlyOperation(Statement, Call, S.Context);
    });
  }

  // What becomes of the call's value, where the call is a statement of the body, or what it returns
  // in the end, and nothing before it leaves.
  static Relay::Result statementOf(const CompoundStmt *Body, const CallExpr *Call) {
    auto Is = [&](const Stmt *Statement) {
      const auto *Value = dyn_cast_or_null<Expr>(Statement);
      return Value && Value->IgnoreParenCasts() == Call;
    };
    for (const Stmt *Statement : Body->body()) {
      if (Is(Statement))
        return Relay::Ignored;
      if (const auto *Return = dyn_cast<ReturnStmt>(Statement); Return && Is(Return->getRetValue()))
        return Relay::Returned;
      if (leaves(Statement))
        return Relay::Used;
    }
    return Relay::Used;
  }

  // `if (shared) rdlock(l); else wrlock(l);`, or with `return`.
  struct Choice {
    const CallExpr *Other;
    Relay::Result Value;
  };

  // Where the body makes either that call or another one with the same arguments.
  static std::optional<Choice> choiceOf(const CompoundStmt *Body, const CallExpr *Call) {
    auto Begin = Body->body_begin(), End = Body->body_end();
    for (auto At = Begin; At != End; ++At) {
      const auto *If = dyn_cast<IfStmt>(*At);
      const Stmt *Else = If ? If->getElse() : nullptr;
      if (If && !Else && std::next(At) != End)
        Else = *std::next(At);
      const auto [First, Returned] = callOf(If ? If->getThen() : nullptr);
      const auto [Second, Too] = callOf(Else);
      if (First && Second && (First == Call || Second == Call))
        return Returned == Too && (If->getElse() || Returned) && haveSameArguments(First, Second)
                   ? std::optional(Choice{First == Call ? Second : First,
                                          Returned ? Relay::Returned : Relay::Ignored})
                   : std::nullopt;
      if (leaves(*At))
        break;
    }
    return std::nullopt;
  }

  // The call that a statement is, and whether it returns the result.
  static std::pair<const CallExpr *, bool> callOf(const Stmt *Statement) {
    if (const auto *Block = dyn_cast_or_null<CompoundStmt>(Statement); Block && Block->size() == 1)
      Statement = Block->body_front();
    const auto *Return = dyn_cast_or_null<ReturnStmt>(Statement);
    return {soleCall(Return ? Return->getRetValue() : Statement), Return};
  }

  static bool haveSameArguments(const CallExpr *A, const CallExpr *B) {
    if (!A->getDirectCallee() || !B->getDirectCallee() || A->getNumArgs() != B->getNumArgs())
      return false;
    for (unsigned I = 0; I < A->getNumArgs(); ++I)
      if (lockKey(A->getArg(I)) != lockKey(B->getArg(I)))
        return false;
    return true;
  }

  // True if the function may return without the call, but not only where the parameter is null from
  // which the lock is reached: who unlocks has locked then, which no null pointer would have
  // survived. Finds: whether the lock is reached from the parameter of that number.
  bool mayLeaveOut(const FunctionDecl *F, const CallExpr *Call,
                   const std::optional<WrapperBody> &Body, bool Perhaps,
                   function_ref<bool(int)> Finds) const {
    auto IsNull = [&](const WrapperBody::Guard &G) {
      return any_of(F->parameters(), [&](const ParmVarDecl *P) {
        return P->getType()->isPointerType() && Finds(P->getFunctionScopeIndex()) &&
               G.Key == ("!" + P->getName()).str();
      });
    };
    if (Body)
      return !all_of(Body->Guards, IsNull);
    for (const Stmt *Statement : cast<CompoundStmt>(F->getBody())->body()) {
      if (alwaysEvaluates(Statement, Call))
        break;
      const auto *If = dyn_cast<IfStmt>(Statement);
      Perhaps |= leaves(Statement) && !(If && namesOnly(If->getCond(), Finds));
    }
    return Perhaps;
  }

  // True if a condition only reads pointers that are such parameters.
  static bool namesOnly(const Stmt *E, function_ref<bool(int)> Finds) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *P = Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
    return (!Ref || (P && P->getType()->isPointerType() && Finds(P->getFunctionScopeIndex()))) &&
           !isa<MemberExpr, ArraySubscriptExpr, CallExpr>(E) &&
           !(isa<UnaryOperator>(E) && cast<UnaryOperator>(E)->getOpcode() == UO_Deref) &&
           all_of(E->children(),
                  [&](const Stmt *Child) { return !Child || namesOnly(Child, Finds); });
  }

  static bool leaves(const Stmt *Statement) {
    return isa<ReturnStmt, GotoStmt, IndirectGotoStmt, LabelStmt>(Statement) ||
           any_of(Statement->children(), [](const Stmt *Child) { return Child && leaves(Child); });
  }

  static bool alwaysEvaluates(const Stmt *Statement, const CallExpr *Call) {
    if (!Statement || Statement == Call)
      return Statement;
    const auto *Binary = dyn_cast<BinaryOperator>(Statement);
    if (Binary && Binary->isLogicalOp())
      return alwaysEvaluates(Binary->getLHS(), Call);
    if (Binary && Binary->isCommaOp())
      return false; // two operations written as one, rather than a wrapper
    if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(Statement))
      return alwaysEvaluates(Choice->getCond(), Call);
    if (const auto *If = dyn_cast<IfStmt>(Statement))
      return alwaysEvaluates(If->getCond(), Call);
    if (!isa<Expr>(Statement) && !isa<DeclStmt>(Statement) && !isa<ReturnStmt>(Statement))
      return soleCall(Statement) == Call;
    return any_of(Statement->children(),
                  [&](const Stmt *Child) { return alwaysEvaluates(Child, Call); });
  }

  // True if the function does nothing but to wait, and callers can name what it waits with. A timed
  // wait can end in time or not: its callers learn which, or it does not matter to them.
  bool onlyWaits(const CompoundStmt *Body, const CallExpr *Call, LocalNames &Names, Wrapper &W) {
    bool Timed = Call->getNumArgs() > 2;
    if (!W.Pure || Call->getNumArgs() > 3 ||
        (Timed && !onlyOperationOfBody(Body, Call, S.Context, ETIMEDOUT)))
      return false;
    W.Condition = wrapperOperand(Names.expand(Call->getArg(0)));
    if (Timed)
      W.Deadline = wrapperOperand(Names.expand(Call->getArg(2)));
    return W.Condition && bool(W.Deadline) == Timed;
  }

  std::optional<WrapperOperand> wrapperOperand(const Expr *E) {
    const VarDecl *Base = operandBase(E);
    const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(Base);
    if (!Base || (!Parameter && !Base->hasGlobalStorage()) || Base->isStaticLocal() ||
        !simpleOperand(E))
      return std::nullopt;
    WrapperOperand Operand;
    Operand.Expression = lockKey(E, Parameter);
    if (Parameter)
      Operand.Parameter = Parameter->getFunctionScopeIndex();
    else
      Operand.Variable = nodeFor(Base, S);
    return Operand;
  }

  // The lock operation below a statement.
  const CallExpr *operationIn(const Stmt *Statement) const {
    if (const auto *Call = dyn_cast<CallExpr>(Statement); Call && Operands.contains(Call))
      return Call;
    for (const Stmt *Child : Statement->children())
      if (const CallExpr *Found = Child ? operationIn(Child) : nullptr)
        return Found;
    return nullptr;
  }

  // The variable that a chain of members, subscripts and dereferences starts from.
  const VarDecl *operandBase(const Expr *E) {
    E = E->IgnoreParenCasts();
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return operandBase(Unary->getSubExpr());
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
      return operandBase(Subscript->getBase());
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return operandBase(Member->getBase());
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  }

  // No other variable, call or subscript: its canonical form is C that means the same at a caller.
  bool simpleOperand(const Expr *E) {
    E = E->IgnoreParens();
    while (const auto *Cast = dyn_cast<ImplicitCastExpr>(E)) {
      if (Cast->getCastKind() == CK_BitCast)
        return false; // the caller's text would have another type
      E = Cast->getSubExpr()->IgnoreParens();
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return (Unary->getOpcode() == UO_AddrOf || Unary->getOpcode() == UO_Deref) &&
             simpleOperand(Unary->getSubExpr());
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return simpleOperand(Member->getBase());
    return isa<DeclRefExpr>(E);
  }
};

} // namespace

std::optional<Wrapper> findWrapper(const FunctionDecl *F, const Site &Only,
                                   const LockOperands &Operands, const std::vector<Call> &Calls,
                                   const Source &S) {
  return WrapperFinder(Operands, S).find(F, Only, Calls);
}

std::pair<std::string, std::string> releasesArgument(const FunctionDecl *F, const Site &Only,
                                                     const LockOperands &Operands,
                                                     const Source &S) {
  return WrapperFinder(Operands, S).releasesArgument(F, Only);
}

std::optional<Forward> findForward(const FunctionDecl *F, const LockOperands &Operands,
                                   const Source &S) {
  return WrapperFinder(Operands, S).findForward(F);
}

std::optional<Relay> findRelay(const FunctionDecl *F, const LockOperands &Operands,
                               const std::vector<Call> &Calls, const Source &S) {
  return WrapperFinder(Operands, S).findRelay(F, Calls);
}

} // namespace relock
