// SPDX-License-Identifier: MIT
#include "index/FunctionPointers.h"

#include "index/Constants.h"
#include "index/LockApi.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecordLayout.h"

using namespace clang;
using namespace llvm;

namespace relock {

// --- Where pointers to functions are kept -------------------------------------------------------

// True for a pointer to a function, and an array of such.
static bool isFunctionPointers(QualType T, const ASTContext &Context) {
  return Context.getBaseElementType(T)->isFunctionPointerType();
}

static std::string typeText(QualType T, const ASTContext &Context) {
  return functionTypeText(Context.getBaseElementType(T));
}

// A lock that is given to such a function is followed by its type alone, see Collect.cpp.
static bool takesLocks(QualType T, const ASTContext &Context) {
  const auto *Type = Context.getBaseElementType(T)->getPointeeType()->getAs<FunctionProtoType>();
  return Type &&
         any_of(Type->param_types(), [](QualType P) { return syncType(P) != SyncType::None; });
}

static std::string memberSlot(const FieldDecl *F, const ASTContext &Context) {
  return "." + F->getNameAsString() + " " + typeText(F->getType(), Context);
}

// Where pointers to pointers to functions of the type point to.
static std::string pointedSlot(QualType T, const ASTContext &Context) {
  return "*" + typeText(T, Context);
}

// Of calls through pointers of a type: the argument of that number, or the result.
static std::string slotOfType(QualType Callee, int Argument = -1) {
  return "(" + functionTypeText(Callee) + ")#" +
         (Argument < 0 ? "result" : std::to_string(Argument));
}

// Empty: in a place that is not known, or that belongs to a library.
static std::string slotOf(const Expr *Object, const Source &S) {
  const Expr *E = Object->IgnoreParens();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && !S.inSystemHeader(V->getLocation()) ? nodeFor(V, S) : "";
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    const auto *F = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return F && !S.inSystemHeader(F->getLocation()) ? memberSlot(F, S.Context) : "";
  }
  const Expr *Base = nullptr;
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    Base = Subscript->getBase()->IgnoreParenImpCasts();
  else if (const auto *Unary = dyn_cast<UnaryOperator>(E); Unary && Unary->getOpcode() == UO_Deref)
    Base = Unary->getSubExpr()->IgnoreParenImpCasts();
  if (!Base)
    return "";
  return Base->getType()->isArrayType() ? slotOf(Base, S) : pointedSlot(E->getType(), S.Context);
}

static const FunctionDecl *namedFunction(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Address = dyn_cast<UnaryOperator>(E);
      Address && (Address->getOpcode() == UO_AddrOf || Address->getOpcode() == UO_Deref))
    E = Address->getSubExpr()->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  return Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
}

// A pointer that the dynamic linker finds by a name that stands there.
struct FoundByName {
  std::string Node, Name;
};

// `dlsym(RTLD_DEFAULT, "hook")`: the function of the program that has the name, or of a library.
// `dlsym(RTLD_NEXT, "ioctl")`, in an `ioctl` of the program's own: only of a library.
static std::optional<FoundByName> foundByName(const Expr *Pointer, const ASTContext &Context) {
  const auto *Call = dyn_cast<CallExpr>(Pointer->IgnoreParenCasts());
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !Callee->getIdentifier() || Callee->getName() != "dlsym" ||
      Call->getNumArgs() != 2 || takesLocks(Pointer->getType(), Context))
    return std::nullopt;
  Expr::EvalResult Handle;
  const auto *Name = dyn_cast<clang::StringLiteral>(Call->getArg(1)->IgnoreParenCasts());
  if (!Name || !Name->isOrdinary() ||
      !Call->getArg(0)->IgnoreParenCasts()->EvaluateAsInt(Handle, Context))
    return std::nullopt;
  const std::string Text = Name->getString().str();
  if (Handle.Val.getInt() == 0)
    return FoundByName{nodeOfFunction(Text), Text};
  if (Handle.Val.getInt() == -1)
    return FoundByName{"next:" + Text, Text};
  return std::nullopt;
}

static std::string resultSlot(const CallExpr *Call, const Source &S) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return slotOfType(Call->getCallee()->getType());
  bool Known = !S.inSystemHeader(Callee->getLocation()) && !Callee->getBuiltinID();
  return Known ? nodeFor(Callee, S) + "#result" : "";
}

// An inline function of a library's header that calls what it is given: each of its callers counts
// that as its own call, as with other functions of libraries. Empty: it is none.
static std::string slotOfInline(const Expr *Callee, const Source &S) {
  const ParmVarDecl *P = givenByCaller(Callee);
  const auto *F = P ? cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  if (!F || !S.inSystemHeader(F->getLocation()) || F->getBuiltinID())
    return "";
  return givenSlot(nodeFor(F, S)) + std::to_string(P->getFunctionScopeIndex());
}

IndirectCall callThrough(const Expr *Callee, SourceLocation At, const Source &S) {
  IndirectCall Result = {S.shown(At), functionTypeText(Callee->getType()), "", ""};
  const Expr *E = Callee->IgnoreParenCasts();
  for (const auto *Unary = dyn_cast<UnaryOperator>(E);
       Unary && Unary->getOpcode() == UO_Deref && Unary->getType()->isFunctionType();
       Unary = dyn_cast<UnaryOperator>(E))
    E = Unary->getSubExpr()->IgnoreParenCasts();
  if (!E->getType()->isFunctionPointerType())
    return Result;
  const auto *Call = dyn_cast<CallExpr>(E);
  Result.Slot = Call ? resultSlot(Call, S) : slotOf(E, S);
  if (std::string Given = Result.Slot.empty() ? slotOfInline(E, S) : ""; !Given.empty())
    Result.Slot = std::move(Given);
  if (const ValueDecl *D = storedDeclaration(E))
    Result.Name = D->getNameAsString();
  return Result;
}

// --- How they get there -------------------------------------------------------------------------

void FunctionPointers::flow(std::string From, std::string To, std::string Function) {
  if (!To.empty() && From != To && Flows.insert(From + "|" + To).second)
    Facts.FunctionFlows.add({std::move(From), std::move(To), std::move(Function)});
}

void FunctionPointers::join(const std::string &A, const std::string &B) { flow(A, B), flow(B, A); }

void FunctionPointers::store(const Expr *Value, const std::string &Slot) {
  const Expr *E = Value->IgnoreParens();
  if (std::optional<FoundByName> Found = foundByName(E, S.Context))
    return flow(Found->Node, Slot, Found->Name);
  if (const FunctionDecl *F = namedFunction(E))
    return flow(nodeFor(F, S), Slot, F->getNameAsString());
  if (isNoFunction(E, S.Context) || isa<ImplicitValueInitExpr>(E))
    return;
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return storeCast(Cast, Slot);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return store(Choice->getTrueExpr(), Slot), store(Choice->getFalseExpr(), Slot);
  if (const auto *Choice = dyn_cast<BinaryConditionalOperator>(E))
    return store(Choice->getCommon(), Slot), store(Choice->getFalseExpr(), Slot);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E);
      Binary && (Binary->getOpcode() == BO_Comma || Binary->getOpcode() == BO_Assign))
    return store(Binary->getRHS(), Slot);
  if (const auto *List = dyn_cast<InitListExpr>(E); List && List->getNumInits() == 1)
    return store(List->getInit(0), Slot);
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return flow(resultSlot(Call, S), Slot);
  if (isa<AtomicExpr>(E)) // an exchange
    return flow(pointedSlot(E->getType(), S.Context), Slot);
  flow("", Slot);
}

void FunctionPointers::storeCast(const CastExpr *Cast, const std::string &Slot) {
  const Expr *Sub = Cast->getSubExpr();
  if (Cast->getCastKind() == CK_LValueToRValue)
    return flow(slotOf(Sub, S), Slot);
  if (Cast->getCastKind() == CK_FunctionToPointerDecay) { // `*pointer`
    const auto *Unary = dyn_cast<UnaryOperator>(Sub->IgnoreParens());
    if (Unary && Unary->getOpcode() == UO_Deref)
      return store(Unary->getSubExpr(), Slot);
  } else if (Sub->getType()->isFunctionPointerType()) {
    return store(Sub, Slot);
  }
  flow("", Slot);
}

void FunctionPointers::initialise(QualType T, const Expr *Value, const std::string &Slot) {
  if (!Value)
    return;
  const auto *List = dyn_cast<InitListExpr>(Value->IgnoreParens());
  if (T->isFunctionPointerType())
    return Slot.empty() ? void() : store(Value, Slot);
  if (!List)
    return;
  if (const clang::ArrayType *Array = S.Context.getAsArrayType(T)) {
    for (const Expr *Element : List->inits())
      initialise(Array->getElementType(), Element, Slot);
    return;
  }
  auto Member = [&](const FieldDecl *F, const Expr *Of) {
    initialise(F->getType(), Of,
               isFunctionPointers(F->getType(), S.Context) ? memberSlot(F, S.Context) : "");
  };
  const auto *Record = T->getAsRecordDecl();
  if (Record && Record->isUnion()) {
    if (List->getInitializedFieldInUnion() && List->getNumInits())
      Member(List->getInitializedFieldInUnion(), List->getInit(0));
    return;
  }
  unsigned I = 0;
  if (Record)
    for (const FieldDecl *F : Record->fields())
      if (!F->isUnnamedBitField() && I < List->getNumInits())
        Member(F, List->getInit(I++));
}

// The members of a union are written as each other; where one is no pointer to a function, that may
// be anything.
void FunctionPointers::declare(const FieldDecl *F) {
  const RecordDecl *Record = F->getParent();
  if (isFunctionPointers(F->getType(), S.Context) && Record->isUnion() &&
      std::distance(Record->field_begin(), Record->field_end()) > 1) {
    for (const FieldDecl *Other : Record->fields())
      if (Other->getType()->isFunctionPointerType())
        join(memberSlot(F, S.Context), memberSlot(Other, S.Context));
      else
        flow("", memberSlot(F, S.Context));
    if (takesLocks(F->getType(), S.Context))
      open(typeText(F->getType(), S.Context));
  }
}

void FunctionPointers::initialise(const VarDecl *V) {
  if (S.inSystemHeader(V->getLocation()) || !V->hasInit())
    return;
  bool Own = isFunctionPointers(V->getType(), S.Context);
  initialise(V->getType(), V->getInit(), Own ? nodeFor(V, S) : "");
}

void FunctionPointers::initialise(const CompoundLiteralExpr *Literal) {
  bool Own = isFunctionPointers(Literal->getType(), S.Context);
  initialise(Literal->getType(), Literal->getInitializer(),
             Own ? pointedSlot(Literal->getType(), S.Context) : "");
}

void FunctionPointers::assign(const BinaryOperator *Assignment) {
  if (Assignment->getOpcode() == BO_Assign && Assignment->getType()->isFunctionPointerType() &&
      !S.inSystemHeader(Assignment->getExprLoc()))
    store(Assignment->getRHS(), slotOf(Assignment->getLHS(), S));
}

// Whoever has the address stores there what he stores where such addresses point to.
void FunctionPointers::addressOf(const Expr *Object) {
  QualType T = Object->getType();
  if (!isFunctionPointers(T, S.Context) || Indexed.contains(Object))
    return;
  if (std::string Slot = slotOf(Object, S); !Slot.empty())
    join(Slot, pointedSlot(T, S.Context));
}

void FunctionPointers::call(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  bool OfLibrary = Callee && S.inSystemHeader(Callee->getLocation());
  for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
    QualType T = Call->getArg(I)->getType();
    if (!T->isFunctionPointerType())
      continue;
    if (OfLibrary)
      store(Call->getArg(I), givenSlot(nodeFor(Callee, S)) + std::to_string(I));
    else if (Callee && Callee->getBuiltinID()) // `__sync_lock_test_and_set(&hook, f)`
      store(Call->getArg(I), pointedSlot(T, S.Context));
    else
      store(Call->getArg(I), Callee ? parameterNode(nodeFor(Callee, S), I)
                                    : slotOfType(Call->getCallee()->getType(), I));
  }
}

// `__atomic_store_n(&hook, f, order)`: where such addresses point to.
void FunctionPointers::atomic(const AtomicExpr *E) {
  for (const Stmt *Child : const_cast<AtomicExpr *>(E)->children()) {
    const auto *Value = dyn_cast_or_null<Expr>(Child);
    if (Value && Value->getType()->isFunctionPointerType())
      store(Value, pointedSlot(Value->getType(), S.Context));
  }
}

void FunctionPointers::alias(const std::string &Node, const FunctionDecl *F) {
  std::string Of = nodeFor(F, S);
  for (const ParmVarDecl *Parameter : F->parameters())
    if (unsigned I = Parameter->getFunctionScopeIndex();
        Parameter->getType()->isFunctionPointerType())
      flow(parameterNode(Node, I), parameterNode(Of, I));
  if (F->getReturnType()->isFunctionPointerType())
    flow(Of + "#result", Node + "#result");
}

void FunctionPointers::returned(const FunctionDecl *F, const Expr *Value) {
  if (F->getReturnType()->isFunctionPointerType())
    store(Value, nodeFor(F, S) + "#result");
}

// An object of one struct becomes one of another: members at the same place are the same.
void FunctionPointers::castRecords(const RecordDecl *From, const RecordDecl *To) {
  From = From->getDefinition(), To = To->getDefinition();
  if (!From || !To || From == To || From->isInvalidDecl() || To->isInvalidDecl())
    return;
  const ASTRecordLayout &A = S.Context.getASTRecordLayout(From);
  const ASTRecordLayout &B = S.Context.getASTRecordLayout(To);
  for (const FieldDecl *F : From->fields())
    for (const FieldDecl *G : To->fields())
      if (A.getFieldOffset(F->getFieldIndex()) == B.getFieldOffset(G->getFieldIndex()) &&
          isFunctionPointers(F->getType(), S.Context) &&
          isFunctionPointers(G->getType(), S.Context)) {
        join(memberSlot(F, S.Context), memberSlot(G, S.Context));
        for (const FieldDecl *Member : {F, G})
          if (takesLocks(Member->getType(), S.Context) &&
              typeText(F->getType(), S.Context) != typeText(G->getType(), S.Context))
            open(typeText(Member->getType(), S.Context));
      }
}

// --- Which functions become pointers ------------------------------------------------------------

void FunctionPointers::open(std::string Type) {
  if (OpenTypes.insert(Type).second)
    Facts.OpenTypes.push_back(std::move(Type));
}

void FunctionPointers::takeAddress(const FunctionDecl *F, const std::string &Type) {
  takeAddress(nodeFor(F, S), F->getNameAsString(), Type);
}

void FunctionPointers::takeAddress(std::string Node, std::string Name, const std::string &Type) {
  if (TakenFunctions.insert(Type + "|" + Node).second)
    Facts.Taken.add({Type, std::move(Node), std::move(Name)});
}

void FunctionPointers::castToFunction(const CastExpr *Cast, const Expr *Sub,
                                      const std::string &To) {
  const Expr *Inner = Sub->IgnoreParenCasts();
  if (const auto *Address = dyn_cast<UnaryOperator>(Inner);
      Address && Address->getOpcode() == UO_AddrOf)
    Inner = Address->getSubExpr()->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(Inner);
  if (Cast->getCastKind() == CK_LValueToRValue) {
    const auto *Member = dyn_cast<MemberExpr>(Inner);
    const Decl *From = Ref ? Ref->getDecl() : Member ? Member->getMemberDecl() : nullptr;
    if (From && S.inSystemHeader(From->getLocation()))
      open(To);
  } else if (Cast->getCastKind() == CK_BitCast || Cast->getCastKind() == CK_IntegralToPointer) {
    if (const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr)
      takeAddress(F, To);
    else if (isNoFunction(Cast, S.Context))
      return;
    else if (std::optional<FoundByName> Found = foundByName(Cast, S.Context))
      takeAddress(Found->Node, Found->Name, To);
    else if (Sub->getType()->isFunctionPointerType())
      Facts.PointerCasts.add({functionTypeText(Sub->getType()), To});
    else
      open(To);
  }
}

void FunctionPointers::recordCallbacks(const FunctionDecl *F, Function &Record) {
  for (const ParmVarDecl *Parameter : F->parameters())
    if (Parameter->getType()->isFunctionPointerType())
      Record.Callbacks.push_back(functionTypeText(Parameter->getType()));
}

void FunctionPointers::cast(const CastExpr *E) {
  const Expr *Sub = E->getSubExpr();
  if (E->getType()->isFunctionPointerType())
    castToFunction(E, Sub, functionTypeText(E->getType()));
  if (E->getCastKind() == CK_ArrayToPointerDecay)
    addressOf(Sub->IgnoreParens());
  QualType From = Sub->getType(), To = E->getType();
  if (E->getCastKind() != CK_BitCast || !From->isPointerType() || !To->isPointerType())
    return;
  // Somebody may write to the pointer as to something else.
  if (From->getPointeeType()->isFunctionPointerType()) {
    open(functionTypeText(From->getPointeeType()));
    flow("", pointedSlot(From->getPointeeType(), S.Context));
  }
  const RecordDecl *Old = From->getPointeeType()->getAsRecordDecl();
  const RecordDecl *New = To->getPointeeType()->getAsRecordDecl();
  if (Old && New)
    castRecords(Old, New);
}

} // namespace relock
