// SPDX-License-Identifier: MIT
//
// One pass over the AST. Each expression that names a mutex or a condition variable is a *leaf*;
// each construct that we understand (a lock call, an assignment, an argument, …) resolves the
// leaves below it to nodes and records what flows where. A leaf that nothing has resolved at the
// end is used in a way that we do not understand, and its class is kept: nothing is skipped
// silently.
#include "index/Collect.h"

#include "index/LockApi.h"
#include "index/Touched.h"
#include "index/MacroUse.h"
#include "index/Operand.h"
#include "index/Skipped.h"
#include "index/Tested.h"
#include "support/Source.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

// The allocation functions: what they return is a fresh object, not a flow.
bool allocates(const CallExpr *Call) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getIdentifier())
    return false;
  static const StringSet<> Names = {"malloc",         "calloc",          "realloc", "aligned_alloc",
                                    "posix_memalign", "memalign",        "valloc",  "reallocarray",
                                    "alloca",         "__builtin_alloca"};
  return Names.contains(F->getName());
}

// Library functions that take an object as `void *` and do not keep it.
bool takesBytes(const FunctionDecl *F) {
  static const StringSet<> Names = {"free", "realloc", "memset", "bzero", "explicit_bzero"};
  return F && F->getIdentifier() && Names.contains(F->getName());
}

class CollectVisitor : public RecursiveASTVisitor<CollectVisitor> {
public:
  CollectVisitor(ASTContext &Context, Preprocessor &PP, UnitFacts &Facts)
      : S(Context), PP(PP), Facts(Facts) {}

  void run() {
    for (const Decl *D : S.Context.getTranslationUnitDecl()->decls())
      nameAnonymous(D);
    TraverseDecl(S.Context.getTranslationUnitDecl());
    for (const Expr *Leaf : Leaves)
      if (!Resolved.contains(Leaf))
        escape(leafNode(Leaf), "unknown-use", "is used in a way that is not followed",
               Leaf->getExprLoc());
    for (const CallExpr *Call : UntypedCalls)
      if (!Resolved.contains(Call))
        escape(resultNode(nodeFor(Call->getDirectCallee(), S)), "unknown-use",
               "is used in a way that is not followed", Call->getExprLoc());
    for (const DeclRefExpr *Use : UntypedUses)
      if (!Resolved.contains(Use))
        escapeOnce(nodeFor(Use->getDecl(), S), "unknown-use",
                   "is used in a way that is not followed", Use->getExprLoc());
  }

  // --- Declarations -----------------------------------------------------------------------

  bool TraverseFunctionDecl(FunctionDecl *F) {
    const FunctionDecl *Outer = CurrentFunction;
    Function *OuterFacts = CurrentFacts;
    if (F->doesThisDeclarationHaveABody()) {
      CurrentFunction = F;
      Function Record;
      Record.Node = nodeFor(F, S);
      Record.Name = F->getNameAsString();
      Record.At = S.shown(F->getLocation());
      Record.Defined = true;
      if (F->hasExternalFormalLinkage())
        recordCallbacks(F, Record);
      size_t FirstSite = Facts.Sites.size();
      CurrentFacts = &Record;
      RecursiveASTVisitor::TraverseFunctionDecl(F);
      Record.Touched = touchedLines(F->getBody(), S, [](const Stmt *) { return false; });
      Record.Wraps = wrapper(F, FirstSite);
      if (Record.Wraps && Record.Wraps->Computed)
        for (const FunctionDecl *Declared : F->redecls())
          if (std::optional<Prototype> P = computedPrototype(Declared, *Record.Wraps, S))
            Record.Prototypes.push_back(*P);
      Facts.Functions.push_back(std::move(Record));
    } else {
      RecursiveASTVisitor::TraverseFunctionDecl(F);
    }
    CurrentFunction = Outer;
    CurrentFacts = OuterFacts;
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    recordPrototype(F);
    if (syncType(F->getReturnType()) != SyncType::None && !S.inSystemHeader(F->getLocation()))
      declare(F, resultNode(nodeFor(F, S)), DeclarationKind::Result, F->getReturnType(),
              F->getFunctionTypeLoc() ? F->getFunctionTypeLoc().getReturnLoc() : TypeLoc());
    return true;
  }

  bool VisitVarDecl(VarDecl *V) {
    if (const auto *Cleanup = V->getAttr<CleanupAttr>(); Cleanup && CurrentFacts)
      CurrentFacts->Calls.push_back({nodeFor(Cleanup->getFunctionDecl(), S),
                                     Cleanup->getFunctionDecl()->getNameAsString(),
                                     S.shown(V->getLocation())});
    if (syncType(V->getType()) == SyncType::None) {
      if (V->hasInit() && isUntyped(V))
        flowUntyped(V->getInit(), nodeFor(V, S), Flow::Initialiser);
      else if (V->hasInit() && V->isThisDeclarationADefinition())
        initialise(V->getType(), V->getInit(), "");
      return true;
    }
    if (S.inSystemHeader(V->getLocation())) {
      escape(nodeFor(V, S), "outside", "is declared by a library", V->getLocation());
      return true;
    }
    DeclarationKind Kind = DeclarationKind::Local;
    if (isa<ParmVarDecl>(V))
      Kind = DeclarationKind::Parameter;
    else if (V->isStaticLocal())
      Kind = DeclarationKind::StaticLocal;
    else if (V->isFileVarDecl() || V->hasExternalStorage())
      Kind = V->getFormalLinkage() == Linkage::Internal ? DeclarationKind::Static
                                                        : DeclarationKind::Global;
    std::string Node = nodeFor(V, S);
    declare(V, Node, Kind, V->getType(),
            V->getTypeSourceInfo() ? V->getTypeSourceInfo()->getTypeLoc() : TypeLoc());
    if (V->hasInit())
      initialise(V->getType(), V->getInit(), Node);
    return true;
  }

  bool VisitFieldDecl(FieldDecl *F) {
    if (syncType(F->getType()) == SyncType::None || S.inSystemHeader(F->getLocation()))
      return true;
    declare(F, nodeFor(F, S), DeclarationKind::Field, F->getType(),
            F->getTypeSourceInfo()->getTypeLoc());
    return true;
  }

  bool VisitTypedefNameDecl(TypedefNameDecl *T) {
    if (syncType(T->getUnderlyingType()) == SyncType::None || S.inSystemHeader(T->getLocation()))
      return true;
    declare(T, nodeFor(T, S), DeclarationKind::Typedef, T->getUnderlyingType(),
            T->getTypeSourceInfo()->getTypeLoc());
    return true;
  }

  // --- Leaves and what resolves them --------------------------------------------------------

  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *E) {
    return true; // sizeof does not evaluate its operand
  }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (auto *V = dyn_cast<VarDecl>(E->getDecl())) {
      if (syncType(V->getType()) != SyncType::None)
        Leaves.push_back(E);
      if (isUntyped(V))
        UntypedUses.push_back(E);
      if (V->getTLSKind() != VarDecl::TLS_None && CurrentFacts)
        CurrentFacts->IdentityUses.push_back(
            {"the thread-local variable '" + V->getNameAsString() + "'", S.shown(E->getExprLoc())});
    } else if (auto *F = dyn_cast<FunctionDecl>(E->getDecl()); F && !DirectCallees.contains(E)) {
      if (!S.inSystemHeader(E->getExprLoc()))
        takeAddress(F, functionTypeText(F->getType()));
      if (S.inSystemHeader(F->getLocation()))
        return true;
      Function Taken;
      Taken.Node = nodeFor(F, S);
      Taken.Name = F->getNameAsString();
      Taken.At = S.shown(E->getExprLoc());
      Taken.AddressTaken = true;
      Facts.Functions.push_back(std::move(Taken));
    }
    return true;
  }

  bool VisitMemberExpr(MemberExpr *E) {
    if (isa<FieldDecl>(E->getMemberDecl()) && syncType(E->getType()) != SyncType::None)
      Leaves.push_back(E);
    return true;
  }

  bool VisitStmtExpr(StmtExpr *E) {
    ValueBlocks.insert(E->getSubStmt());
    return true;
  }

  bool VisitCompoundStmt(CompoundStmt *Block) {
    for (const Stmt *Child : Block->body()) {
      bool IsValue = ValueBlocks.contains(Block) && Child == Block->body_back();
      if (const auto *Unused = dyn_cast<Expr>(Child); Unused && !IsValue)
        Resolved.insert(Unused->IgnoreParenCasts());
      if (const CallExpr *Call = soleCall(Child))
        WholeStatement.try_emplace(Call, Child); // the outermost one
    }
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee) {
      if (CurrentFacts)
        CurrentFacts->IndirectCalls.push_back(
            {S.shown(Call->getExprLoc()), functionTypeText(Call->getCallee()->getType())});
      for (const Expr *Argument : Call->arguments())
        if (syncType(Argument->getType()) != SyncType::None)
          escape(resolve(Argument), "indirect-call", "is passed through a function pointer",
                 Argument->getExprLoc());
      return true;
    }
    if (S.inSystemHeader(Callee->getLocation()) && Call->getType()->isFunctionPointerType())
      open(functionTypeText(Call->getType()));
    const auto *CalleeRef = dyn_cast<DeclRefExpr>(Call->getCallee()->IgnoreParenImpCasts());
    if (CalleeRef)
      DirectCallees.insert(CalleeRef);
    StringRef Name = Callee->getIdentifier() ? Callee->getName() : "";
    if (std::optional<LockFunction> Api = lockFunction(Name)) {
      lockCall(Call, CalleeRef, Name, *Api);
      return true;
    }
    if (Name.starts_with("pthread_mutexattr_") || Name.starts_with("pthread_condattr_")) {
      attributeCall(Call, Name);
      return true;
    }
    recordLockLike(Callee, Name);
    if (returnsUntyped(Callee))
      UntypedCalls.push_back(Call);
    std::string Node = nodeFor(Callee, S);
    if (CurrentFacts)
      recordCalls(Call, S, CurrentFacts->Calls, CurrentFacts->IndirectCalls);
    for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
      const Expr *Argument = Call->getArg(I);
      bool Bytes = takesBytes(Callee) &&
                   syncType(Argument->IgnoreParenImpCasts()->getType()) != SyncType::None;
      if (Bytes)
        resolve(Argument->IgnoreParenImpCasts());
      else if (syncType(Argument->getType()) == SyncType::None)
        passUntyped(Argument, Callee, I);
      else if (I < Callee->getNumParams())
        flow(resolve(Argument), parameterNode(Node, I), Flow::Argument, Argument->getExprLoc());
      else
        escape(resolve(Argument), "unknown-use", "is passed as a variable argument",
               Argument->getExprLoc());
    }
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *E) {
    if (E->isAssignmentOp())
      recordStore(E->getLHS(), "");
    if (E->getOpcode() == BO_Assign && syncType(E->getLHS()->getType()) != SyncType::None)
      flow(resolve(E->getRHS()), resolve(E->getLHS()), Flow::Assignment, E->getExprLoc());
    else if (const VarDecl *V = untypedVariable(E->getLHS()); V && E->getOpcode() == BO_Assign) {
      Resolved.insert(E->getLHS()->IgnoreParens());
      flowUntyped(E->getRHS(), nodeFor(V, S), Flow::Assignment);
    } else if (E->isComparisonOp() || E->isLogicalOp()) {
      const Expr *Left = E->getLHS()->IgnoreParenImpCasts(),
                 *Right = E->getRHS()->IgnoreParenImpCasts();
      Resolved.insert(Left), Resolved.insert(Right); // the address goes nowhere
      bool LeftSync = syncType(Left->getType()) != SyncType::None;
      bool RightSync = syncType(Right->getType()) != SyncType::None;
      std::string A = LeftSync ? resolve(Left) : "", B = RightSync ? resolve(Right) : "";
      if (E->isComparisonOp() && LeftSync && RightSync)
        flow(A, B, Flow::Comparison, E->getExprLoc());
    }
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *E) {
    if (E->isIncrementDecrementOp())
      recordStore(E->getSubExpr(), "");
    if (E->getOpcode() == UO_AddrOf)
      recordStore(E->getSubExpr(), "&");
    if (E->getOpcode() == UO_LNot)
      test(E->getSubExpr());
    return true;
  }
  bool VisitIfStmt(IfStmt *If) { return test(If->getCond()); }
  bool VisitWhileStmt(WhileStmt *While) { return test(While->getCond()); }
  bool VisitForStmt(ForStmt *For) { return !For->getCond() || test(For->getCond()); }
  bool VisitConditionalOperator(ConditionalOperator *E) { return test(E->getCond()); }

  bool VisitReturnStmt(ReturnStmt *Return) {
    const Expr *Value = Return->getRetValue();
    if (Value && CurrentFunction && returnsUntyped(CurrentFunction))
      returnUntyped(Value);
    if (Value && CurrentFunction && syncType(CurrentFunction->getReturnType()) != SyncType::None)
      flow(resolve(Value), resultNode(nodeFor(CurrentFunction, S)), Flow::Return,
           Value->getExprLoc());
    return true;
  }

  bool VisitCompoundLiteralExpr(CompoundLiteralExpr *E) {
    initialise(E->getType(), E->getInitializer(), "");
    return true;
  }

  bool VisitCastExpr(CastExpr *E) {
    const Expr *Sub = E->getSubExpr();
    if (S.inSystemHeader(E->getExprLoc()))
      return true; // what a library's own functions do with pointers is theirs
    if (E->getType()->isFunctionPointerType())
      castToFunction(E, Sub, functionTypeText(E->getType()));
    // Somebody may write to the pointer as to something else.
    QualType From = Sub->getType();
    if (E->getCastKind() == CK_BitCast && From->isPointerType() &&
        From->getPointeeType()->isFunctionPointerType())
      open(functionTypeText(From->getPointeeType()));
    return true;
  }

  // A struct that is handed on as bytes may be overwritten as a whole.
  bool VisitImplicitCastExpr(ImplicitCastExpr *E) {
    QualType From = E->getSubExpr()->getType();
    if (CurrentFacts && E->getCastKind() == CK_BitCast && E->getType()->isVoidPointerType() &&
        From->isPointerType())
      addStore(recordNode(From->getPointeeType(), S));
    return true;
  }

  // Statement forms that a delegated section cannot contain are found when its function is looked
  // at; here only what matters to callers.
  bool VisitGCCAsmStmt(GCCAsmStmt *Asm) {
    if (CurrentFacts)
      CurrentFacts->IdentityUses.push_back({"inline assembly", S.shown(Asm->getAsmLoc())});
    return true;
  }

private:
  Source S;
  Preprocessor &PP;
  UnitFacts &Facts;
  const FunctionDecl *CurrentFunction = nullptr;
  Function *CurrentFacts = nullptr;
  DenseMap<const RecordDecl *, std::string> AnonymousNames;
  std::vector<const Expr *> Leaves;
  StringSet<> OpenTypes, TakenFunctions, LockLikes; // that Facts has already
  std::vector<const CallExpr *> UntypedCalls;       // of functions that return `void *`
  std::vector<const DeclRefExpr *> UntypedUses; // of local variables and parameters of that type
  std::set<std::string> Told;                   // what is told once of them
  DenseSet<const Expr *> Resolved;
  DenseSet<const Expr *> DirectCallees;
  DenseSet<const Stmt *> ValueBlocks; // of statement expressions
  DenseMap<const CallExpr *, const Stmt *> WholeStatement;
  DenseMap<const CallExpr *, std::pair<const Expr *, std::string>> Operands;

  void addStore(std::string Node) {
    if (CurrentFacts && !Node.empty() && !is_contained(CurrentFacts->Stores, Node))
      CurrentFacts->Stores.push_back(std::move(Node));
  }

  void recordStore(const Expr *Target, StringRef Prefix) {
    const ValueDecl *D = storedDeclaration(Target);
    const auto *V = dyn_cast_or_null<VarDecl>(D);
    if (!CurrentFacts || (V && !V->hasGlobalStorage()))
      return;
    if (Prefix.empty())
      addStore(recordNode(Target->getType(), S));
    if (D && (V || isa<FieldDecl>(D)))
      addStore((Prefix + nodeFor(D, S)).str());
  }

  void flow(std::string From, std::string To, Flow::Kind How, SourceLocation At,
            bool Untyped = false) {
    if (From.empty() || To.empty() || From == To)
      return;
    bool IsText = How == Flow::Text || How == Flow::NamingText;
    Facts.Flows.push_back(
        {std::move(From), std::move(To), How, Untyped, IsText ? S.spelled(At) : S.shown(At)});
  }

  void escape(std::string Node, StringRef Code, const Twine &Message, SourceLocation At) {
    if (!Node.empty())
      Facts.Escapes.push_back({std::move(Node), Code.str(), Message.str(), S.shown(At)});
  }

  std::string leafNode(const Expr *Leaf) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Leaf))
      return nodeFor(Ref->getDecl(), S);
    return nodeFor(cast<MemberExpr>(Leaf)->getMemberDecl(), S);
  }

  bool test(const Expr *Condition) {
    const Expr *Tested = Condition ? Condition->IgnoreParenImpCasts() : nullptr;
    if (Tested)
      Resolved.insert(Tested);
    if (Tested && syncType(Tested->getType()) != SyncType::None)
      resolve(Tested);
    return true;
  }

  // --- Pointers to functions ----------------------------------------------------------------
  //
  // A call through a pointer reaches the functions whose address becomes a pointer of its type,
  // unless such pointers also come from where nobody looks: integers and `void *`, libraries, the
  // callers of a function that the program itself does not call.

  void open(std::string Type) {
    if (OpenTypes.insert(Type).second)
      Facts.OpenTypes.push_back(std::move(Type));
  }

  void takeAddress(const FunctionDecl *F, const std::string &Type) {
    if (TakenFunctions.insert(Type + "|" + nodeFor(F, S)).second)
      Facts.Taken.push_back({Type, nodeFor(F, S), F->getNameAsString()});
  }

  void castToFunction(const CastExpr *Cast, const Expr *Sub, const std::string &To) {
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
      else if (Sub->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
        return;
      else if (Sub->getType()->isFunctionPointerType())
        Facts.PointerCasts.push_back({functionTypeText(Sub->getType()), To});
      else
        open(To);
    }
  }

  void recordCallbacks(const FunctionDecl *F, Function &Record) {
    for (const ParmVarDecl *Parameter : F->parameters())
      if (Parameter->getType()->isFunctionPointerType())
        Record.Callbacks.push_back(functionTypeText(Parameter->getType()));
  }

  // --- Mutexes as `void *`: results, local variables and parameters ------------------------------

  bool returnsUntyped(const FunctionDecl *F) const {
    return F->getReturnType()->isVoidPointerType() && !S.inSystemHeader(F->getLocation());
  }

  bool isUntyped(const VarDecl *V) const {
    return V->getType()->isVoidPointerType() && V->hasLocalStorage() &&
           !S.inSystemHeader(V->getLocation());
  }

  const VarDecl *untypedVariable(const Expr *E) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenCasts());
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && isUntyped(V) ? V : nullptr;
  }

  // The node of what a `void *` points to, empty for null; nothing: where it comes from is not
  // followed.
  std::optional<std::string> resolveUntyped(const Expr *E) {
    const Expr *Inner = E->IgnoreParenCasts();
    if (E->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
      return "";
    if (const VarDecl *V = untypedVariable(Inner)) {
      Resolved.insert(Inner);
      return nodeFor(V, S);
    }
    const auto *Call = dyn_cast<CallExpr>(Inner);
    if (const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr; F && returnsUntyped(F)) {
      Resolved.insert(Call);
      return resultNode(nodeFor(F, S));
    }
    if (syncType(Inner->getType()) == SyncType::None || !Inner->getType()->isPointerType())
      return std::nullopt;
    return resolve(Inner);
  }

  void flowUntyped(const Expr *From, const std::string &To, Flow::Kind How) {
    if (std::optional<std::string> Node = resolveUntyped(From))
      flow(*Node, To, How, From->getExprLoc(), /*Untyped=*/true);
    else
      escapeOnce(To, "pointer-cast", "mixes with a pointer that is not followed",
                 From->getExprLoc());
  }

  void passUntyped(const Expr *Argument, const FunctionDecl *Callee, unsigned I) {
    if (I >= Callee->getNumParams() || !isUntyped(Callee->getParamDecl(I)))
      return;
    declareUntyped(Callee, parameterNode(nodeFor(Callee, S), I), DeclarationKind::Parameter);
    flowUntyped(Argument, parameterNode(nodeFor(Callee, S), I), Flow::Argument);
  }

  void returnUntyped(const Expr *Value) {
    if (syncType(Value->IgnoreParenCasts()->getType()) != SyncType::None)
      declareUntyped(CurrentFunction, resultNode(nodeFor(CurrentFunction, S)),
                     DeclarationKind::Result, Value->IgnoreParenCasts()->getType());
    flowUntyped(Value, resultNode(nodeFor(CurrentFunction, S)), Flow::Return);
  }

  // A declaration of its own, although its type does not name a mutex: F must be in the program.
  void declareUntyped(const FunctionDecl *F, const std::string &Node, DeclarationKind Kind,
                      QualType Pointer = {}) {
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

  void escapeOnce(const std::string &Node, StringRef Code, StringRef Message, SourceLocation At) {
    if (Told.insert(Node).second)
      escape(Node, Code, Message, At);
  }

  // The first argument that may be a lock: a pointer to an object that the function can change.
  void recordLockLike(const FunctionDecl *F, StringRef Name) {
    if (!looksLikeOperation(Name) || otherLock(Name) || !LockLikes.insert(Name).second)
      return;
    for (const ParmVarDecl *Parameter : F->parameters()) {
      QualType T = Parameter->getType();
      if (!T->isPointerType() || T->getPointeeType().isConstQualified() ||
          T->getPointeeType()->isAnyPointerType() || syncType(T) != SyncType::None ||
          !(T->getPointeeType()->isRecordType() || T->getPointeeType()->getAs<TypedefType>()))
        continue;
      Facts.LockLikes.push_back({nodeFor(F, S), Name.str(),
                                 T->getPointeeType().getUnqualifiedType().getAsString(),
                                 Parameter->getFunctionScopeIndex()});
      return;
    }
  }

  // A lock wrapper that other files call needs a companion that they can call too.
  void recordPrototype(const FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() || F->getNumParams() ||
        !F->getReturnType()->isVoidType() || S.inSystemHeader(F->getLocation()))
      return;
    std::optional<Source::Range> Range = S.range(F->getSourceRange());
    if (!Range || F->getEndLoc().isMacroID())
      return;
    size_t Semicolon = S.fileText(Range->File).find_first_not_of(" \t\n", Range->End);
    if (Semicolon == StringRef::npos || S.fileText(Range->File)[Semicolon] != ';')
      return;
    Function Record;
    Record.Node = nodeFor(F, S);
    Record.Name = F->getNameAsString();
    Record.At = S.shown(F->getLocation());
    Record.Prototypes.push_back({S.position(Range->File, Semicolon + 1), {}});
    Facts.Functions.push_back(std::move(Record));
  }

  // `static struct { pthread_mutex_t lock; } expiry;` makes `expiry.lock`.
  void nameAnonymous(const Decl *D) {
    if (const auto *Record = dyn_cast<RecordDecl>(D))
      for (const FieldDecl *Field : Record->fields())
        nameAnonymousType(Field->getType(), Record->getNameAsString(), Field);
    else if (const auto *V = dyn_cast<VarDecl>(D))
      nameAnonymousType(V->getType(), "", V);
  }

  void nameAnonymousType(QualType T, std::string Outer, const NamedDecl *User) {
    const auto *Type = T->getBaseElementTypeUnsafe()->getAs<RecordType>();
    const RecordDecl *Record = Type ? Type->getDecl() : nullptr;
    if (!Record || Record->getIdentifier() || Record->getTypedefNameForAnonDecl() ||
        !User->getIdentifier())
      return;
    std::string Name = (Outer.empty() ? "" : Outer + ".") + User->getNameAsString();
    AnonymousNames.try_emplace(Record, Name);
    for (const FieldDecl *Field : Record->fields())
      nameAnonymousType(Field->getType(), Name, Field);
  }

  // The name that a user would use for a declaration.
  std::string displayName(const NamedDecl *D) {
    std::string Name = D->getNameAsString();
    if (const auto *Field = dyn_cast<FieldDecl>(D)) {
      const RecordDecl *Record = Field->getParent();
      // An anonymous struct inside another is known by the outer one.
      while (Record->isAnonymousStructOrUnion())
        if (const auto *Outer = dyn_cast<RecordDecl>(Record->getDeclContext()))
          Record = Outer;
        else
          break;
      std::string Tag = Record->getNameAsString();
      if (Tag.empty() && Record->getTypedefNameForAnonDecl())
        Tag = Record->getTypedefNameForAnonDecl()->getNameAsString();
      if (Tag.empty())
        Tag = AnonymousNames.lookup(Record);
      return (Tag.empty() ? "struct" : Tag) + "." + Name;
    }
    const auto *V = dyn_cast<VarDecl>(D);
    if (V && V->getParentFunctionOrMethod())
      if (const auto *F = dyn_cast<FunctionDecl>(V->getParentFunctionOrMethod()))
        return F->getNameAsString() + "." + Name;
    return Name;
  }

  void declare(const NamedDecl *D, const std::string &Node, DeclarationKind Kind, QualType T,
               TypeLoc Spelled) {
    SyncType Type = syncType(T);
    bool Attribute = Type == SyncType::MutexAttribute || Type == SyncType::ConditionAttribute;
    if (!Attribute) {
      Declaration Record;
      Record.Node = Node;
      Record.Name = displayName(D);
      Record.Kind = Kind;
      Record.Condition = Type == SyncType::Condition;
      Record.Pointer = S.Context.getBaseElementType(T)->isPointerType();
      const auto *V = dyn_cast<VarDecl>(D);
      Record.Definition = !V || V->isThisDeclarationADefinition() != VarDecl::DeclarationOnly;
      Record.At = S.shown(D->getLocation());
      Facts.Declarations.push_back(std::move(Record));
      typeToken(Spelled, Node, D->getLocation());
    }
  }

  // The token that names the type: it must change with the declaration, and so must every other
  // declaration that shares it.
  void typeToken(TypeLoc Spelled, const std::string &Node, SourceLocation At) {
    while (Spelled) {
      if (auto Named = Spelled.getAs<TypedefTypeLoc>()) {
        const TypedefNameDecl *Typedef = Named.getTypedefNameDecl();
        if (!S.inSystemHeader(Typedef->getLocation()))
          return flow(Node, nodeFor(Typedef, S), Flow::Text, At);
        StringRef Name = Typedef->getName();
        if (!Name.starts_with("pthread_") || !S.editable(Named.getNameLoc()))
          break;
        sharedEdit(Named.getNameLoc(), Name.size(), relockName(Name), Node);
        return;
      }
      if (auto Pointer = Spelled.getAs<PointerTypeLoc>())
        Spelled = Pointer.getPointeeLoc();
      else if (auto Array = Spelled.getAs<ArrayTypeLoc>())
        Spelled = Array.getElementLoc();
      else if (auto Function = Spelled.getAs<FunctionTypeLoc>())
        Spelled = Function.getReturnLoc();
      else if (TypeLoc Next = Spelled.getNextTypeLoc(); Next && Next != Spelled)
        Spelled = Next; // qualifiers, parentheses, elaboration
      else
        break;
    }
    escape(Node, "type-spelling", "is declared with a type that is not spelled 'pthread_…_t'", At);
  }

  void edit(SourceLocation L, unsigned Length, std::string Text, const std::string &Node) {
    Facts.Edits.push_back({S.spelled(L), Length, std::move(Text), Node, Edit::Anywhere, ""});
  }

  // An edit of a token that other declarations or macro expansions may share.
  void sharedEdit(SourceLocation L, unsigned Length, std::string Text, const std::string &Node) {
    // Text that names a class can stand for one class only.
    bool NamesClass = Text.find("$CLASS") != std::string::npos;
    edit(L, Length, std::move(Text), Node);
    flow(Node, tokenNode(S.spelled(L)), NamesClass ? Flow::NamingText : Flow::Text, L);
  }

  // An object of that node is created by a file-scope or local initialiser.
  void initialise(QualType T, const Expr *Init, const std::string &Node) {
    if (!Init)
      return;
    SyncType Object = syncObject(T);
    if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Init->IgnoreParenImpCasts()))
      Init = Literal->getInitializer();
    const auto *List = dyn_cast<InitListExpr>(Init);
    if (!List) {
      if (syncType(T) != SyncType::None && !Node.empty())
        flow(resolve(Init), Node, Flow::Initialiser, Init->getExprLoc());
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
      return initialiser(List, Node);
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
    }
  }

  std::string fieldNode(const FieldDecl *Field) {
    return syncType(Field->getType()) == SyncType::None ? "" : nodeFor(Field, S);
  }

  // A static initialiser such as PTHREAD_MUTEX_INITIALIZER: find the name of the macro.
  void initialiser(const InitListExpr *List, const std::string &Node) {
    SourceLocation L = List->getLBraceLoc();
    if (L.isInvalid())
      L = List->getBeginLoc();
    while (L.isMacroID()) {
      StringRef Macro = Lexer::getImmediateMacroName(L, S.SM, S.Language);
      std::string Replacement = relockInitialiser(Macro);
      SourceLocation Name = S.SM.getImmediateExpansionRange(L).getBegin();
      if (!Replacement.empty()) {
        if (!S.editable(Name))
          break;
        // One macro body may serve several variables: then they are one class.
        if (S.inFile(Name))
          edit(Name, Macro.size(), Replacement, Node);
        else
          sharedEdit(Name, Macro.size(), Replacement, Node);
        return;
      }
      L = S.SM.isMacroArgExpansion(L) ? S.SM.getImmediateSpellingLoc(L) : Name;
    }
    // `= {0}` is valid for both types.
    bool Zero = all_of(List->inits(), [&](const Expr *E) {
      Expr::EvalResult Value;
      return isa<ImplicitValueInitExpr>(E) || isa<InitListExpr>(E) ||
             (E->EvaluateAsInt(Value, S.Context) && Value.Val.getInt() == 0);
    });
    if (!Zero || List->getBeginLoc().isMacroID())
      escape(Node, "initialiser", "has an initialiser that is not one of POSIX's",
             List->getBeginLoc());
  }

  // --- Lock calls ---------------------------------------------------------------------------

  void lockCall(const CallExpr *Call, const DeclRefExpr *CalleeRef, StringRef Name,
                const LockFunction &Api) {
    Site Record;
    Record.Kind = Api.Kind;
    Record.At = S.shown(Call->getExprLoc());
    Record.Spelled = S.spelled(Call->getExprLoc());
    Record.InMacro = !S.inFile(Call->getExprLoc());
    if (CurrentFunction) {
      Record.Function = CurrentFacts->Node;
      Record.FunctionAt = CurrentFacts->At;
      CurrentFacts->TakesLocks |= acquires(Api.Kind);
      CurrentFacts->Waits |= Api.Kind == Operation::Wait;
      Record.FunctionName = CurrentFacts->Name;
    }
    int Operand = Api.Mutex >= 0 ? Api.Mutex : Api.Companion;
    if (Call->getNumArgs() <= unsigned(Operand) || !CalleeRef)
      return;
    const Expr *Argument = Call->getArg(Operand);
    Record.Node = resolve(Argument);
    bool Waits = Api.Kind == Operation::Wait;
    bool Initialises = Api.Kind == Operation::Init || Api.Kind == Operation::CondInit;
    if (Waits) // a condition variable changes with the mutexes that are waited with
      flow(resolve(Call->getArg(Api.Companion)), Record.Node, Flow::Wait, Call->getExprLoc());
    if (Initialises)
      Record.Attribute = resolve(Call->getArg(1));
    if (Record.Node.empty()) {
      // Not an expression that we can follow: a class of its own, that is kept.
      Record.Node = "E:" + Record.At.File + ":" + std::to_string(Record.At.Offset);
      escape(Record.Node, "unknown-lock", "the lock operand is not followed", Call->getExprLoc());
    }
    if (Api.Kind == Operation::Unsupported)
      escape(Record.Node, "unsupported-operation",
             "is used with " + Name + ", which has no counterpart", Call->getExprLoc());
    renameCall(Call, CalleeRef, Name, Argument, Record.Node);
    Operands[Call] = {Argument, Record.Node};
    Facts.Sites.push_back(std::move(Record));
  }

  void sharedInsert(SourceLocation L, std::string Text, const std::string &Node) {
    if (S.editable(L))
      sharedEdit(L, 0, std::move(Text), Node);
    else
      escape(Node, "macro-text", "is initialised by text that no file has", L);
  }

  // The place where the function's name is spelled, or the whole invocation where a macro is just
  // another name for the function and takes the lock as its argument: such a macro may serve
  // locks that are converted and locks that are not.
  void renameCall(const CallExpr *Call, const DeclRefExpr *CalleeRef, StringRef Name,
                  const Expr *Operand, const std::string &Node) {
    SourceLocation L = CalleeRef->getLocation();
    if (!S.editable(L))
      return escape(Node, "macro-text", "is locked by text that no file has", L);
    if (S.inFile(L))
      edit(L, Name.size(), relockName(Name), Node);
    else if (S.inFile(operandLeafLocation(Operand)) && replaceInvocation(Call, L, Name, Node))
      return;
    else if (S.inFile(operandLeafLocation(Operand)) && initialiseAtUse(Call, L, Name, Node))
      return;
    else
      sharedEdit(L, Name.size(), relockName(Name), Node);
    if (Name == "pthread_mutex_init")
      sharedInsert(behindArguments(Call), ", RELOCK_CLASS($CLASS)", Node);
  }

  // Behind the last argument where a file has it, before the blanks that may follow; in a macro the
  // argument may stand elsewhere than the parenthesis.
  SourceLocation behindArguments(const CallExpr *Call) const {
    SourceLocation Close = Call->getRParenLoc();
    if (!Close.isFileID())
      return Close;
    SourceLocation Last = Call->getArg(Call->getNumArgs() - 1)->getEndLoc();
    return Lexer::getLocForEndOfToken(S.SM.getExpansionRange(Last).getEnd(), 0, S.SM, S.Language);
  }

  SourceLocation operandLeafLocation(const Expr *E) {
    E = E->IgnoreParenCasts();
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return operandLeafLocation(Unary->getSubExpr());
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
      return operandLeafLocation(Subscript->getBase());
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return Member->getMemberLoc();
    return E->getExprLoc();
  }

  bool replaceInvocation(const CallExpr *Call, SourceLocation Body, StringRef Name,
                         const std::string &Node) {
    const Stmt *Whole = Call;
    bool Statement = false;
    if (!exactInvocation(Call->getSourceRange())) {
      auto Found = WholeStatement.find(Call);
      if (Found == WholeStatement.end() || !exactInvocation(Found->second->getSourceRange()))
        return false;
      Whole = Found->second;
      Statement = true;
    }
    std::optional<Source::Range> Range = S.range(Whole->getSourceRange());
    if (!Range)
      return false;
    std::string Arguments = "(";
    for (unsigned I = 0; I < Call->getNumArgs(); ++I)
      Arguments += (I ? ", " : "") + argumentText(Call->getArg(I));
    bool Initialises = Name == "pthread_mutex_init";
    std::string Text =
        relockName(Name) + Arguments + (Initialises ? ", RELOCK_CLASS($CLASS))" : ")");
    StringRef After = S.fileText(Range->File).drop_front(Range->End).ltrim();
    if (Statement && !After.starts_with(";"))
      Text += ";";
    else if (!Initialises)
      keepArguments(*Range, Arguments + ")", Text);
    std::string Macro = tokenNode(S.spelled(Body));
    Facts.Edits.push_back({S.position(Range->File, Range->Begin), Range->End - Range->Begin, Text,
                           Node, Edit::AtUse, Macro});
    Facts.Edits.push_back(
        {S.spelled(Body), unsigned(Name.size()), relockName(Name), Node, Edit::InBody, Macro});
    if (Initialises) // other users of the macro get the default class
      Facts.Edits.push_back(
          {S.spelled(Call->getRParenLoc()), 0, ", NULL", Node, Edit::InBody, Macro});
    return true;
  }

  // Where the invocation has just these arguments, only its name has to change, and what in them
  // has to change too, such as the type in a cast, can.
  void keepArguments(Source::Range &Invocation, StringRef Arguments, std::string &Text) {
    auto WithoutBlanks = [](StringRef Written) {
      std::string Result = Written.str();
      erase_if(Result, [](char C) { return isSpace(C); });
      return Result;
    };
    StringRef Written = S.fileText(Invocation.File).slice(Invocation.Begin, Invocation.End);
    StringRef Macro = Written.take_front(Written.find('(')).rtrim();
    if (WithoutBlanks(Written.drop_front(Macro.size())) != WithoutBlanks(Arguments))
      return;
    Invocation.End = Invocation.Begin + Macro.size();
    Text.resize(Text.find('('));
  }

  // An initialisation names the class of its lock: where a macro that serves several classes does
  // more than to initialise, its use is written out.
  bool initialiseAtUse(const CallExpr *Call, SourceLocation Body, StringRef Name,
                       const std::string &Node) {
    SourceLocation Use = S.SM.getExpansionLoc(Body);
    SourceLocation Close = S.SM.getSpellingLoc(Call->getRParenLoc());
    std::optional<Source::Range> Range = S.range({Body, Body});
    if (Name != "pthread_mutex_init" || !Range || !S.editable(Close) ||
        operationsNamed(Use, S, PP) != 1)
      return false;
    std::optional<std::string> Text = expandOnce(
        Use, {{S.SM.getSpellingLoc(Body), relockName(Name)}, {Close, ", RELOCK_CLASS($CLASS))"}}, S,
        PP);
    if (!Text)
      return false;
    std::string Macro = tokenNode(S.spelled(Body));
    Facts.Edits.push_back({S.position(Range->File, Range->Begin), Range->End - Range->Begin, *Text,
                           Node, Edit::AtUse, Macro});
    Facts.Edits.push_back(
        {S.spelled(Body), unsigned(Name.size()), relockName(Name), Node, Edit::InBody, Macro});
    Facts.Edits.push_back(
        {S.spelled(Call->getRParenLoc()), 0, ", NULL", Node, Edit::InBody, Macro});
    return true;
  }

  std::string argumentText(const Expr *Argument) {
    if (Argument->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
      return "NULL";
    return S.expressionText(Argument->IgnoreParenImpCasts());
  }

  // True if the tokens are what one macro invocation in a file expands to, no more and no less
  // (a `;` at the end of the macro apart).
  bool exactInvocation(SourceRange Tokens) {
    SourceLocation Begin, End;
    if (Tokens.getBegin().isFileID() || Tokens.getEnd().isFileID() ||
        !Lexer::isAtStartOfMacroExpansion(Tokens.getBegin(), S.SM, S.Language, &Begin))
      return false;
    if (!Lexer::isAtEndOfMacroExpansion(Tokens.getEnd(), S.SM, S.Language, &End))
      return false;
    return Begin.isFileID() && End.isFileID() &&
           S.SM.getExpansionLoc(Tokens.getBegin()) == S.SM.getExpansionLoc(Tokens.getEnd());
  }

  void attributeCall(const CallExpr *Call, StringRef Name) {
    if (!Call->getNumArgs())
      return;
    std::string Node = resolve(Call->getArg(0));
    if (Call->getNumArgs() < 2)
      return;
    struct Restriction {
      StringRef Function;
      int Harmless;
      StringRef Code, Message;
    };
    static const Restriction Restrictions[] = {
        {"pthread_mutexattr_setpshared", PTHREAD_PROCESS_PRIVATE, "process-shared",
         "is shared between processes"},
        {"pthread_condattr_setpshared", PTHREAD_PROCESS_PRIVATE, "process-shared",
         "is shared between processes"},
        {"pthread_mutexattr_setrobust", PTHREAD_MUTEX_STALLED, "robust", "is robust"},
        {"pthread_mutexattr_setrobust_np", PTHREAD_MUTEX_STALLED, "robust", "is robust"},
        {"pthread_mutexattr_setprotocol", PTHREAD_PRIO_NONE, "priority", "has a priority protocol"},
        {"pthread_mutexattr_setprioceiling", -1, "priority", "has a priority ceiling"},
    };
    for (const Restriction &R : Restrictions) {
      if (Name != R.Function)
        continue;
      Expr::EvalResult Value;
      bool Known = Call->getArg(1)->EvaluateAsInt(Value, S.Context);
      if (!Known || Value.Val.getInt() != R.Harmless)
        escape(Node, R.Code, R.Message, Call->getExprLoc());
    }
  }

  // --- Resolving an expression to a node -----------------------------------------------------

  // The node of a mutex (or of what a pointer to one points to); empty for null and for fresh
  // memory. What cannot be followed becomes a node of its own, with an escape.
  std::string resolve(const Expr *E) {
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
      flow(True, False, Flow::Choice, E->getExprLoc());
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
          F && syncType(F->getReturnType()) != SyncType::None &&
          !S.inSystemHeader(F->getLocation()))
        return resultNode(nodeFor(F, S));
    if (const auto *Block = dyn_cast<StmtExpr>(E))
      if (const auto *Last = dyn_cast_or_null<Expr>(Block->getSubStmt()->body_back()))
        return resolve(Last);
    if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(E)) {
      std::string Node = "D:" + S.shown(E->getExprLoc()).File + ":" +
                         std::to_string(S.shown(E->getExprLoc()).Offset);
      typeToken(Literal->getTypeSourceInfo()->getTypeLoc(), Node, E->getExprLoc());
      initialise(Literal->getType(), Literal->getInitializer(), Node);
      return Node;
    }
    if (isa<InitListExpr>(E))
      return "";
    return opaque(E);
  }

  std::string resolveCast(const CastExpr *Cast) {
    const Expr *Sub = Cast->getSubExpr();
    if (Cast->getCastKind() == CK_NullToPointer ||
        Sub->isNullPointerConstant(S.Context, Expr::NPC_ValueDependentIsNull))
      return "";
    std::string Node;
    const Expr *Inner = Sub->IgnoreParenCasts();
    const auto *Call = dyn_cast<CallExpr>(Inner);
    bool SameType = syncType(Sub->getType()) == syncType(Cast->getType());
    if (Call && allocates(Call)) {
      // Fresh memory. `sizeof(pthread_mutex_t)` in the call belongs to what it is assigned to.
      Node = "A:" + S.shown(Call->getExprLoc()).File + ":" +
             std::to_string(S.shown(Call->getExprLoc()).Offset);
      for (const Expr *Argument : Call->arguments())
        sizeTokens(Argument, Node);
    } else if (Call && Call->getDirectCallee() && returnsUntyped(Call->getDirectCallee())) {
      Resolved.insert(Call);
      Node = resultNode(nodeFor(Call->getDirectCallee(), S));
      declareUntyped(Call->getDirectCallee(), Node, DeclarationKind::Result, Cast->getType());
    } else if (const VarDecl *V = untypedVariable(Sub)) {
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
        typeToken(Written->getTypeLoc(), Node, Explicit->getExprLoc());
    return Node;
  }

  void sizeTokens(const Stmt *E, const std::string &Node) {
    if (const auto *Size = dyn_cast<UnaryExprOrTypeTraitExpr>(E);
        Size && Size->isArgumentType() && syncType(Size->getArgumentType()) != SyncType::None)
      typeToken(Size->getArgumentTypeInfo()->getTypeLoc(), Node, Size->getExprLoc());
    for (const Stmt *Child : E->children())
      if (Child)
        sizeTokens(Child, Node);
  }

  std::string opaque(const Expr *E) {
    Position At = S.shown(E->getExprLoc());
    std::string Node = "E:" + At.File + ":" + std::to_string(At.Offset);
    escape(Node, "pointer-cast", "mixes with a pointer that is not followed", E->getExprLoc());
    return Node;
  }

  // --- Wrappers -----------------------------------------------------------------------------

  // A function whose only lock operation is one that its callers see: the lock is a global one or
  // is reached from a parameter.
  std::optional<Wrapper> wrapper(const FunctionDecl *F, size_t FirstSite) {
    if (Facts.Sites.size() != FirstSite + 1)
      return std::nullopt;
    Wrapper W;
    W.Kind = Facts.Sites[FirstSite].Kind;
    bool Waits = W.Kind == Operation::Wait;
    if (W.Kind != Operation::Lock && W.Kind != Operation::Unlock && !Waits)
      return std::nullopt;
    const auto *Body = dyn_cast<CompoundStmt>(F->getBody());
    const CallExpr *Call = nullptr;
    for (const Stmt *Child : Body->body())
      if (!Call)
        Call = topOperation(Child);
    if (!Call)
      return std::nullopt;
    auto [Operand, Node] = Operands[Call];
    if (untypedVariable(Operand))
      return std::nullopt; // callers cannot write the operand
    W.Node = Node;
    bool Dies = false; // as the runtime does, for a section of a mutex that checks errors
    W.Pure = onlyOperationOfBody(Body, Call, S.Context, 0, &Dies);
    W.Tests = W.Pure && !Dies && !soleOperation(Body, Call);
    if (Waits && !onlyWaits(Body, Call, W))
      return std::nullopt;
    if (!followOperand(Operand, F, W))
      return std::nullopt;
    W.Exported = F->hasExternalFormalLinkage() && !F->isInlined();
    W.Declared = F->getPreviousDecl() != nullptr;
    W.Common = F->isInlined() && !S.SM.isInMainFile(S.SM.getExpansionLoc(F->getLocation()));
    if (std::optional<Source::Range> Range = S.range(F->getSourceRange())) {
      W.Begin = S.position(Range->File, Range->Begin);
      W.End = S.position(Range->File, Range->End);
    }
    SmallPtrSet<const ValueDecl *, 4> Loaded;
    collectLoaded(Operand, Loaded, W.LoadsUnknown);
    for (const ValueDecl *D : Loaded)
      if (!isa<ParmVarDecl>(D))
        W.Loads.push_back(operandLoad(D, S));
    sort(W.Loads, [](const OperandLoad &A, const OperandLoad &B) { return A.Node < B.Node; });
    return W;
  }

  // How callers name the wrapper's operand: from one variable, or through a companion.
  bool followOperand(const Expr *Operand, const FunctionDecl *F, Wrapper &W) {
    const VarDecl *Base = operandBase(Operand);
    const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(Base);
    bool OneBase = Base && (Parameter || Base->hasGlobalStorage()) && !Base->isStaticLocal();
    bool Simple = OneBase && simpleOperand(Operand, Parameter);
    if (!Simple && W.Pure && W.Kind != Operation::Wait && isComputed(Operand, F, S))
      if (std::optional<std::string> Text = wholeText(Operand)) {
        W.Computed = true;
        W.Expression = *Text;
        W.Key = exactKey(Operand, F, S);
        describeComputed(Operand, F, S, W);
        return true;
      }
    if (!OneBase)
      return false;
    if (Parameter)
      W.Parameter = Parameter->getFunctionScopeIndex();
    else
      W.Variable = nodeFor(Base, S);
    W.Pure &= Simple; // else it cannot be named at a caller
    W.Expression = W.Key = lockKey(Operand, Parameter);
    return true;
  }

  // The text of an expression that a file has in one piece, perhaps as a use of a macro.
  std::optional<std::string> wholeText(const Expr *E) {
    CharSourceRange Range = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(E->getSourceRange()), S.SM, S.Language);
    if (Range.isInvalid())
      return std::nullopt;
    return Lexer::getSourceText(Range, S.SM, S.Language).str();
  }

  // True if the body tests nothing.
  static bool soleOperation(const CompoundStmt *Body, const CallExpr *Call) {
    const auto *Return = Body->size() == 1 ? dyn_cast<ReturnStmt>(Body->body_front()) : nullptr;
    return soleCall(Return ? cast<Stmt>(Return->getRetValue()) : Body) == Call;
  }

  // The lock operation that a statement of the body always performs, whatever it does besides.
  const CallExpr *topOperation(const Stmt *Statement) const {
    const CallExpr *Call = operationIn(Statement);
    if (const auto *Return = dyn_cast<ReturnStmt>(Statement))
      return Return->getRetValue() && soleCall(Return->getRetValue()) == Call ? Call : nullptr;
    const auto *Result = dyn_cast<DeclStmt>(Statement);
    bool Always = Call && (soleCall(Statement) == Call || (Result && Result->isSingleDecl()) ||
                           onlyOperation(Statement, Call, S.Context));
    return Always ? Call : nullptr;
  }

  // True if the function does nothing but to wait, and callers can name what it waits with. A timed
  // wait can end in time or not: its callers learn which, or it does not matter to them.
  bool onlyWaits(const CompoundStmt *Body, const CallExpr *Call, Wrapper &W) {
    bool Timed = Call->getNumArgs() > 2;
    if (!W.Pure || Call->getNumArgs() > 3 ||
        (Timed && !onlyOperationOfBody(Body, Call, S.Context, ETIMEDOUT)))
      return false;
    W.Condition = wrapperOperand(Call->getArg(0));
    if (Timed)
      W.Deadline = wrapperOperand(Call->getArg(2));
    return W.Condition && bool(W.Deadline) == Timed;
  }

  std::optional<WrapperOperand> wrapperOperand(const Expr *E) {
    const VarDecl *Base = operandBase(E);
    const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(Base);
    if (!Base || (!Parameter && !Base->hasGlobalStorage()) || Base->isStaticLocal() ||
        !simpleOperand(E, Parameter))
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
  bool simpleOperand(const Expr *E, const ParmVarDecl *Parameter) {
    E = E->IgnoreParens();
    while (const auto *Cast = dyn_cast<ImplicitCastExpr>(E)) {
      if (Cast->getCastKind() == CK_BitCast)
        return false; // the caller's text would have another type
      E = Cast->getSubExpr()->IgnoreParens();
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return (Unary->getOpcode() == UO_AddrOf || Unary->getOpcode() == UO_Deref) &&
             simpleOperand(Unary->getSubExpr(), Parameter);
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return simpleOperand(Member->getBase(), Parameter);
    return isa<DeclRefExpr>(E);
  }
};

std::string hashOf(StringRef Text) { return utohexstr(xxh3_64bits(Text)); }

} // namespace

UnitFacts collectUnit(const tooling::CompileCommand &Command,
                      std::vector<UnitDiagnostic> &Diagnostics) {
  UnitFacts Facts;
  Facts.MainFile = mainFile(Command);
  SkippedText Skipped;
  UnitActions Actions;
  Actions.Begin = [&](CompilerInstance &CI) { Skipped.watch(CI.getPreprocessor()); };
  Actions.End = [&](CompilerInstance &CI) {
    CollectVisitor(CI.getASTContext(), CI.getPreprocessor(), Facts).run();
    Source S(CI.getASTContext());
    Facts.Skipped = Skipped.lockSites(S, CI.getPreprocessor());
    const SourceManager &SM = CI.getSourceManager();
    for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It) {
      FileID File = SM.translateFile(It->first);
      if (File.isInvalid() || SM.isInSystemHeader(SM.getLocForStartOfFile(File)))
        continue;
      std::string Path = S.filePath(File);
      Facts.Dependencies.push_back({Path, hashOf(SM.getBufferData(File))});
      if (sys::path::filename(Path) == "relock_locks.h")
        Facts.LockTable = Path;
    }
    sort(Facts.Dependencies,
         [](const Dependency &A, const Dependency &B) { return A.File < B.File; });
  };
  Diagnostics = parseUnit(Command, Actions);
  return Facts;
}

} // namespace relock
