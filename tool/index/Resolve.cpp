// SPDX-License-Identifier: MIT
#include "index/Resolve.h"

#include "index/LockApi.h"

#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

static std::string nodeOfPlace(const Position &At) {
  return "E:" + At.File.str() + ":" + std::to_string(At.Offset);
}

// The allocation functions: what they return is a fresh object, not a flow.
static bool allocates(const CallExpr *Call) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getIdentifier())
    return false;
  static const StringSet<> Names = {"malloc",         "calloc",          "realloc", "aligned_alloc",
                                    "posix_memalign", "memalign",        "valloc",  "reallocarray",
                                    "alloca",         "__builtin_alloca"};
  return Names.contains(F->getName());
}

bool returnsUntyped(const FunctionDecl *F, const Source &S) {
  return F->getReturnType()->isVoidPointerType() && !S.inSystemHeader(F->getLocation());
}

bool isUntyped(const VarDecl *V, const Source &S) {
  return V->getType()->isVoidPointerType() && V->hasLocalStorage() &&
         !S.inSystemHeader(V->getLocation());
}

const VarDecl *untypedVariable(const Expr *E, const Source &S) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && isUntyped(V, S) ? V : nullptr;
}

// The integer that a pointer is made of; null: of none.
static const Expr *integerOf(const Expr *Pointer) {
  for (const Expr *E = Pointer->IgnoreParens(); const auto *Cast = dyn_cast<CastExpr>(E);
       E = Cast->getSubExpr()->IgnoreParens())
    if (Cast->getCastKind() == CK_IntegralToPointer ||
        (Cast->getCastKind() == CK_NullToPointer && Cast->getSubExpr()->getType()->isIntegerType()))
      return Cast->getSubExpr();
  return nullptr;
}

// A constant one is no lock's address.
static bool isOfInteger(const Expr *Pointer, const Source &S) {
  const Expr *Integer = integerOf(Pointer);
  return Integer && !Integer->isIntegerConstantExpr(S.Context);
}

// Null, or a mark such as `(void *)1` or `(void *)-1`: no lock lies there.
static bool isNowhere(const Expr *Pointer, ASTContext &Context) {
  Expr::EvalResult Value;
  const Expr *Integer = integerOf(Pointer);
  return Pointer->isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNull) ||
         (Integer && Integer->EvaluateAsInt(Value, Context) && Value.Val.getInt().abs().ule(4095));
}

void Resolver::becomesInteger(const Expr *Pointer) {
  const Expr *Inner = Pointer->IgnoreParenCasts();
  if (syncType(Inner->getType()) != SyncType::None || untypedVariable(Inner, S))
    if (std::optional<std::string> Node = resolveUntyped(Pointer))
      Out.flow(*Node, IntegersNode.str(), Flow::Assignment, Pointer->getExprLoc());
}

std::string Resolver::leafNode(const Expr *Leaf) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Leaf))
    return nodeFor(Ref->getDecl(), S);
  return nodeFor(cast<MemberExpr>(Leaf)->getMemberDecl(), S);
}

// The node of what a `void *` points to, empty for null; nothing: where it comes from is not
// followed.
std::optional<std::string> Resolver::resolveUntyped(const Expr *E) {
  const Expr *Inner = E->IgnoreParenCasts();
  if (isNowhere(E, S.Context))
    return "";
  if (const VarDecl *V = untypedVariable(Inner, S)) {
    Resolved.insert(Inner);
    return nodeFor(V, S);
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(Inner);
      Binary && Binary->getOpcode() == BO_Assign && untypedVariable(Binary->getLHS(), S))
    return resolveUntyped(Binary->getLHS());
  const auto *Call = dyn_cast<CallExpr>(Inner);
  if (Call && allocates(Call))
    return fresh(Call);
  if (Call && Call->getDirectCallee() && returnsUntyped(Call->getDirectCallee(), S))
    return untypedResult(Call);
  if (syncType(Inner->getType()) == SyncType::None || !Inner->getType()->isPointerType())
    return std::nullopt;
  return resolve(Inner);
}

void Resolver::flowUntyped(const Expr *From, const std::string &To, Flow::Kind How) {
  const Expr *Inner = From->IgnoreParenCasts();
  if (const auto *Either = dyn_cast<ConditionalOperator>(Inner)) {
    flowUntyped(Either->getTrueExpr(), To, How);
    return flowUntyped(Either->getFalseExpr(), To, How);
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(Inner); Binary && Binary->isCommaOp())
    return flowUntyped(Binary->getRHS(), To, How);
  std::optional<std::string> Node = resolveUntyped(From);
  if (Node || Told.insert(To + (isOfInteger(From, S) ? "<N" : "<")).second)
    Out.flow(Node ? *Node : opaque(From), To, How, From->getExprLoc(), /*Untyped=*/true);
}

void Resolver::allocateTo(const CallExpr *Call) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getIdentifier() || F->getName() != "posix_memalign" || !Call->getNumArgs())
    return;
  const auto *Place = dyn_cast<UnaryOperator>(Call->getArg(0)->IgnoreParenCasts());
  if (!Place || Place->getOpcode() != UO_AddrOf)
    return;
  if (const VarDecl *V = untypedVariable(Place->getSubExpr(), S)) {
    Resolved.insert(Place->getSubExpr()->IgnoreParenCasts());
    Out.flow(fresh(Call), nodeFor(V, S), Flow::Assignment, Call->getExprLoc(), /*Untyped=*/true);
  }
}

void Resolver::loseResult(const CallExpr *Call) {
  std::string Node = resultNode(nodeFor(Call->getDirectCallee(), S));
  if (!Told.insert(Node + ">").second)
    return;
  std::string Place = nodeOfPlace(S.shown(Call->getExprLoc()));
  Out.escape(Place, "unknown-use", "is used in a way that is not followed", Call->getExprLoc());
  Out.flow(Node, Place, Flow::Return, Call->getExprLoc(), /*Untyped=*/true);
}

void Resolver::passUntyped(const Expr *Argument, const FunctionDecl *Callee, unsigned I) {
  if (I >= Callee->getNumParams() || !isUntyped(Callee->getParamDecl(I), S))
    return;
  declareUntyped(Callee, parameterNode(nodeFor(Callee, S), I), DeclarationKind::Parameter);
  flowUntyped(Argument, parameterNode(nodeFor(Callee, S), I), Flow::Argument);
}

void Resolver::cleanUp(const VarDecl *V, const FunctionDecl *F) {
  if (syncType(V->getType()) == SyncType::None || !F->getNumParams())
    return;
  flowToParameter(nodeFor(V, S), V->getType(), F, V->getLocation());
  LockCall Given; // without text
  Given.Callee = nodeFor(F, S);
  Given.Nodes = {nodeFor(V, S)};
  Facts.LockCalls.push_back(std::move(Given));
}

std::string Resolver::handOn(const Expr *Value, const FunctionDecl *F) {
  std::string Node = resolve(Value);
  flowToParameter(Node, Value->getType(), F, Value->getExprLoc());
  return Node;
}

// What calls the function is not seen.
void Resolver::flowToParameter(const std::string &Node, QualType T, const FunctionDecl *F,
                               SourceLocation At) {
  const ParmVarDecl *Parameter = F->getParamDecl(0);
  bool Untyped = isUntyped(Parameter, S);
  if (!Untyped && syncType(Parameter->getType()) == SyncType::None)
    return escapeOnce(Node, "pointer-cast",
                      "goes to a cleanup function as a pointer that is not followed", At);
  if (Untyped)
    declareUntyped(F, nodeFor(Parameter, S), DeclarationKind::Parameter, T);
  Out.flow(Node, nodeFor(Parameter, S), Flow::Argument, At, Untyped);
}

void Resolver::alias(const std::string &Node, const FunctionDecl *F, SourceLocation At) {
  std::string Of = nodeFor(F, S);
  for (const ParmVarDecl *Parameter : F->parameters()) {
    bool Untyped = isUntyped(Parameter, S);
    if (!Untyped && syncType(Parameter->getType()) == SyncType::None)
      continue;
    unsigned I = Parameter->getFunctionScopeIndex();
    if (Untyped)
      for (const std::string &Function : {Node, Of})
        declareUntyped(F, parameterNode(Function, I), DeclarationKind::Parameter);
    Out.flow(parameterNode(Node, I), parameterNode(Of, I), Flow::Argument, At, Untyped);
  }
  bool Untyped = returnsUntyped(F, S);
  if (Untyped)
    for (const std::string &Function : {Node, Of})
      declareUntyped(F, resultNode(Function), DeclarationKind::Result);
  if (Untyped || syncType(F->getReturnType()) != SyncType::None)
    Out.flow(resultNode(Of), resultNode(Node), Flow::Return, At, Untyped);
}

void Resolver::returnUntyped(const FunctionDecl *F, const Expr *Value) {
  if (syncType(Value->IgnoreParenCasts()->getType()) != SyncType::None)
    declareUntyped(F, resultNode(nodeFor(F, S)), DeclarationKind::Result,
                   Value->IgnoreParenCasts()->getType());
  flowUntyped(Value, resultNode(nodeFor(F, S)), Flow::Return);
}

void Resolver::declareUntyped(const FunctionDecl *F, const std::string &Node, DeclarationKind Kind,
                              QualType Pointer) {
  if (!Told.insert(Node + "=").second)
    return;
  Declaration Record;
  Record.Node = Node;
  Record.Name = F->getNameAsString();
  Record.Kind = Kind;
  Record.Condition = !Pointer.isNull() && syncType(Pointer) == SyncType::Condition;
  Record.Definition = true; // whether F is defined is looked up by its name
  Record.At = S.shown(F->getLocation());
  Facts.Declarations.push_back(std::move(Record));
}

void Resolver::escapeOnce(const std::string &Node, StringRef Code, StringRef Message,
                          SourceLocation At) {
  if (Told.insert(Node).second)
    Out.escape(Node, Code, Message, At);
}

void Resolver::initialise(QualType T, const Expr *Init, const std::string &Node) {
  if (!Init)
    return;
  SyncType Object = syncObject(T);
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Init->IgnoreParenImpCasts()))
    Init = Literal->getInitializer();
  const auto *List = dyn_cast<InitListExpr>(Init);
  if (!List) {
    if (syncType(T) != SyncType::None && !Node.empty())
      Out.flow(resolve(Init), Node, Flow::Initialiser, Init->getExprLoc());
    return;
  }
  if (const InitListExpr *Semantic = List->getSemanticForm())
    List = Semantic;
  if (T->isArrayType()) {
    QualType Element = T->getAsArrayTypeUnsafe()->getElementType();
    for (const Expr *Sub : List->inits())
      initialise(Element, Sub, Node);
    return;
  }
  if (Object == SyncType::Mutex || Object == SyncType::Condition)
    return Edits.initialiser(List, Node);
  const auto *Record = T->getAs<RecordType>();
  if (!Record)
    return;
  unsigned Index = 0;
  if (Record->isUnionType()) {
    if (const FieldDecl *Field = List->getInitializedFieldInUnion(); Field && List->getNumInits())
      initialise(Field->getType(), List->getInit(0), fieldNode(Field));
    return;
  }
  for (const FieldDecl *Field : Record->getDecl()->fields()) {
    if (Field->isUnnamedBitField())
      continue;
    if (Index >= List->getNumInits())
      break;
    const Expr *Sub = List->getInit(Index++);
    if (Sub && !isa<ImplicitValueInitExpr>(Sub))
      initialise(Field->getType(), Sub, fieldNode(Field));
    else if (Sub && syncObject(Field->getType()) == SyncType::Mutex &&
             !Field->getType()->isArrayType())
      Edits.leftOut(List, Field);
  }
}

std::string Resolver::fieldNode(const FieldDecl *Field) {
  return syncType(Field->getType()) == SyncType::None ? "" : nodeFor(Field, S);
}

std::string Resolver::resolve(const Expr *E) {
  if (!E)
    return "";
  E = E->IgnoreParens();
  if (isa<DeclRefExpr>(E) || isa<MemberExpr>(E)) {
    bool Leaf = true;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      Leaf = isa<VarDecl>(Ref->getDecl());
    if (Leaf && syncType(E->getType()) != SyncType::None) {
      Resolved.insert(E);
      return leafNode(E);
    }
    return opaque(E);
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return resolveCast(Cast);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return resolve(Unary->getSubExpr());
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return resolve(Subscript->getBase());
  if (const auto *Conditional = dyn_cast<ConditionalOperator>(E)) {
    std::string True = resolve(Conditional->getTrueExpr());
    std::string False = resolve(Conditional->getFalseExpr());
    Out.flow(True, False, Flow::Choice, E->getExprLoc());
    return True.empty() ? False : True;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->isAssignmentOp())
      return resolve(Binary->getLHS());
    if (Binary->isCommaOp())
      return resolve(Binary->getRHS());
    if (Binary->isAdditiveOp())
      return resolve(Binary->getLHS()->getType()->isPointerType() ? Binary->getLHS()
                                                                  : Binary->getRHS());
    return opaque(E);
  }
  if (const auto *Call = dyn_cast<CallExpr>(E))
    if (const FunctionDecl *F = Call->getDirectCallee();
        F && syncType(F->getReturnType()) != SyncType::None && !S.inSystemHeader(F->getLocation()))
      return resultNode(nodeFor(F, S));
  if (const auto *Block = dyn_cast<StmtExpr>(E))
    if (const auto *Last = dyn_cast_or_null<Expr>(Block->getSubStmt()->body_back()))
      return resolve(Last);
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(E)) {
    std::string Node = "D:" + S.shown(E->getExprLoc()).File.str() + ":" +
                       std::to_string(S.shown(E->getExprLoc()).Offset);
    Edits.typeToken(Literal->getTypeSourceInfo()->getTypeLoc(), Node, E->getExprLoc());
    initialise(Literal->getType(), Literal->getInitializer(), Node);
    return Node;
  }
  if (isa<InitListExpr>(E))
    return "";
  return opaque(E);
}

// Each call has a node of its own, as that of `malloc` has: it may return fresh memory.
std::string Resolver::untypedResult(const CallExpr *Call) {
  Resolved.insert(Call);
  std::string Node = fresh(Call);
  Out.flow(resultNode(nodeFor(Call->getDirectCallee(), S)), Node, Flow::Return, Call->getExprLoc(),
           /*Untyped=*/true);
  return Node;
}

// Fresh memory. `sizeof(pthread_mutex_t)` in the call belongs to what it is assigned to.
std::string Resolver::fresh(const CallExpr *Call) {
  Position At = S.shown(Call->getExprLoc());
  std::string Node = "A:" + At.File.str() + ":" + std::to_string(At.Offset);
  for (const Expr *Argument : Call->arguments())
    Edits.sizeTokens(Argument, Node);
  return Node;
}

std::string Resolver::resolveCast(const CastExpr *Cast) {
  const Expr *Sub = Cast->getSubExpr();
  if (isNowhere(Cast, S.Context))
    return "";
  std::string Node;
  const Expr *Inner = Sub->IgnoreParenCasts();
  const auto *Call = dyn_cast<CallExpr>(Inner);
  bool SameType = syncType(Sub->getType()) == syncType(Cast->getType());
  if (Call && allocates(Call)) {
    Node = fresh(Call);
  } else if (Call && Call->getDirectCallee() && returnsUntyped(Call->getDirectCallee(), S)) {
    Node = untypedResult(Call);
    declareUntyped(Call->getDirectCallee(), resultNode(nodeFor(Call->getDirectCallee(), S)),
                   DeclarationKind::Result, Cast->getType());
  } else if (const VarDecl *V = untypedVariable(Sub, S)) {
    Resolved.insert(Inner);
    Node = nodeFor(V, S);
    if (const auto *F = dyn_cast<FunctionDecl>(V->getDeclContext()); F && isa<ParmVarDecl>(V))
      declareUntyped(F, Node, DeclarationKind::Parameter, Cast->getType());
  } else if (SameType) {
    Node = resolve(Sub);
  } else {
    Node = opaque(Cast);
  }
  if (const auto *Explicit = dyn_cast<CStyleCastExpr>(Cast))
    if (TypeSourceInfo *Written = Explicit->getTypeInfoAsWritten();
        Written && syncType(Written->getType()) != SyncType::None)
      Edits.typeToken(Written->getTypeLoc(), Node, Explicit->getExprLoc());
  return Node;
}

std::string Resolver::opaque(const Expr *E) {
  std::string Node = nodeOfPlace(S.shown(E->getExprLoc()));
  Out.unfollowed(Node, E->getExprLoc());
  if (isOfInteger(E, S))
    Out.flow(IntegersNode.str(), Node, Flow::Assignment, E->getExprLoc());
  return Node;
}

std::string Resolver::unconverted(const Expr *E) {
  std::string Node = nodeOfPlace(S.shown(E->getExprLoc()));
  Out.escape(Node, "unconverted", "is an operation of pthread on a lock that is converted",
             E->getExprLoc());
  return Node;
}

} // namespace relock
