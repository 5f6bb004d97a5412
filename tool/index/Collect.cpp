// SPDX-License-Identifier: MIT
//
// One pass over the AST. Each expression that names a mutex or a condition variable is a *leaf*;
// each construct that we understand (a lock call, an assignment, an argument, …) resolves the
// leaves below it to nodes and records what flows where. A leaf that nothing has resolved at the
// end is used in a way that we do not understand, and its class is kept: nothing is skipped
// silently.
#include "index/Collect.h"

#include "index/Aliases.h"
#include "index/Cleanup.h"
#include "index/Configuration.h"
#include "index/ConstantArms.h"
#include "index/ConvertedLocks.h"
#include "index/DisplayNames.h"
#include "index/Dying.h"
#include "index/FactWriter.h"
#include "index/FunctionPointers.h"
#include "index/LockApi.h"
#include "index/LockEdits.h"
#include "index/Operand.h"
#include "index/Resolve.h"
#include "index/Skipped.h"
#include "index/Tested.h"
#include "index/Touched.h"
#include "index/Undefined.h"
#include "index/Wrappers.h"
#include "libraries/LibraryFunctions.h"
#include "support/Source.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace clang;
using namespace llvm;

namespace relock {
namespace {

// Library functions that take an object as `void *` and do not keep it.
bool takesBytes(const FunctionDecl *F) {
  static const StringSet<> Names = {"free",  "realloc",        "memset",
                                    "bzero", "explicit_bzero", "malloc_usable_size"};
  return F && F->getIdentifier() && Names.contains(F->getName());
}

// True for a function of this unit alone that nothing in it mentions, as headers have many: what it
// calls need not be anywhere. Used without being referenced: by an alias.
bool isInNoObjectFile(const FunctionDecl *F) {
  return F->getFormalLinkage() == Linkage::Internal && !F->isReferenced() && !F->isUsed() &&
         !F->hasAttr<UsedAttr>() && !F->hasAttr<ConstructorAttr>() && !F->hasAttr<DestructorAttr>();
}

class CollectVisitor : public RecursiveASTVisitor<CollectVisitor> {
public:
  CollectVisitor(ASTContext &Context, Preprocessor &PP, const SymbolVersions &Versions,
                 const Configurations &Texts, UnitFacts &Facts)
      : S(Context, &PP), Versions(Versions), Texts(Texts), Facts(Facts), Out(S, Facts),
        Pointers(S, Facts), Edits(Out, Texts), Nodes(Out, Edits), Undefined(S, Facts) {}

  void run() {
    TraverseDecl(S.Context.getTranslationUnitDecl());
    for (auto &[V, Class] : Converted)
      Facts.Converted.push_back(std::move(Class));
    for (const Expr *Leaf : Leaves)
      if (!Nodes.isResolved(Leaf))
        Out.escape(Nodes.leafNode(Leaf), "unknown-use", "is used in a way that is not followed",
                   Leaf->getExprLoc());
    for (const CallExpr *Call : UntypedCalls)
      if (!Nodes.isResolved(Call))
        Nodes.loseResult(Call);
    for (const DeclRefExpr *Use : UntypedUses)
      if (!Nodes.isResolved(Use))
        Nodes.escapeOnce(nodeFor(Use->getDecl(), S), "unknown-use",
                         "is used in a way that is not followed", Use->getExprLoc());
  }

  // Where a wrapper's text is what it is here, and where a companion can stand beside it.
  void recordPlace(const FunctionDecl *F, WrapperPlace &Place, bool HasCompanion,
                   Function &Record) const {
    if (std::optional<Source::Range> Whole = S.range(F->getSourceRange())) {
      std::optional<std::string> Configuration = Texts.of(*Whole, S);
      if (std::optional<Configurations::Alternatives> Others =
              Texts.alternativesOf(*Whole, F->getName(), S)) {
        Place.Behind = S.position(Whole->File, Others->End);
        Place.Alternative = Configuration == "";
        if (!Others->Condition)
          Configuration.reset();
        else if (Configuration)
          *Configuration =
              *Others->Condition + (Configuration->empty() ? "" : " && ") + *Configuration;
      }
      Place.Unclear = !Configuration;
      Place.Configuration = Configuration.value_or("");
    }
    if (HasCompanion)
      for (const FunctionDecl *Declared : F->redecls())
        if (std::optional<Prototype> P = computedPrototype(Declared, Place, S))
          Record.Prototypes.push_back(*P);
  }

  // --- Declarations -----------------------------------------------------------------------

  // What stands in `guarded_by(lock)` and its like is no use.
  bool TraverseAttr(Attr *) { return true; }

  bool TraverseFunctionDecl(FunctionDecl *F) {
    if (runsNowhere(F))
      return true;
    const FunctionDecl *Outer = CurrentFunction;
    Function *OuterFacts = CurrentFacts;
    bool OuterHasHandler = std::exchange(HasHandler, false);
    if (F->doesThisDeclarationHaveABody()) {
      CurrentFunction = F;
      BeforeEnd = callsBeforeEnd(F->getBody(), S.Context);
      Function Record = recordOf(F, F->getLocation());
      Record.Defined = true;
      if (!F->isWeak()) // else others may define it
        recordEnd(F, Record);
      if (F->hasExternalFormalLinkage())
        FunctionPointers::recordCallbacks(F, Record);
      size_t FirstSite = Facts.Sites.size();
      CurrentFacts = &Record;
      RecursiveASTVisitor::TraverseFunctionDecl(F);
      Record.Touched = touchedLines(
          F->getBody(), S, [&](const Stmt *Statement) { return UnrunArms.contains(Statement); });
      if (Facts.Sites.size() == FirstSite + 1 && !HasHandler) {
        Record.Wraps = findWrapper(F, Facts.Sites[FirstSite], Operands, Record.Calls, S);
        std::tie(Record.Releases, Record.OfRecord) =
            releasesArgument(F, Facts.Sites[FirstSite], Operands, S);
      } else if (Facts.Sites.size() == FirstSite && !HasHandler) {
        Record.Relays = findRelay(F, Operands, Record.Calls, S);
      }
      if (Facts.Sites.size() <= FirstSite + 1 && !HasHandler)
        Record.Forwards = findForward(F, Operands, S);
      if (Record.Wraps)
        recordPlace(F, *Record.Wraps, Record.Wraps->Computed || Record.Wraps->Body, Record);
      if (Record.Relays)
        recordPlace(F, *Record.Relays, Record.Relays->AsLock || Record.Relays->AsUnlock, Record);
      Facts.Functions.add(std::move(Record));
    } else {
      RecursiveASTVisitor::TraverseFunctionDecl(F);
    }
    CurrentFunction = Outer;
    CurrentFacts = OuterFacts;
    HasHandler = OuterHasHandler;
    return true;
  }

  // An inline function of a library's header that the unit does not use is in no object file.
  bool runsNowhere(const FunctionDecl *F) const {
    return F->doesThisDeclarationHaveABody() && F->getStorageClass() == SC_Static &&
           F->isInlineSpecified() && S.inSystemHeader(F->getLocation()) && !F->isReferenced() &&
           !F->hasAttr<UsedAttr>();
  }

  void recordEnd(const FunctionDecl *F, Function &Record) {
    Record.EndsProcess = endsProcess(F->getBody(), S.Context);
    Record.NeverReturns = neverReturns(F);
    if (const FunctionDecl *Last = lastCallee(F->getBody()))
      Record.LastCallee = nodeFor(Last, S);
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (const auto *Alias = F->getAttr<AliasAttr>())
      recordAlias(F->getName(), Alias->getAliasee(), F->getLocation());
    for (const SymbolVersions::Attribute &Version : Versions.of(F))
      recordAlias(Version.Name, F->getName(), Version.At);
    recordPrototype(F);
    recordNamesake(F);
    if (syncType(F->getReturnType()) != SyncType::None && !S.inSystemHeader(F->getLocation()))
      declare(F, resultNode(nodeFor(F, S)), DeclarationKind::Result, F->getReturnType(),
              F->getFunctionTypeLoc() ? F->getFunctionTypeLoc().getReturnLoc() : TypeLoc());
    return true;
  }

  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *Asm) {
    for (const VersionedName &Versioned : versionedNames(Asm))
      recordAlias(Versioned.Name, Versioned.Of, Asm->getLocation());
    return true;
  }

  bool VisitVarDecl(VarDecl *V) {
    if (std::optional<ConvertedClass> Known = convertedClass(V))
      Converted.insert({V->getCanonicalDecl(), *Known});
    Undefined.define(V);
    Pointers.initialise(V);
    if (const auto *Cleanup = V->getAttr<CleanupAttr>(); Cleanup && CurrentFacts) {
      FunctionDecl *F = Cleanup->getFunctionDecl();
      if (!blockOfCleanup(V)) // else it is what the block calls
        CurrentFacts->Calls.push_back(
            {nodeFor(F, S), F->getNameAsString(), S.shown(V->getLocation())});
      Undefined.use(F);
      Nodes.cleanUp(V, F);
      if (isUntyped(V, S))
        Nodes.escapeOnce(nodeFor(V, S), "unknown-use", "goes to a cleanup function",
                         V->getLocation());
      HasHandler |= syncType(V->getType()) != SyncType::None;
    }
    if (syncType(V->getType()) == SyncType::None) {
      if (V->hasInit() && isUntyped(V, S))
        Nodes.flowUntyped(V->getInit(), nodeFor(V, S), Flow::Initialiser);
      else if (V->hasInit() && V->isThisDeclarationADefinition()) {
        Nodes.initialise(V->getType(), V->getInit(), "");
        recordClassUses(V, V->getInit(), S, Facts);
      } else if (!V->hasInit() && !S.inSystemHeader(V->getLocation()))
        Edits.zeroFilled(V);
      return true;
    }
    if (S.inSystemHeader(V->getLocation())) {
      Out.escape(nodeOf(V), "outside", "is declared by a library", V->getLocation());
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
    std::string Node = nodeOf(V);
    declare(V, Node, Kind, V->getType(),
            V->getTypeSourceInfo() ? V->getTypeSourceInfo()->getTypeLoc() : TypeLoc());
    if (V->hasInit())
      Nodes.initialise(V->getType(), V->getInit(), Node);
    else
      Edits.zeroFilled(V);
    return true;
  }

  // The parameters of functions that pointers point to; those of declared functions have nodes of
  // their own.
  bool VisitFunctionProtoTypeLoc(FunctionProtoTypeLoc Type) {
    for (unsigned I = 0; I < Type.getNumParams(); ++I)
      if (const ParmVarDecl *P = Type.getParam(I);
          P && syncType(P->getType()) != SyncType::None && !isOfFunction(P))
        OfPointers[P] = pointerParameter(functionTypeText(QualType(Type.getTypePtr(), 0)), I);
    return true;
  }

  bool VisitFieldDecl(FieldDecl *F) {
    Pointers.declare(F);
    if (syncType(F->getType()) == SyncType::None || S.inSystemHeader(F->getLocation()))
      return true;
    declare(F, nodeFor(F, S), DeclarationKind::Field, F->getType(),
            F->getTypeSourceInfo()->getTypeLoc());
    return true;
  }

  bool VisitTypedefNameDecl(TypedefNameDecl *T) {
    if (syncType(T->getUnderlyingType()) == SyncType::None || S.inSystemHeader(T->getLocation()) ||
        isSyncName(T->getName()))
      return true;
    declare(T, nodeFor(T, S), DeclarationKind::Typedef, T->getUnderlyingType(),
            T->getTypeSourceInfo()->getTypeLoc());
    return true;
  }

  // --- What never runs ----------------------------------------------------------------------

  // Its text changes with the locks that it names; what it does, nobody does.
  bool dataTraverseStmtPre(Stmt *Statement) {
    for (const Stmt *Arm : unrunArms(Statement, S.Context))
      UnrunArms.insert(Arm);
    if (!Out.Unrun && UnrunArms.contains(Statement)) { // none within another one
      Out.Unrun = Statement;
      RunFacts = CurrentFacts;
      if (CurrentFacts) {
        UnrunFacts = recordOf(CurrentFunction, CurrentFunction->getLocation());
        CurrentFacts = &UnrunFacts;
      }
    }
    return true;
  }

  bool dataTraverseStmtPost(Stmt *Statement) {
    if (Out.Unrun == Statement) {
      Out.Unrun = nullptr;
      if (RunFacts)
        append_range(Facts.UnrunCalls, UnrunFacts.Calls);
      CurrentFacts = RunFacts;
    }
    return true;
  }

  // --- Leaves and what resolves them --------------------------------------------------------

  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *E) {
    return true; // sizeof does not evaluate its operand
  }
  bool TraverseTypeOfExprTypeLoc(TypeOfExprTypeLoc) { return true; } // nor does typeof

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (!CurrentFunction || !isInNoObjectFile(CurrentFunction))
      Undefined.use(E->getDecl());
    if (auto *V = dyn_cast<VarDecl>(E->getDecl())) {
      // The table itself names each of its classes.
      if (auto Known = Converted.find(V->getCanonicalDecl());
          Known != Converted.end() && !S.sameFile(E->getExprLoc(), V->getLocation()))
        Known->second.Used = true;
      if (syncType(V->getType()) != SyncType::None)
        Leaves.push_back(E);
      if (isUntyped(V, S))
        UntypedUses.push_back(E);
      if (V->getTLSKind() != VarDecl::TLS_None && CurrentFacts)
        CurrentFacts->IdentityUses.push_back(
            {"the thread-local variable '" + V->getNameAsString() + "'", S.shown(E->getExprLoc())});
    } else if (auto *F = dyn_cast<FunctionDecl>(E->getDecl()); F && !DirectCallees.contains(E)) {
      if (!S.inSystemHeader(E->getExprLoc()))
        Pointers.takeAddress(F, functionTypeText(F->getType()));
      giveToPointers(F, E->getExprLoc());
      if (S.inSystemHeader(F->getLocation()) && !F->isDefined()) // an inline one has a body
        return true;
      Function Taken = recordOf(F, E->getExprLoc());
      Taken.AddressTaken = true;
      Facts.Functions.add(std::move(Taken));
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
    visitHandler(Block);
    for (const Stmt *Child : Block->body()) {
      bool IsValue = ValueBlocks.contains(Block) && Child == Block->body_back();
      if (const auto *Unused = dyn_cast<Expr>(Child); Unused && !IsValue)
        Nodes.setResolved(Unused->IgnoreParenCasts());
      Edits.visitStatement(Child);
    }
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    Pointers.call(Call);
    if (!Callee) {
      if (CurrentFacts)
        recordCalls(Call, BeforeEnd.contains(Call), S, CurrentFacts->Calls,
                    CurrentFacts->IndirectCalls);
      const std::string Type = functionTypeText(Call->getCallee()->getType());
      for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
        const Expr *Argument = Call->getArg(I);
        if (syncType(Argument->getType()) == SyncType::None)
          continue;
        std::string Lock = Nodes.resolve(Argument);
        if (I < parameterCount(Call->getCallee()->getType()))
          Out.flow(Lock, pointerParameter(Type, I), Flow::Argument, Argument->getExprLoc());
        else
          Out.escape(Lock, "indirect-call", "is passed through a function pointer",
                     Argument->getExprLoc());
      }
      return true;
    }
    if (S.inSystemHeader(Callee->getLocation()) && Call->getType()->isFunctionPointerType())
      Pointers.open(functionTypeText(Call->getType()));
    const auto *CalleeRef = dyn_cast<DeclRefExpr>(Call->getCallee()->IgnoreParenImpCasts());
    if (CalleeRef)
      DirectCallees.insert(CalleeRef);
    StringRef Name = Callee->getIdentifier() ? Callee->getName() : "";
    if (std::optional<LockFunction> Api = lockFunction(Name)) {
      lockCall(Call, CalleeRef, Name, *Api);
      return true;
    }
    if (Name == "relock_mutex_init")
      recordClassUse(Call, S, Facts);
    if (Name.starts_with("pthread_mutexattr_") || Name.starts_with("pthread_condattr_")) {
      attributeCall(Call, Name);
      return true;
    }
    recordLockLike(Callee, Name);
    if (returnsUntyped(Callee, S))
      UntypedCalls.push_back(Call);
    Nodes.allocateTo(Call);
    std::string Node = nodeFor(Callee, S);
    if (CurrentFacts)
      recordCalls(Call, BeforeEnd.contains(Call), S, CurrentFacts->Calls,
                  CurrentFacts->IndirectCalls);
    LockCall Given;
    Given.Nodes.resize(Call->getNumArgs());
    for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
      const Expr *Argument = Call->getArg(I);
      const Expr *Value = isPrinted(Callee, I) ? Argument->IgnoreParenCasts()
                          : takesBytes(Callee) ? Argument->IgnoreParenImpCasts()
                                               : nullptr;
      if (Value && syncType(Value->getType()) != SyncType::None)
        Nodes.resolve(Value); // the address goes nowhere
      else if (Value && untypedVariable(Value, S))
        Nodes.setResolved(Value->IgnoreParenCasts());
      else if (syncType(Argument->getType()) == SyncType::None)
        Nodes.passUntyped(Argument, Callee, I);
      else if (I < Callee->getNumParams())
        Out.flow(Given.Nodes[I] = Nodes.resolve(Argument), parameterNode(Node, I), Flow::Argument,
                 Argument->getExprLoc());
      else
        Out.escape(Nodes.resolve(Argument), "unknown-use", "is passed as a variable argument",
                   Argument->getExprLoc());
    }
    if (any_of(Given.Nodes, [](const std::string &Lock) { return !Lock.empty(); })) {
      Given.Callee = Node;
      Given.Function = CurrentFacts ? CurrentFacts->Node : "";
      Edits.called(Call, std::move(Given));
    }
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *E) {
    if (E->isAssignmentOp())
      recordStore(E->getLHS(), "");
    Pointers.assign(E);
    if (E->getOpcode() == BO_Assign && syncType(E->getLHS()->getType()) != SyncType::None)
      Out.flow(Nodes.resolve(E->getRHS()), Nodes.resolve(E->getLHS()), Flow::Assignment,
               E->getExprLoc());
    else if (const VarDecl *V = untypedVariable(E->getLHS(), S); V && E->getOpcode() == BO_Assign) {
      Nodes.setResolved(E->getLHS()->IgnoreParens());
      Nodes.flowUntyped(E->getRHS(), nodeFor(V, S), Flow::Assignment);
    } else if (E->isComparisonOp() || E->isLogicalOp()) {
      const Expr *Left = E->getLHS()->IgnoreParenImpCasts(),
                 *Right = E->getRHS()->IgnoreParenImpCasts();
      Nodes.setResolved(Left), Nodes.setResolved(Right); // the address goes nowhere
      bool LeftSync = syncType(Left->getType()) != SyncType::None;
      bool RightSync = syncType(Right->getType()) != SyncType::None;
      std::string A = LeftSync ? Nodes.resolve(Left) : "",
                  B = RightSync ? Nodes.resolve(Right) : "";
      if (E->isComparisonOp() && LeftSync && RightSync)
        Out.flow(A, B, Flow::Comparison, E->getExprLoc());
    }
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *E) {
    if (E->isIncrementDecrementOp())
      recordStore(E->getSubExpr(), "");
    if (E->getOpcode() == UO_AddrOf) {
      recordStore(E->getSubExpr(), "&");
      Pointers.addressOf(E->getSubExpr()->IgnoreParens());
    }
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
    if (Value && CurrentFunction)
      Pointers.returned(CurrentFunction, Value);
    if (Value && CurrentFunction && returnsUntyped(CurrentFunction, S))
      Nodes.returnUntyped(CurrentFunction, Value);
    if (Value && CurrentFunction && syncType(CurrentFunction->getReturnType()) != SyncType::None)
      Out.flow(Nodes.resolve(Value), resultNode(nodeFor(CurrentFunction, S)), Flow::Return,
               Value->getExprLoc());
    return true;
  }

  bool VisitCompoundLiteralExpr(CompoundLiteralExpr *E) {
    Pointers.initialise(E);
    Nodes.initialise(E->getType(), E->getInitializer(), "");
    return true;
  }

  bool VisitAtomicExpr(AtomicExpr *E) {
    Pointers.atomic(E);
    return true;
  }

  bool VisitArraySubscriptExpr(ArraySubscriptExpr *E) {
    Pointers.subscript(E);
    return true;
  }

  bool VisitCastExpr(CastExpr *E) {
    if (!S.inSystemHeader(E->getExprLoc()))
      Pointers.cast(E); // what a library's own functions do with pointers is theirs
    if (E->getCastKind() == CK_PointerToIntegral)
      Nodes.becomesInteger(E->getSubExpr());
    if (const Expr *Dropped = E->getSubExpr()->IgnoreParenCasts();
        E->getCastKind() == CK_ToVoid) { // `(void)&lock`
      Nodes.setResolved(Dropped);
      if (syncType(Dropped->getType()) != SyncType::None)
        Nodes.resolve(Dropped);
    }
    const QualType From = E->getSubExpr()->getType(), To = E->getType();
    if (E->getCastKind() == CK_BitCast || E->getCastKind() == CK_PointerToIntegral ||
        E->getCastKind() == CK_IntegralToPointer)
      for (QualType T : {From, To})
        escapeOther(T, T == From ? To : From, E->getExprLoc());
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

  bool VisitStmt(Stmt *Any) {
    const auto *E = dyn_cast<Expr>(Any);
    if (CurrentFacts)
      CurrentFacts->UsesFloat |= E ? isFloat(E->getType()) : isa<AsmStmt>(Any);
    return true;
  }

private:
  const Source S;
  const SymbolVersions &Versions;
  const Configurations &Texts;
  UnitFacts &Facts;
  FactWriter Out;
  FunctionPointers Pointers;
  LockEdits Edits;
  Resolver Nodes;
  UndefinedUses Undefined;
  const FunctionDecl *CurrentFunction = nullptr;
  Function *CurrentFacts = nullptr;
  bool HasHandler = false; // the function has one that runs when a scope is left
  std::vector<const Expr *> Leaves;
  StringSet<> LockLikes;                        // that Facts has already
  std::vector<const CallExpr *> UntypedCalls;   // of functions that return `void *`
  std::vector<const DeclRefExpr *> UntypedUses; // of local variables and parameters of that type
  DenseSet<const Expr *> DirectCallees;
  DenseSet<const CallExpr *> BeforeEnd; // of the function's calls, see callsBeforeEnd()
  DenseSet<const Stmt *> ValueBlocks;   // of statement expressions
  DenseMap<const ParmVarDecl *, std::string> OfPointers; // nodes, see pointerParameter()
  LockOperands Operands;
  MapVector<const VarDecl *, ConvertedClass> Converted;
  DenseSet<const Stmt *> UnrunArms;
  Function *RunFacts = nullptr; // those of the function, while CurrentFacts are UnrunFacts
  Function UnrunFacts;          // of an arm that never runs

  // --- Functions that pointers point to ------------------------------------------------------
  //
  // Those of one type that take the address of a lock are taken for one function: whatever is
  // given to one of them may reach each other one whose address is taken.

  static bool isOfFunction(const ParmVarDecl *P) {
    const auto *F = dyn_cast<FunctionDecl>(P->getDeclContext());
    return F && is_contained(F->parameters(), P);
  }

  static unsigned parameterCount(QualType Callee) {
    const auto *Type = functionType(Callee);
    return Type ? Type->getNumParams() : 0;
  }

  // Of the function, or of what a pointer points to; null: it has no prototype, or is no function.
  static const FunctionProtoType *functionType(QualType T) {
    return (T->isAnyPointerType() ? T->getPointeeType() : T)->getAs<FunctionProtoType>();
  }

  std::string nodeOf(const VarDecl *V) const {
    const auto *P = dyn_cast<ParmVarDecl>(V);
    auto Known = P ? OfPointers.find(P) : OfPointers.end();
    return Known != OfPointers.end() ? Known->second : nodeFor(V, S);
  }

  void giveToPointers(const FunctionDecl *F, SourceLocation At) {
    const std::string Type = functionTypeText(F->getType());
    for (const ParmVarDecl *P : F->parameters()) {
      if (syncType(P->getType()) == SyncType::None)
        continue;
      const unsigned I = P->getFunctionScopeIndex();
      if (S.inSystemHeader(F->getLocation()))
        Out.escape(pointerParameter(Type, I), "indirect-call",
                   "reaches '" + F->getNameAsString() + "', whose address is taken", At);
      else
        Out.flow(parameterNode(nodeFor(F, S), I), pointerParameter(Type, I), Flow::Argument, At);
    }
  }

  // A pointer to functions of the type T becomes something else, or is made of it.
  void escapeOther(QualType T, QualType Other, SourceLocation At) {
    const FunctionProtoType *Type = T->isAnyPointerType() ? functionType(T) : nullptr;
    const std::string Text = Type ? functionTypeText(T) : "";
    if (!Type || Text == functionTypeText(Other))
      return;
    for (unsigned I = 0; I < Type->getNumParams(); ++I)
      if (syncType(Type->getParamType(I)) != SyncType::None)
        Out.escape(pointerParameter(Text, I), "indirect-call",
                   "reaches a function through a pointer whose type is converted", At);
  }

  // Another name of a function of this unit: as if it were a function that calls it.
  void recordAlias(StringRef Name, StringRef Of, SourceLocation At) {
    auto Function = [&](StringRef Known) -> const FunctionDecl * {
      auto Found = S.Context.getTranslationUnitDecl()->lookup(&S.Context.Idents.get(Known));
      return Found.empty() ? nullptr : dyn_cast<FunctionDecl>(Found.front());
    };
    const FunctionDecl *F = Function(Of), *Declared = Function(Name);
    if (!F || Of == Name)
      return;
    relock::Function Record;
    Record.Node = Declared ? nodeFor(Declared, S) : nodeOfFunction(Name);
    Record.Name = Name.str();
    Record.At = S.shown(At);
    Record.Defined = Record.Alias = true;
    Record.Calls.push_back({nodeFor(F, S), F->getNameAsString(), S.shown(At)});
    FunctionPointers::recordCallbacks(F, Record);
    Nodes.alias(Record.Node, F, At);
    Pointers.alias(Record.Node, F);
    Facts.Functions.add(std::move(Record));
  }

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

  bool test(const Expr *Condition) {
    const Expr *Tested = Condition ? Condition->IgnoreParenImpCasts() : nullptr;
    if (Tested)
      Nodes.setResolved(Tested);
    if (Tested && syncType(Tested->getType()) != SyncType::None)
      Nodes.resolve(Tested);
    return true;
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
  Function recordOf(const FunctionDecl *F, SourceLocation At) const {
    Function Record;
    Record.Node = nodeFor(F, S);
    Record.Name = F->getNameAsString();
    Record.At = S.shown(At);
    return Record;
  }

  void recordPrototype(const FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() || F->getNumParams() ||
        !F->getReturnType()->isVoidType() || S.inSystemHeader(F->getLocation()))
      return;
    std::optional<Source::Range> Range = S.range(F->getSourceRange());
    if (!Range || F->getEndLoc().isMacroID())
      return;
    std::optional<unsigned> Behind = behindDeclaration(*Range, S);
    if (!Behind)
      return;
    Function Record = recordOf(F, F->getLocation());
    Record.Prototypes.push_back({S.position(Range->File, *Behind), {}});
    Facts.Functions.add(std::move(Record));
  }

  void recordNamesake(const FunctionDecl *F) {
    if (!F->getIdentifier() || F->isDefined() || F->getBuiltinID() ||
        S.SM.isInMainFile(F->getLocation()) || !libraryFunction(F->getName()) ||
        isOfRuntime(F, S) || any_of(F->redecls(), [&](const FunctionDecl *Declared) {
          return S.inSystemHeader(Declared->getLocation());
        }))
      return;
    Function Record = recordOf(F, F->getLocation());
    Record.Namesake = true;
    Facts.Functions.add(std::move(Record));
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
      Edits.typeToken(Spelled, Node, D->getLocation());
    }
  }

  // --- Lock calls ---------------------------------------------------------------------------

  std::string nodeOfOperand(const Expr *Operand) {
    return isConvertedOperand(Operand) ? Nodes.unconverted(Operand) : Nodes.resolve(Operand);
  }

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
    Record.Node = nodeOfOperand(Argument);
    bool Waits = Api.Kind == Operation::Wait;
    bool Initialises = Api.Kind == Operation::Init || Api.Kind == Operation::CondInit;
    if (Waits) // a condition variable changes with the mutexes that are waited with
      Out.flow(nodeOfOperand(Call->getArg(Api.Companion)), Record.Node, Flow::Wait,
               Call->getExprLoc());
    if (Api.Kind == Operation::Init && isConvertedOperand(Argument)) {
      const ValueDecl *Lock = convertedLock(Argument);
      Facts.LateInits.push_back({Record.Node, Lock ? nodeFor(Lock, S) : "",
                                 Lock ? displayName(Lock) : "", S.shown(Call->getExprLoc())});
    }
    if (Initialises)
      Record.Attribute = Nodes.resolve(Call->getArg(1));
    if (Record.Node.empty())
      Record.Node = Nodes.opaque(Argument); // a null pointer
    if (Api.Kind == Operation::Unsupported)
      Out.escape(Record.Node, "unsupported-operation",
                 "is used with " + Name + ", which has no counterpart", Call->getExprLoc());
    Edits.renameCall(Call, CalleeRef, Name, Argument, Record.Node);
    if (Out.Unrun) {
      if (CurrentFacts)
        CurrentFacts->Calls.push_back({nodeFor(Call->getDirectCallee(), S), Name.str(), Record.At});
      return;
    }
    Operands[Call] = {Argument, Record.Node};
    Facts.Sites.push_back(std::move(Record));
  }

  // pthread_cleanup_push() of the GNU C library begins a block, in which it keeps the routine and
  // its argument in variables of these names, or with -fexceptions in the members of one.
  void visitHandler(const CompoundStmt *Block) {
    const Expr *Routine = nullptr;
    for (const Stmt *Child : Block->body()) {
      const auto *Declared = dyn_cast<DeclStmt>(Child);
      const auto *V = Declared && Declared->isSingleDecl()
                          ? dyn_cast<VarDecl>(Declared->getSingleDecl())
                          : nullptr;
      if (!V || !V->hasInit() || !S.inSystemHeader(V->getLocation()))
        continue;
      const auto *List = dyn_cast<InitListExpr>(V->getInit());
      if (V->getName() == "__cancel_routine")
        Routine = V->getInit();
      else if (V->getName() == "__cancel_arg" && Routine)
        pushHandler(Routine, V->getInit());
      else if (V->getName() == "__clframe" && List && List->getNumInits() >= 2)
        pushHandler(List->getInit(0), List->getInit(1));
    }
  }

  // The thread calls the routine with the argument when the scope ends, or when it is cancelled.
  void pushHandler(const Expr *Routine, const Expr *Argument) {
    HasHandler = true;
    const Expr *Lock = Argument->IgnoreParenCasts();
    const auto *Ref = dyn_cast<DeclRefExpr>(Routine->IgnoreParenCasts());
    const auto *F = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
    if (!F || !F->getIdentifier() || !CurrentFacts)
      return;
    std::optional<LockFunction> Api = lockFunction(F->getName());
    bool Own = !S.inSystemHeader(F->getLocation());
    if (Own)
      CurrentFacts->Calls.push_back(
          {nodeFor(F, S), F->getNameAsString(), S.shown(Routine->getExprLoc())});
    if (syncType(Lock->getType()) == SyncType::None && !isConvertedOperand(Lock))
      return;
    if (Api && Api->Kind == Operation::Unlock) {
      Edits.renameHandler(Ref, F->getName(), nodeOfOperand(Lock));
    } else if (isConvertedOperand(Lock)) {
      return;
    } else if (Own && F->getNumParams() == 1) {
      DirectCallees.insert(Ref); // no other call of it comes from here
      LockCall Given;
      Given.Callee = nodeFor(F, S);
      Given.Nodes = {Nodes.handOn(Lock, F)};
      Given.Function = CurrentFacts->Node;
      Edits.calledLater(Ref, std::move(Given));
    }
  }

  void attributeCall(const CallExpr *Call, StringRef Name) {
    if (!Call->getNumArgs())
      return;
    std::string Node = Nodes.resolve(Call->getArg(0));
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
    Expr::EvalResult Value;
    bool Known = Call->getArg(1)->EvaluateAsInt(Value, S.Context);
    if (Name == "pthread_mutexattr_settype" &&
        !(Known && Value.Val.getInt() != PTHREAD_MUTEX_ERRORCHECK))
      Out.escape(Node, "ignored-error", "may check errors", Call->getExprLoc());
    for (const Restriction &R : Restrictions) {
      if (Name != R.Function)
        continue;
      if (!Known || Value.Val.getInt() != R.Harmless)
        Out.escape(Node, R.Code, R.Message, Call->getExprLoc());
    }
  }
};

std::string hashOf(StringRef Text) { return utohexstr(xxh3_64bits(Text)); }

} // namespace

// What is known of any text.
static void recordText(CompilerInstance &CI, const SkippedText &Skipped, UnitFacts &Facts) {
  Source S(CI.getASTContext());
  append_range(Facts.Skipped,
               Skipped.lockSites(S, CI.getPreprocessor(), Facts.Broken ? nullptr : &Facts.Sites));
  const SourceManager &SM = CI.getSourceManager();
  std::vector<Dependency> Read;
  for (auto It = SM.fileinfo_begin(); It != SM.fileinfo_end(); ++It) {
    FileID File = SM.translateFile(It->first);
    if (File.isInvalid())
      continue;
    std::string Path = S.filePath(File);
    Read.push_back({Path, hashOf(SM.getBufferData(File))});
    if (sys::path::filename(Path) == "relock_locks.h")
      Facts.LockTable = Path;
  }
  sort(Read, [](const Dependency &A, const Dependency &B) { return A.File < B.File; });
  for (Dependency &D : Read)
    Facts.Dependencies.add(std::move(D));
}

// The identifiers of the text, its macros expanded, but for what headers of the system consist of.
static std::set<std::string> namesIn(const tooling::CompileCommand &Command) {
  std::set<std::string> Names;
  UnitActions Actions;
  Actions.Begin = [&](CompilerInstance &CI) {
    CI.getPreprocessor().setTokenWatcher([&Names, &SM = CI.getSourceManager()](const Token &T) {
      const IdentifierInfo *Name = T.isAnnotation() ? nullptr : T.getIdentifierInfo();
      if (Name && !SM.isInSystemHeader(SM.getExpansionLoc(T.getLocation())))
        Names.insert(Name->getName().str());
    });
  };
  parseUnit(Command, Actions);
  return Names;
}

UnitFacts collectUnit(const tooling::CompileCommand &Command,
                      std::vector<UnitDiagnostic> &Diagnostics) {
  UnitFacts Facts;
  Facts.MainFile = mainFile(Command);
  SkippedText Skipped;
  SymbolVersions Versions;
  Configurations Texts;
  UnitActions Actions;
  Actions.Begin = [&](CompilerInstance &CI) {
    Skipped.watch(CI.getPreprocessor());
    Versions.watch(CI.getPreprocessor());
    Texts.watch(CI.getPreprocessor());
  };
  Actions.End = [&](CompilerInstance &CI) {
    CollectVisitor(CI.getASTContext(), CI.getPreprocessor(), Versions, Texts, Facts).run();
    recordText(CI, Skipped, Facts);
  };
  Actions.EndWithErrors = [&](CompilerInstance &CI) {
    Facts.Broken = true;
    recordText(CI, Skipped, Facts);
  };
  Diagnostics = parseUnit(Command, Actions);
  if (Facts.Broken)
    Facts.Names = namesIn(Command);
  return Facts;
}

} // namespace relock
