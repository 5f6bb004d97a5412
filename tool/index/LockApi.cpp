// SPDX-License-Identifier: MIT
#include "index/LockApi.h"

#include "index/Cleanup.h"
#include "index/Constants.h"
#include "index/FunctionPointers.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using namespace llvm;

namespace relock {

std::optional<LockFunction> lockFunction(StringRef Name) {
  if (!Name.starts_with("pthread_"))
    return std::nullopt;
#define OPERATION(NAME, KIND, MUTEX, COMPANION)                                                    \
  if (Name == #NAME)                                                                               \
    return LockFunction{Operation::KIND, MUTEX, COMPANION};
#include "index/LockApi.def"
  return std::nullopt;
}

std::optional<OtherLock> otherLock(StringRef Name) {
  using Result = std::optional<OtherLock>;
  auto Of = [](StringRef Type, Operation Kind, unsigned Argument = 0) {
    return Result({Kind, Type.str(), Argument});
  };
  StringRef Spin = "pthread_spinlock_t", ReadWrite = "pthread_rwlock_t", C11 = "mtx_t";
  StringRef Converted = ConvertedMutex;
  OtherLock Executed = {.Kind = Operation::Lock, .Type = Converted.str(), .Executes = true};
  return StringSwitch<Result>(Name)
      .Case("pthread_spin_lock", Of(Spin, Operation::Lock))
      .Case("pthread_spin_trylock", Of(Spin, Operation::TryLock))
      .Case("pthread_spin_unlock", Of(Spin, Operation::Unlock))
      .Cases("pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_timedrdlock",
             "pthread_rwlock_timedwrlock", "pthread_rwlock_clockrdlock",
             "pthread_rwlock_clockwrlock", Of(ReadWrite, Operation::Lock))
      .Cases("pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
             Of(ReadWrite, Operation::TryLock))
      .Case("pthread_rwlock_unlock", Of(ReadWrite, Operation::Unlock))
      .Case("mtx_lock", Of(C11, Operation::Lock))
      .Case("mtx_trylock", Of(C11, Operation::TryLock))
      .Case("mtx_timedlock", Of(C11, Operation::TimedLock))
      .Case("mtx_unlock", Of(C11, Operation::Unlock))
      .Cases("cnd_wait", "cnd_timedwait", Of(C11, Operation::Wait, 1))
      .Case("relock_mutex_lock", Of(Converted, Operation::Lock))
      .Case("relock_mutex_trylock", Of(Converted, Operation::TryLock))
      .Cases("relock_mutex_timedlock", "relock_mutex_clocklock",
             Of(Converted, Operation::TimedLock))
      .Case("relock_mutex_unlock", Of(Converted, Operation::Unlock))
      .Cases("relock_cond_wait", "relock_cond_timedwait", "relock_cond_clockwait",
             Of(Converted, Operation::Wait, 1))
      .Cases("relock_execute", "relock_execute_any_thread", "relock_execute_copy",
             "relock_execute_copy_any_thread", "relock_execute_resumable",
             "relock_execute_resumable_any_thread", "relock_execute_resumable_from",
             "relock_execute_resumable_from_any_thread", Executed)
      .Default(std::nullopt);
}

bool looksLikeOperation(StringRef Name) {
  static constexpr const char *Words[] = {"lock", "enter", "leave", "exit", "acquire", "release"};
  return any_of(Words, [&](StringRef Word) { return Name.contains_insensitive(Word); });
}

bool isOfRuntime(const FunctionDecl *F, const Source &S) {
  if (!F->getIdentifier() || !F->getName().starts_with("relock_"))
    return false;
  return any_of(F->redecls(), [&](const FunctionDecl *Declared) {
    FileID File = S.SM.getFileID(S.SM.getExpansionLoc(Declared->getLocation()));
    StringRef Header = S.SM.getFilename(S.SM.getLocForStartOfFile(File));
    return is_contained({"relock.h", "barriers.h", "containers.h", "teams.h"},
                        sys::path::filename(Header)) &&
           sys::path::filename(sys::path::parent_path(Header)) == "relock";
  });
}

std::string relockName(StringRef PosixName) {
  return ("relock_" + PosixName.drop_front(StringRef("pthread_").size())).str();
}

std::string relockInitialiser(StringRef MacroName) {
  return StringSwitch<std::string>(MacroName)
      .Case("PTHREAD_MUTEX_INITIALIZER", "RELOCK_MUTEX_INITIALIZER($CLASS)")
      .Case("PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP", "RELOCK_MUTEX_INITIALIZER($CLASS)")
      .Case("PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP", "RELOCK_RECURSIVE_MUTEX_INITIALIZER($CLASS)")
      .Case("PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP",
            "RELOCK_ERRORCHECK_MUTEX_INITIALIZER($CLASS)")
      .Case("PTHREAD_COND_INITIALIZER", "RELOCK_COND_INITIALIZER")
      .Default("");
}

static SyncType syncNamed(StringRef Name) {
  return StringSwitch<SyncType>(Name)
      .Case("pthread_mutex_t", SyncType::Mutex)
      .Case("pthread_cond_t", SyncType::Condition)
      .Case("pthread_mutexattr_t", SyncType::MutexAttribute)
      .Case("pthread_condattr_t", SyncType::ConditionAttribute)
      .Default(SyncType::None);
}

bool isSyncName(StringRef Name) { return syncNamed(Name) != SyncType::None; }

// `typedef union NAME { … } pthread_mutex_t`: the type does not know of its other name.
static SyncType syncTypedef(const RecordDecl *Record) {
  ASTContext &Context = Record->getASTContext();
  const clang::Type *T = Context.getRecordType(Record).getTypePtr();
  for (StringRef Name :
       {"pthread_mutex_t", "pthread_cond_t", "pthread_mutexattr_t", "pthread_condattr_t"})
    for (const NamedDecl *D : Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name)))
      if (const auto *Typedef = dyn_cast<TypedefNameDecl>(D);
          Typedef && Typedef->getUnderlyingType().getCanonicalType().getTypePtr() == T)
        return syncNamed(Name);
  return SyncType::None;
}

SyncType syncObject(QualType T) {
  while (const clang::Type *Element = T.getTypePtr()) {
    if (const auto *Array = Element->getAsArrayTypeUnsafe())
      T = Array->getElementType();
    else if (const auto *Atomic = Element->getAs<AtomicType>())
      T = Atomic->getValueType();
    else
      break;
  }
  const auto *Record = T->getAs<RecordType>();
  if (!Record)
    return SyncType::None;
  const TypedefNameDecl *Name = Record->getDecl()->getTypedefNameForAnonDecl();
  return Name ? syncNamed(Name->getName()) : syncTypedef(Record->getDecl());
}

SyncType syncType(QualType T) {
  for (;;) {
    if (const auto *Pointer = T->getAs<clang::PointerType>())
      T = Pointer->getPointeeType();
    else if (const auto *Array = T->getAsArrayTypeUnsafe())
      T = Array->getElementType();
    else
      return syncObject(T);
  }
}

const CallExpr *soleCall(const Stmt *S) {
  if (!S)
    return nullptr;
  if (const auto *Compound = dyn_cast<CompoundStmt>(S)) {
    const CallExpr *Sole = nullptr;
    for (const Stmt *Child : Compound->body()) {
      if (isa<NullStmt>(Child))
        continue;
      if (Sole || !(Sole = soleCall(Child)))
        return nullptr;
    }
    return Sole;
  }
  if (const auto *Do = dyn_cast<DoStmt>(S)) {
    const auto *Zero = dyn_cast<IntegerLiteral>(Do->getCond()->IgnoreParenImpCasts());
    return Zero && Zero->getValue() == 0 ? soleCall(Do->getBody()) : nullptr;
  }
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return nullptr;
  E = E->IgnoreParenImpCasts();
  if (const auto *Cast = dyn_cast<CStyleCastExpr>(E); Cast && Cast->getType()->isVoidType())
    E = Cast->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *Braces = dyn_cast<StmtExpr>(E))
    return soleCall(Braces->getSubStmt());
  return dyn_cast<CallExpr>(E);
}

// `x` of `&x`, as it is written there.
static const Expr *addressed(const Expr *E) {
  const auto *Address = dyn_cast<UnaryOperator>(E->IgnoreParenImpCasts());
  return Address && Address->getOpcode() == UO_AddrOf ? Address->getSubExpr()->IgnoreParens()
                                                      : nullptr;
}

static void writeKey(const Expr *E, const VarDecl *Argument, raw_ostream &OS) {
  for (E = E->IgnoreParens(); isa<CastExpr>(E); E = cast<CastExpr>(E)->getSubExpr()->IgnoreParens())
    if (isa<ExplicitCastExpr>(E) && E->getType()->isIntegerType()) // it may lose bits of an index
      OS << "(" << E->getType().getCanonicalType().getAsString() << ")";
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Declared = Ref->getDecl();
    if (Declared == Argument)
      OS << "$";
    else if (const auto *Var = dyn_cast<VarDecl>(Declared);
             Var && (Var->isStaticLocal() || !Var->hasGlobalStorage())) // others may have its name
      OS << Var->getName() << "@" << Var->getLocation().getRawEncoding();
    else
      OS << Declared->getName();
    return;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    // `(*p).lock` and `p->lock` are the same operand, and so are `(&q->base)->lock` and
    // `q->base.lock`.
    const Expr *Base = Member->getBase()->IgnoreParenCasts();
    const auto *Deref = dyn_cast<UnaryOperator>(Base);
    if (const Expr *Object = Member->isArrow() ? addressed(Member->getBase()) : nullptr) {
      writeKey(Object, Argument, OS);
      OS << ".";
    } else if (Member->isArrow() || (Deref && Deref->getOpcode() == UO_Deref)) {
      writeKey(Member->isArrow() ? Base : Deref->getSubExpr(), Argument, OS);
      OS << "->";
    } else {
      writeKey(Base, Argument, OS);
      OS << ".";
    }
    OS << Member->getMemberDecl()->getName();
    return;
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    writeKey(Subscript->getBase(), Argument, OS);
    OS << "[";
    writeKey(Subscript->getIdx(), Argument, OS);
    OS << "]";
    return;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    const Expr *Sub = Unary->getSubExpr()->IgnoreParenCasts();
    // `&*p` is `p`, and `&locks[i]` is the same operand as `locks + i`.
    if (const auto *Inner = dyn_cast<UnaryOperator>(Sub);
        Inner && Unary->getOpcode() == UO_AddrOf && Inner->getOpcode() == UO_Deref)
      return writeKey(Inner->getSubExpr(), Argument, OS);
    OS << UnaryOperator::getOpcodeStr(Unary->getOpcode());
    writeKey(Sub, Argument, OS);
    return;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    const Expr *Left = Binary->getLHS(), *Right = Binary->getRHS();
    if (Binary->getOpcode() == BO_Add && Left->getType()->isPointerType()) {
      OS << "&";
      writeKey(Left, Argument, OS);
      OS << "[";
      writeKey(Right, Argument, OS);
      OS << "]";
      return;
    }
    OS << "(";
    writeKey(Left, Argument, OS);
    OS << Binary->getOpcodeStr();
    writeKey(Right, Argument, OS);
    OS << ")";
    return;
  }
  if (const auto *Invocation = dyn_cast<CallExpr>(E)) {
    writeKey(Invocation->getCallee(), Argument, OS);
    OS << "(";
    for (const Expr *Given : Invocation->arguments()) {
      writeKey(Given, Argument, OS);
      OS << ",";
    }
    OS << ")";
    return;
  }
  if (const auto *Literal = dyn_cast<IntegerLiteral>(E)) {
    Literal->getValue().print(OS, /*isSigned=*/false);
    return;
  }
  // Anything else is equal only to itself.
  OS << E->getStmtClassName() << "@" << E->getBeginLoc().getRawEncoding();
}

bool isConvertedOperand(const Expr *E) {
  QualType T = E->IgnoreParenImpCasts()->getType();
  if (const clang::Type *Pointee = T->getPointeeOrArrayElementType())
    if (const auto *Record = Pointee->getAs<RecordType>())
      return is_contained({"relock_mutex", "relock_cond"}, Record->getDecl()->getName());
  return false;
}

const Expr *withoutIdleCasts(const Expr *E) {
  const auto *Cast = dyn_cast<CStyleCastExpr>(E->IgnoreParens());
  bool Idle = Cast && Cast->getType().getCanonicalType() ==
                          Cast->getSubExpr()->getType().getCanonicalType();
  return Idle ? withoutIdleCasts(Cast->getSubExpr()) : E;
}

std::string lockKey(const Expr *E, const VarDecl *Argument) {
  std::string Key;
  raw_string_ostream OS(Key);
  writeKey(E, Argument, OS);
  return Key;
}

static bool contains(QualType Whole, QualType Lock) {
  while (const auto *Array = dyn_cast<clang::ArrayType>(Whole.getCanonicalType()))
    Whole = Array->getElementType();
  if (Whole.getCanonicalType().getUnqualifiedType() == Lock)
    return true;
  const auto *Record = Whole->getAs<RecordType>();
  return Record && any_of(Record->getDecl()->fields(),
                          [&](const FieldDecl *Field) { return contains(Field->getType(), Lock); });
}

// True if the lock lies in a union of which another member may be a lock of its type: then the
// names of the members do not tell locks apart.
static bool sharesMemory(const MemberExpr *Member, QualType Lock) {
  Lock = Lock.getCanonicalType().getUnqualifiedType();
  for (; Member; Member = Member->isArrow()
                              ? nullptr
                              : dyn_cast<MemberExpr>(Member->getBase()->IgnoreParenImpCasts())) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field)
      return true;
    if (Field->getParent()->isUnion() &&
        any_of(Field->getParent()->fields(), [&](const FieldDecl *Other) {
          return Other != Field && contains(Other->getType(), Lock);
        }))
      return true;
  }
  return false;
}

std::string lockPart(const Expr *Operand, bool OfStruct, const Source &S) {
  const auto *Address = dyn_cast<UnaryOperator>(Operand->IgnoreParenImpCasts());
  if (!Address || Address->getOpcode() != UO_AddrOf)
    return "";
  const Expr *Struct = Address->getSubExpr()->IgnoreParenImpCasts();
  const QualType Lock = Struct->getType();
  if (!OfStruct) {
    const auto *Mutex = dyn_cast<MemberExpr>(Struct);
    if (!Mutex || Mutex->isArrow() || sharesMemory(Mutex, Lock))
      return "";
    Struct = Mutex->getBase()->IgnoreParenImpCasts();
  }
  while (const auto *Element = dyn_cast<ArraySubscriptExpr>(Struct)) {
    Struct = Element->getBase()->IgnoreParenImpCasts();
    if (!Struct->getType()->isArrayType())
      return "";
  }
  if (const auto *Member = dyn_cast<MemberExpr>(Struct))
    return sharesMemory(Member, Lock) ? "" : nodeFor(Member->getMemberDecl(), S);
  const auto *Ref = dyn_cast<DeclRefExpr>(Struct);
  const auto *Variable = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Variable && Variable->hasGlobalStorage() ? nodeFor(Variable, S) : "";
}

static bool isClock(QualType T) {
  const auto *Name = T->getAs<TypedefType>();
  return Name && Name->getDecl()->getName() == "clockid_t";
}

// Whether a call is about the calling thread, for a value that says so: "thread-" if it may be;
// "caller-" if the value is what the function's own callers give it as a clock, so that the call of
// the function is, see recordClocks(); else empty.
static StringRef aboutThread(const Expr *Asked, int OfThread, ASTContext &Context) {
  if (std::optional<std::set<int64_t>> Known = constantsOf(Asked, Context))
    return Known->count(OfThread) ? "thread-" : "";
  const ParmVarDecl *P = givenByCaller(Asked);
  return P && isClock(P->getType()) ? "caller-" : "thread-";
}

constexpr int ThreadsClock = 3; // CLOCK_THREAD_CPUTIME_ID

// The time or the resources of the calling thread: not the caller's where another thread runs the
// section.
static StringRef asksForThread(const CallExpr *Call, StringRef Name, ASTContext &Context) {
  int OfThread = Name == "clock_gettime" ? ThreadsClock
                 : Name == "getrusage"   ? 1 /* RUSAGE_THREAD */
                                         : -1;
  return OfThread < 0 || Call->getNumArgs() != 2 ? ""
                                                 : aboutThread(Call->getArg(0), OfThread, Context);
}

// A function that is given a clock may ask for its time, and does if it has a call that is named
// after its callers. Then this is a call of clock_gettime, too.
static void recordClocks(const CallExpr *Call, const FunctionDecl *Callee, const Source &S,
                         std::vector<relock::Call> &Calls) {
  for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
    bool MayBe = Callee->hasPrototype()
                     ? I < Callee->getNumParams() && isClock(Callee->getParamDecl(I)->getType())
                     : Call->getArg(I)->getType()->isIntegralOrEnumerationType();
    if (!MayBe)
      continue;
    StringRef About = aboutThread(Call->getArg(I), ThreadsClock, S.Context);
    if (!About.empty())
      Calls.push_back({nodeFor(Callee, S) + "#clock", (About + "clock_gettime").str(),
                       S.shown(Call->getExprLoc())});
  }
}

// What pthread_cleanup_push and its pop call but for the handler: none of it returns otherwise than
// to run that one and to end the thread.
static bool isOfCleanupMacros(const CallExpr *Call, const FunctionDecl *Callee) {
  if (!Call->getExprLoc().isMacroID() || !Callee->getIdentifier())
    return false;
  StringRef Name = Callee->getName();
  return Name == "__pthread_register_cancel" || Name == "__pthread_unregister_cancel" ||
         Name == "__pthread_unwind_next" ||
         (Callee->hasAttr<ReturnsTwiceAttr>() && isOfCleanup(Call));
}

// The handler that pthread_cleanup_push names, at a call of its variable.
static const FunctionDecl *handlerOf(const CallExpr *Call) {
  const auto *Ref = dyn_cast<DeclRefExpr>(Call->getCallee()->IgnoreParenImpCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  bool Ours =
      V && V->getName() == "__cancel_routine" && V->getLocation().isMacroID() && V->hasInit();
  const auto *Named = Ours ? dyn_cast<DeclRefExpr>(V->getInit()->IgnoreParenCasts()) : nullptr;
  return Named ? dyn_cast<FunctionDecl>(Named->getDecl()) : nullptr;
}

bool isNoFunction(const Expr *Pointer, ASTContext &Context) {
  const Expr *Value = Pointer->IgnoreParenCasts();
  return Pointer->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNull) ||
         (Value->getType()->isIntegerType() && Value->isEvaluatable(Context));
}

void recordCalls(const CallExpr *Call, bool Ends, const Source &S, std::vector<relock::Call> &Calls,
                 std::vector<IndirectCall> &IndirectCalls) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  Position At = S.shown(Call->getExprLoc());
  if (!Callee) {
    if (const FunctionDecl *Handler = handlerOf(Call); Handler && lockFunction(Handler->getName()))
      return; // the name of the operation is a site
    else if (Handler)
      Calls.push_back({nodeFor(Handler, S), Handler->getNameAsString(), At});
    else
      IndirectCalls.push_back(callThrough(Call->getCallee(), Call->getExprLoc(), S));
    return;
  }
  if (isOfCleanupMacros(Call, Callee))
    return;
  std::string Name = Callee->getNameAsString();
  if (StringRef About = asksForThread(Call, Name, S.Context); !About.empty())
    Name = (About + Name).str();
  Calls.push_back(
      {nodeFor(Callee, S) + (Name == Callee->getName() ? "" : "#thread"), Name, At, Ends});
  if (!S.inSystemHeader(Callee->getLocation()) && !Callee->getBuiltinID() &&
      !isOfRuntime(Callee, S))
    return recordClocks(Call, Callee, S, Calls);
  if (Name == "pthread_create" || Name == "thrd_create")
    return; // another thread calls what it is given
  for (const Expr *Argument : Call->arguments()) {
    QualType T = Argument->getType();
    if (!T->isFunctionPointerType())
      continue;
    const auto *Ref = dyn_cast<DeclRefExpr>(Argument->IgnoreParenCasts());
    const auto *Function = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
    if (const auto *Unary = dyn_cast<UnaryOperator>(Argument->IgnoreParenCasts());
        Unary && Unary->getOpcode() == UO_AddrOf)
      if (const auto *Named = dyn_cast<DeclRefExpr>(Unary->getSubExpr()->IgnoreParenCasts()))
        Function = dyn_cast<FunctionDecl>(Named->getDecl());
    if (Function)
      Calls.push_back({nodeFor(Function, S), Function->getNameAsString(), At});
    else if (!isNoFunction(Argument, S.Context))
      IndirectCalls.push_back(callThrough(Argument, Call->getExprLoc(), S));
  }
}

// An enumeration is compatible with an integer type.
static std::string compatibleText(QualType T) {
  T = T.getCanonicalType().getUnqualifiedType();
  if (const auto *Enum = T->getAs<EnumType>())
    T = Enum->getDecl()->getIntegerType().getCanonicalType();
  return T.getAsString();
}

std::string functionTypeText(QualType T) {
  if (T->isAnyPointerType())
    T = T->getPointeeType();
  const auto *Type = T->getAs<FunctionProtoType>();
  if (!Type)
    return "";
  SmallVector<std::string, 8> Parameters;
  for (QualType Parameter : Type->param_types())
    Parameters.push_back(compatibleText(Parameter));
  if (Type->isVariadic())
    Parameters.push_back("...");
  return compatibleText(Type->getReturnType()) + " (" + join(Parameters, ", ") + ")";
}

} // namespace relock
