// SPDX-License-Identifier: MIT
#include "section/Operations.h"

#include "index/ConstantArms.h"
#include "index/Dying.h"
#include "index/LocalNames.h"
#include "index/LockApi.h"
#include "index/Operand.h"
#include "index/Tested.h"
#include "section/Captures.h"
#include "section/Flow.h"
#include "section/Scope.h"

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "clang/Basic/CharInfo.h"

using namespace clang;
using namespace llvm;

namespace relock {

LockOperations::LockOperations(const FunctionDecl *F, const Source &S, const SiteIndex &Sites,
                               const ProgramView &Linked, const StringSet<> &Visible,
                               const ParentMap &Parents, StaticUses &Statics)
    : F(F), S(S), Sites(Sites), Linked(Linked), Visible(Visible), Parents(Parents),
      Statics(Statics) {
  collect(F->getBody());
  findMacros();
  findGuards();
  findUses();
  findScopes(cast<CompoundStmt>(F->getBody()), Parents, Linked, S, All);
  for (LockOperation &Op : All)
    if (Op.Scope)
      Op.Lock = operandText(withoutIdleCasts(Op.Scope->getInit())->IgnoreParenImpCasts());
}

void substitute(std::string &Text, const std::string &Argument) {
  size_t At = Text.find('$');
  if (At != std::string::npos)
    Text.replace(At, 1, Argument);
}

// True if members can be named in F behind an expression of that type: `->base.mutex` of a pointer
// to a struct that is complete there, and not of a handle.
static bool canName(QualType T, StringRef Members, const FunctionDecl *F) {
  const ASTContext &Context = F->getASTContext();
  for (bool Arrow; (Arrow = Members.consume_front("->")) || Members.consume_front(".");) {
    if (Arrow)
      T = T->isArrayType() ? Context.getAsArrayType(T)->getElementType() : T->getPointeeType();
    const RecordDecl *Record = T.isNull() ? nullptr : T->getAsRecordDecl();
    if (!Record || !Record->getDefinition() ||
        !Context.getSourceManager().isBeforeInTranslationUnit(
            Record->getDefinition()->getBeginLoc(), F->getBeginLoc()))
      return false;
    StringRef Name = Members.take_while([](char C) { return isAsciiIdentifierContinue(C); });
    auto Found = Record->getDefinition()->lookup(&Context.Idents.get(Name));
    const auto *Member = Found.empty() ? nullptr : dyn_cast<ValueDecl>(Found.front());
    if (!Member)
      return false;
    T = Member->getType();
    Members = Members.drop_front(Name.size());
  }
  return true;
}

// The same for what follows the global variable that an expression starts from.
static bool canNameFromGlobal(StringRef Expression, const FunctionDecl *F) {
  const ASTContext &Context = F->getASTContext();
  Expression = Expression.ltrim("&*(");
  StringRef Name = Expression.take_while([](char C) { return isAsciiIdentifierContinue(C); });
  for (const NamedDecl *D : Context.getTranslationUnitDecl()->lookup(&Context.Idents.get(Name)))
    if (const auto *V = dyn_cast<VarDecl>(D))
      return canName(V->getType(), Expression.drop_front(Name.size()), F);
  return true;
}

void LockOperations::collect(const Stmt *Statement) {
  if (!Statement)
    return;
  if (const auto *Call = dyn_cast<CallExpr>(Statement))
    add(Call);
  if (isa<UnaryExprOrTypeTraitExpr>(Statement))
    return; // sizeof evaluates nothing
  const auto Unrun = unrunArms(Statement, S.Context);
  for (const Stmt *Child : Statement->children())
    if (!is_contained(Unrun, Child))
      collect(Child);
  if (std::optional<Cleanup> C = cleanupOf(Statement, S.Context)) {
    addPop(*C);
    Cleanups.push_back(*C);
  }
}

static bool locksOrUnlocks(const LockOperation &Op) {
  return Op.Kind == Operation::Lock || Op.Kind == Operation::Unlock;
}

void LockOperations::add(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !Callee->getIdentifier())
    return;
  LockOperation Op;
  Op.Call = Call;
  if (std::optional<LockFunction> Api = lockFunction(Callee->getName())) {
    if (Api->Mutex < 0 || Api->Kind == Operation::Init || Api->Kind == Operation::Destroy)
      return;
    auto Known = Sites.find({S.shown(Call->getExprLoc()), S.spelled(Call->getExprLoc())});
    if (Known == Sites.end())
      return;
    const Expr *Operand = Call->getArg(Api->Mutex);
    Op.Kind = Api->Kind;
    Op.Node = Known->second->Node;
    Op.Key = lockKey(Operand);
    Op.Part = lockPart(Operand, false, S);
    Op.Lock = operandText(withoutIdleCasts(Operand)->IgnoreParenImpCasts());
  } else if (const Wrapper *W = Linked.wrapperOf(nodeFor(Callee, S))) {
    if (nodeFor(Callee, S) == nodeFor(F, S))
      return;
    Op.Kind = W->Kind;
    Op.Node = Linked.lockAt(nodeFor(Callee, S), S.shown(Call->getExprLoc()),
                            S.spelled(Call->getExprLoc()));
    if (Op.Node.empty())
      Op.Node = W->Node;
    Op.ThroughWrapper = true;
    Op.Wrapper = nodeFor(Callee, S);
    Op.Wraps = W;
    Op.Pure = W->Pure && (!W->Tests || W->Aborts || neverFails(Op.Node));
    Op.Key = W->Key;
    Op.Lock = W->Expression;
    if (W->Computed) {
      Op.Visible = false;
      if (any_of(W->Parameters, [&](unsigned I) { return I >= Call->getNumArgs(); }))
        return;
      Op.Key = keyAtCall(W->Key, Call, S);
    } else if (W->Parameter >= 0) {
      if (unsigned(W->Parameter) >= Call->getNumArgs())
        return;
      const Expr *Argument = Call->getArg(W->Parameter);
      Op.Visible = canName(Argument->IgnoreParenImpCasts()->getType(),
                           StringRef(W->Expression).split('$').second, F);
      if (StringRef Member = W->Expression; Member == "$" || Member.consume_front("&$->"))
        if (Member == "$" || isValidAsciiIdentifier(Member))
          Op.Part = lockPart(Argument, Member != "$", S);
      nameOperand(Op, *W, Argument);
    } else {
      Op.Visible = Visible.contains(W->Variable) && !hidden(W->Expression) &&
                   canNameFromGlobal(W->Expression, F);
      // As lockPart() of `&state.mutex`.
      auto [Struct, Member] = StringRef(W->Expression).split('.');
      if (Struct.consume_front("&") && isValidAsciiIdentifier(Struct) &&
          isValidAsciiIdentifier(Member))
        Op.Part = W->Variable;
    }
  } else if (!addOperator(Call, Op)) {
    addOther(Call);
    return;
  }
  auto IsPanic = [&](const FunctionDecl *Other) { return Linked.endsProcess(nodeFor(Other, S)); };
  if (Op.Kind == Operation::TryLock && endsProcessAtZero(Call, Parents, S.Context, IsPanic)) {
    Assertions.push_back(Call);
    return;
  }
  auto IsAll = [&](const Stmt *Statement) {
    return soleCall(Statement) == Call ||
           (locksOrUnlocks(Op) && !cleanupOf(Statement, S.Context) && testCanGo(Statement, Op));
  };
  Op.Statement = wholeStatement(Call, IsAll);
  Op.Branch = Op.Statement ? Op.Statement : wholeBranch(Call, IsAll);
  if (Op.Branch && soleCall(Op.Branch) != Call)
    testCanGo(Op.Branch, Op, &Op.Prints);
  Op.Silent = Op.Branch;
  if (Op.Prints)
    Op.Silent = wholeBranch(Call, [&](const Stmt *Statement) {
      bool Prints = false;
      return soleCall(Statement) == Call || (testCanGo(Statement, Op, &Prints) && !Prints);
    });
  if (Op.Kind == Operation::Wait && Callee->getName() == "pthread_cond_wait")
    Op.Checked = macroAround(Op);
  Op.Tests = Op.Wraps && Op.Wraps->Tests;
  Op.Tests |= Op.Branch ? soleCall(Op.Branch) != Call : !resultIgnored(Call);
  All.push_back(std::move(Op));
}

// The outermost statement of a macro that is nothing but the operation, which returns 0.
const Stmt *LockOperations::macroAround(const LockOperation &Op) const {
  const Stmt *Whole = nullptr;
  for (const Stmt *Up = Parents.getParent(Op.Call); Up && Up->getBeginLoc().isMacroID();
       Up = Parents.getParent(Up))
    if (testCanGo(Up, Op))
      Whole = Up;
    else if (!isa<Expr, DeclStmt>(Up)) // `int error = wait(&more, &lock);`
      break;
  return Whole;
}

// `LOCK_ZONE(z)`, which locks, and then notes that it is locked; `LOCK(m)`, each arm of whose `if`
// locks, which is one operation.
void LockOperations::findMacros() {
  std::vector<const CallExpr *> Joined;
  for (LockOperation &Op : All) {
    const Stmt *Whole = statementOfMacro(Op.Call, Parents, S);
    if (!Whole || is_contained(Joined, Op.Call))
      continue;
    std::vector<LockOperation *> Arms;
    for (LockOperation &Other : All)
      if (within({Whole}, Other.Call, Parents))
        Arms.push_back(&Other);
    takeMacro(Op, Arms, Whole);
    append_range(Joined, Op.Others);
  }
  erase_if(All, [&](const LockOperation &Op) { return is_contained(Joined, Op.Call); });
}

// True if a statement names local variables other than in the operations.
static bool namesLocals(const Stmt *S, ArrayRef<const Stmt *> Operations) {
  if (!S || is_contained(Operations, S))
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(S);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return (V && V->isLocalVarDeclOrParm()) ||
         any_of(S->children(), [&](const Stmt *Child) { return namesLocals(Child, Operations); });
}

// Adds the statement of a macro that is nothing but the operation, and those that only serve it:
// `int e;` before, `if (e) die();` behind `e = lock(m);`.
bool LockOperations::statementsOf(const LockOperation &Op, const Stmt *Whole,
                                  std::vector<const Stmt *> &Operations,
                                  std::vector<const Stmt *> &With, bool &Reports) const {
  if (Op.Silent) {
    Operations.push_back(Op.Silent);
    return true;
  }
  if (Op.result() != 0 || !Op.Call->getType()->isIntegerType())
    return false;
  const Stmt *Statement = Op.Call;
  while (Statement && !blockOf(Statement, Parents))
    Statement = Parents.getParent(Statement);
  if (!Statement || !within({Whole}, Statement, Parents))
    return false;
  const auto Block = blockOf(Statement, Parents)->body();
  auto At = find(Block, Statement);
  if (At == Block.end())
    return false;
  Besides What;
  std::optional<ResultUse> Use =
      useOfResult(Statement, {std::next(At), Block.end()}, Op.Call, S.Context, &What);
  const VarDecl *V = Use && !Use->Returns ? Use->variable() : nullptr;
  if (!V || any_of(Use->Missed, [&](const NamedDecl *D) { return D != V; }) ||
      !testsCanGo(What, Op))
    return false;
  Reports |= What.Reports && !neverFails(Op.Node);
  Operations.push_back(Statement);
  append_range(With, Use->Decided);
  if (Use->Declared)
    return true;
  auto Declares = find_if(Block, [&](const Stmt *Child) {
    const auto *D = dyn_cast<DeclStmt>(Child);
    return D && D->isSingleDecl() && D->getSingleDecl() == V;
  });
  if (Declares != Block.end())
    With.push_back(*Declares);
  return Declares != Block.end();
}

// Makes the statement the operation's, where that is all that the operations in it are.
void LockOperations::takeMacro(LockOperation &Op, ArrayRef<LockOperation *> Arms,
                               const Stmt *Whole) const {
  std::vector<const Stmt *> Statements, With;
  bool Reports = false;
  for (const LockOperation *Arm : Arms)
    if (Arm->Push || Arm->hasRest() || !locksOrUnlocks(*Arm) || !Arm->Pure || !Arm->Visible ||
        Arm->Kind != Op.Kind || !sameLock(*Arm, Op) || Arm->Node != Op.Node ||
        !statementsOf(*Arm, Whole, Statements, With, Reports))
      return;
  const bool Locks = Op.Kind == Operation::Lock;
  std::optional<StatementRest> More = restOf(Whole, Statements, With, S.Context);
  auto IsOther = [&](const HeldOperation &Other) { return within({Whole}, Other.Call, Parents); };
  if (!More || any_of(Others, IsOther))
    return;
  append_range(Statements, With);
  const std::vector<const Stmt *> &Held = Locks ? More->Behind : More->Before;
  const std::vector<const Stmt *> &Free = Locks ? More->Before : More->Behind;
  if (Held.empty() && Free.empty()) {
    // With the conditions of its arms a local variable may lose its use.
    if (Arms.size() == 1 || !With.empty() || namesLocals(Whole, Statements))
      return;
  } else {
    std::vector<MacroRest> Rests;
    std::string Instead;
    auto Divide = [&](bool OfHeld) {
      std::vector<const Stmt *> Go = Statements;
      append_range(Go, OfHeld ? Free : Held);
      std::optional<MacroRest> Rest = divideMacro(Whole, Go, Locks, OfHeld, Parents, S);
      if (!Rest)
        return false;
      if (!OfHeld)
        Instead = std::exchange(Rest->Text, "");
      Rests.push_back(std::move(*Rest));
      return true;
    };
    if ((!Held.empty() && !Divide(true)) || (!Free.empty() && !Divide(false)))
      return;
    Op.Rests = std::move(Rests);
    Op.Instead = std::move(Instead);
    Op.InMacro = Statements;
    append_range(Op.InMacro, Free);
    Op.Prints = Reports; // what it prints otherwise stays
    Op.RestHeld = !Held.empty();
  }
  for (const LockOperation *Arm : Arms)
    if (Arm->Call != Op.Call)
      Op.Others.push_back(Arm->Call);
  for (const LockOperation *Arm : Arms)
    Op.Tests |= Arm->Tests;
  Op.Statement = Op.Branch = Whole;
}

// A trylock or a timed lock under another name.
bool LockOperations::addOperator(const CallExpr *Call, LockOperation &Op) const {
  const std::string Callee = nodeFor(Call->getDirectCallee(), S);
  const Layers::Operator *Does = Linked.operatorOf(Callee);
  if (!Does || (Does->Kind != Operation::TryLock && Does->Kind != Operation::TimedLock))
    return false;
  Op.Node = Linked.lockAt(Callee, S.shown(Call->getExprLoc()), S.spelled(Call->getExprLoc()));
  if (Op.Node.empty() || Does->Mutex >= Call->getNumArgs())
    return false;
  const Expr *Operand = Call->getArg(Does->Mutex);
  Op.Kind = Does->Kind;
  Op.Key = lockKey(Operand);
  Op.Part = lockPart(Operand, false, S);
  Op.Lock = operandText(withoutIdleCasts(Operand)->IgnoreParenImpCasts());
  return true;
}

// Which lock it is matters little: they are one class for each type, told apart by field.
void LockOperations::addOther(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  std::optional<OtherOperator> Operator =
      Linked.otherOperator({nodeFor(Callee, S), Callee->getNameAsString(), {}});
  if (!Operator)
    return;
  const OtherLock &Does = Operator->Does;
  HeldOperation Op = {Call, Does.Kind, Operator->Variable, {Does.Type, Operator->Part}};
  if (Operator->ofArgument()) {
    if (Call->getNumArgs() <= Does.Argument)
      return;
    const Expr *Lock = Call->getArg(Does.Argument);
    Op.Key = lockKey(Lock);
    if (Operator->Expression == "$")
      Op.Lock.Part = lockPart(Lock, true, S);
  }
  if (Operator->Expression != "$")
    Op.Key += " " + Operator->Expression;
  Op.SucceedsNonzero = Does.SucceedsNonzero;
  Op.NothingAtZero = Does.NothingAtZero;
  Op.Executes = Does.Executes;
  Op.Tells = Operator->Tells && !Does.Executes;
  Others.push_back(Op);
}

// True if what a use of the result leaves in a variable may be read behind all that goes.
static bool isReadBehind(const LockOperation &Op, const FunctionDecl *F, const CFG *Graph) {
  const ResultUse &Use = *Op.Uses;
  const auto *Ref = Use.Target ? dyn_cast<DeclRefExpr>(Use.Target->IgnoreParens()) : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || !V->hasLocalStorage())
    return true;
  return !Graph || mayBeRead(V, Op.Call, Op.gone(), Use.Never, *F, *Graph);
}

// The `if` without else of which the operation is all.
const IfStmt *LockOperations::guardOf(const LockOperation &Op) const {
  const Stmt *Arm = Op.Branch;
  if (!Arm || Op.hasRest())
    return nullptr;
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Arm));
      Block && Block->size() == 1)
    Arm = Block;
  const auto *If = dyn_cast_or_null<IfStmt>(Parents.getParent(Arm));
  bool Plain = If && If->getThen() == Arm && !If->getElse() && !If->getInit() &&
               !If->getConditionVariable() && !If->getCond()->HasSideEffects(S.Context) &&
               !calls(If->getCond());
  return Plain ? If : nullptr;
}

// The statement that is nothing but the `if`: a macro's `do { if (…) …; } while (0)` around it.
const Stmt *LockOperations::wholeGuard(const IfStmt *If) const {
  for (const Stmt *Whole = If;;) {
    const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Whole));
    const auto *Do =
        Block && Block->size() == 1 ? dyn_cast_or_null<DoStmt>(Parents.getParent(Block)) : nullptr;
    Expr::EvalResult Again;
    if (!Do || !Do->getCond()->EvaluateAsInt(Again, S.Context) || Again.Val.getInt() != 0)
      return Whole;
    Whole = Do;
  }
}

// `if (threads > 1) lock(&l); … if (threads > 1) unlock(&l);`: the operations on a lock whose
// conditions are all the same, or a variable that notes that it is taken.
void LockOperations::findGuards() {
  auto Same = [&](const Expr *A, const Expr *B) {
    FoldingSetNodeID X, Y;
    A->IgnoreParenImpCasts()->Profile(X, S.Context, /*Canonical=*/true);
    B->IgnoreParenImpCasts()->Profile(Y, S.Context, /*Canonical=*/true);
    return X == Y;
  };
  std::map<std::string, std::vector<LockOperation *>> ByKey;
  for (LockOperation &Op : All)
    ByKey[Op.Key].push_back(&Op);
  for (const auto &[Key, Ops] : ByKey) {
    auto Guarded = find_if(Ops, [&](const LockOperation *Op) { return guardOf(*Op) != nullptr; });
    if (Guarded == Ops.end())
      continue;
    const Expr *Condition = guardOf(**Guarded)->getCond();
    std::vector<const IfStmt *> Guards;
    std::vector<bool> Notes;
    for (LockOperation *Op : Ops) {
      const IfStmt *If = locksOrUnlocks(*Op) ? guardOf(*Op) : nullptr;
      Notes.push_back(!If || !Same(If->getCond(), Condition));
      Guards.push_back(Notes.back() ? notedIn(*Op, Condition) : If);
    }
    if (is_contained(Guards, nullptr))
      continue;
    const bool Fixed = isFixed(Condition, is_contained(Notes, true));
    for (auto [Op, If, Noted] : zip(Ops, Guards, Notes)) {
      if (Noted)
        Op->Instead = *withoutOperation(*Op, If);
      if (Fixed)
        Op->FixedGuard = If;
      Op->Guard = Condition;
      Op->Branch = wholeGuard(If);
      Op->Statement = blockOf(Op->Branch, Parents) ? Op->Branch : nullptr;
    }
  }
}

// `if (shared) { lock(&l); locked = true; }`: the `if`, where the variable is true behind it just
// if that has taken the lock.
const IfStmt *LockOperations::notedIn(const LockOperation &Op, const Expr *Flag) const {
  const auto *Ref = dyn_cast<DeclRefExpr>(Flag->IgnoreParenImpCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const auto *Block =
      Op.Branch ? dyn_cast_or_null<CompoundStmt>(Parents.getParent(Op.Branch)) : nullptr;
  const auto *If = Block ? dyn_cast_or_null<IfStmt>(Parents.getParent(Block)) : nullptr;
  if (!V || !If || Op.hasRest() || Op.Kind != Operation::Lock || If->getThen() != Block ||
      If->getElse() || If->getInit() || If->getConditionVariable() ||
      If->getCond()->HasSideEffects(S.Context) || calls(If->getCond()))
    return nullptr;
  const BinaryOperator *Sets = nullptr;
  for (const Stmt *Child : Block->body()) {
    if (Child == Op.Branch || isa<NullStmt>(Child))
      continue;
    const auto *Assignment = dyn_cast<BinaryOperator>(Child);
    if (Sets || !Assignment || Assignment->getOpcode() != BO_Assign)
      return nullptr;
    Sets = Assignment;
  }
  const auto *Target = Sets ? dyn_cast<DeclRefExpr>(Sets->getLHS()->IgnoreParens()) : nullptr;
  Expr::EvalResult Value;
  bool Notes = Target && Target->getDecl() == V &&
               Sets->getRHS()->EvaluateAsInt(Value, S.Context) && Value.Val.getInt() != 0;
  return Notes && isUnsetAt(If, V) && withoutOperation(Op, If) ? If : nullptr;
}

static bool hasLabel(const Stmt *S) {
  return isa<LabelStmt>(S) || isa<SwitchCase>(S) ||
         any_of(S->children(), [](const Stmt *Child) { return Child && hasLabel(Child); });
}

static bool declaresIn(const Stmt *S, const VarDecl *V) {
  const auto *Declares = dyn_cast<DeclStmt>(S);
  return Declares && is_contained(Declares->getDeclGroup(), V);
}

// True if the variable is 0 wherever the `if` begins, and only changes in it: all ways there come
// from the declaration, and none comes twice.
bool LockOperations::isUnsetAt(const IfStmt *If, const VarDecl *Flag) const {
  Expr::EvalResult Initial;
  if (!Flag->isLocalVarDecl() || !Flag->hasLocalStorage() || !Flag->getType()->isIntegerType() ||
      Flag->getType().isVolatileQualified() || !Flag->hasInit() ||
      !Flag->getInit()->EvaluateAsInt(Initial, S.Context) || Initial.Val.getInt() != 0 ||
      changesOf(Flag, F->getBody()) != 1)
    return false;
  const Stmt *Inner = If;
  for (const Stmt *Up = Parents.getParent(Inner); Up; Inner = Up, Up = Parents.getParent(Up)) {
    if (isa<IfStmt>(Up))
      continue;
    const auto *Block = dyn_cast<CompoundStmt>(Up);
    if (!Block)
      return false;
    bool Declared = false, Entered = false;
    for (const Stmt *Child : Block->body()) {
      if (Child == Inner)
        break;
      Entered |= hasLabel(Child);
      if (declaresIn(Child, Flag))
        Declared = true, Entered = false;
    }
    if (Entered || Declared)
      return Declared && !Entered;
  }
  return false;
}

// True if the condition reads local variables only, and none that changes. Noted: it is a variable
// that only changes beside the lock.
bool LockOperations::isFixed(const Expr *Condition, bool Noted) const {
  SmallPtrSet<const ValueDecl *, 4> Loaded;
  bool Unknown = false;
  collectLoaded(Condition, Loaded, Unknown);
  return !Unknown && all_of(Loaded, [&](const ValueDecl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    return V && V->hasLocalStorage() && !V->getType().isVolatileQualified() &&
           (Noted || !changesOf(V, F->getBody()));
  });
}

// The text of the `if` without the operation in it.
std::optional<std::string> LockOperations::withoutOperation(const LockOperation &Op,
                                                            const IfStmt *If) const {
  std::optional<Source::Range> Whole = S.range(If->getSourceRange());
  std::optional<Source::Range> Goes = S.range(Op.Branch->getSourceRange());
  if (!Whole || !Goes || Whole->File != Goes->File || Goes->Begin < Whole->Begin ||
      Goes->End > Whole->End || If->getBeginLoc().isMacroID() || If->getEndLoc().isMacroID())
    return std::nullopt;
  StringRef File = S.fileText(Whole->File), Text = S.text(*Whole);
  if (Text.find_first_of("\"'") != StringRef::npos || // it may name variables otherwise elsewhere
      any_of(split(Text, '\n'), [](StringRef Line) { return Line.ltrim().starts_with("#"); }))
    return std::nullopt;
  size_t End = File.find_first_not_of(" \t\r\n", Goes->End);
  if (End >= Whole->End || File[End] != ';')
    return std::nullopt;
  size_t Begin = Goes->Begin, Next = File.find_first_not_of(" \t", End + 1);
  size_t Line = File.rfind('\n', Begin) + 1;
  if (File.slice(Line, Begin).trim().empty() && File[Next] == '\n') // alone on its lines
    Begin = Line, Next += 1;
  return (File.slice(Whole->Begin, Begin) + File.slice(Next, Whole->End)).str();
}

// --- Results that are used --------------------------------------------------------------------

// Names that a function mentions outside of some statements.
static void collectNames(const Stmt *S, const SmallPtrSetImpl<const Stmt *> &Without,
                         SmallPtrSetImpl<const NamedDecl *> &Names) {
  if (!S || Without.contains(S))
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    Names.insert(Ref->getDecl());
  if (const auto *Goto = dyn_cast<GotoStmt>(S))
    Names.insert(Goto->getLabel());
  for (const Stmt *Child : S->children())
    collectNames(Child, Without, Names);
}

// `rc = lock(&l); if (rc) return rc;`: the operations whose result is used. None of them may take
// the last mention of a name along, were all of them to go.
void LockOperations::findUses() {
  SmallPtrSet<const Stmt *, 8> Go;
  for (LockOperation &Op : All)
    // A wrapper that does more may return anything.
    if (!Op.Branch && !Op.Push && Op.Pure && cannotFail(Op) &&
        Op.Call->getType()->isIntegerType() && !findEntrance(Op) && Op.result() == 0)
      findUse(Op);
  for (const LockOperation &Op : All)
    for (const Stmt *Gone : Op.gone())
      Go.insert(Gone);
  if (Go.empty())
    return;
  CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  std::unique_ptr<CFG> Graph = CFG::buildCFG(F, F->getBody(), &S.Context, Options);
  SmallPtrSet<const NamedDecl *, 16> Stay;
  collectNames(F->getBody(), Go, Stay);
  for (LockOperation &Op : All) {
    if (!Op.Uses)
      continue;
    std::optional<std::string> Instead = insteadOf(Op, Graph.get());
    auto Stays = [&](const NamedDecl *D) { return Stay.contains(D) || Statics.named(D); };
    if (Instead && all_of(Op.Uses->Missed, Stays)) {
      Op.Instead = *Instead;
      Op.Tests = true;
      if (const VarDecl *V = Op.Uses->variable(); V && !Stay.contains(V))
        Op.Orphan = V;
    } else {
      Op.Uses.reset();
      Op.Enters.reset();
      Op.Statement = Op.Branch = nullptr;
    }
  }
}

// The statement of a block, or the arm of an `if`, in which the operation stands; and, in a block,
// those behind it.
std::pair<const Stmt *, std::vector<const Stmt *>>
LockOperations::statementAround(const LockOperation &Op) const {
  const Stmt *Statement = Op.Call, *Parent = Parents.getParent(Statement);
  auto EndsAt = [&] {
    const auto *If = dyn_cast<IfStmt>(Parent);
    return isa<CompoundStmt>(Parent) || (If && If->getCond() != Statement);
  };
  while (Parent && !blockOf(Statement, Parents) && !EndsAt()) {
    Statement = Parent;
    Parent = Parents.getParent(Statement);
  }
  if (!Parent)
    return {nullptr, {}};
  std::vector<const Stmt *> Behind;
  if (const CompoundStmt *Block = blockOf(Statement, Parents)) {
    auto At = find(Block->body(), childOf(Block, Statement, Parents));
    Behind.assign(std::next(At), Block->body_end());
  }
  return {Statement, Behind};
}

void LockOperations::findUse(LockOperation &Op) const {
  const auto [Statement, Behind] = statementAround(Op);
  if (Statement)
    Op.Uses = useOfResult(Statement, Behind, Op.Call, S.Context);
  if (!Op.Uses)
    return;
  Op.Branch = Statement;
  Op.Statement = blockOf(Statement, Parents) ? Statement : nullptr;
}

const LockOperation *LockOperations::unlockEnding(const Entrance &Way,
                                                  const LockOperation &Lock) const {
  const LockOperation *Only = nullptr;
  for (const LockOperation &Op : All) {
    if (!sameLock(Op, Lock) || !within({Way.Arm}, Op.Call, Parents))
      continue;
    if (Only || Op.Kind != Operation::Unlock || Op.Push || Op.Uses || Op.Guard || Op.hasRest())
      return nullptr;
    Only = &Op;
  }
  return Only && Only->Statement && Only->Statement == lastStatement(Way.Arm) ? Only : nullptr;
}

// `if (lock(&l) == 0) { …; unlock(&l); } else { … }`
bool LockOperations::findEntrance(LockOperation &Op) const {
  if (Op.Kind != Operation::Lock)
    return false;
  const Stmt *Up = Op.Call;
  while (isa_and_nonnull<Expr>(Up))
    Up = Parents.getParent(Up);
  const auto [Statement, Behind] = isa_and_nonnull<IfStmt>(Up)
                                       ? std::pair(Up, std::vector<const Stmt *>())
                                       : statementAround(Op);
  std::optional<Entrance> Found =
      Statement ? entranceOf(Statement, Behind, Op.Call, S.Context, Op.result()) : std::nullopt;
  if (!Found || !unlockEnding(*Found, Op))
    return false;
  const bool Inside = Statement == Found->If;
  // A statement that is left has to stand before the call.
  if (Inside && Found->Use.Target && !blockOf(Found->If, Parents))
    return false;
  if (Found->Use.Target || !Found->Use.Never.empty() || !Inside)
    Op.Uses = std::move(Found->Use);
  Op.Enters = std::move(Found);
  if (!Inside)
    Op.Branch = Op.Statement = Statement;
  return true;
}

// The statement that is left of the operation's.
std::optional<std::string> LockOperations::insteadOf(const LockOperation &Op,
                                                     const CFG *Graph) const {
  const ResultUse &Use = *Op.Uses;
  if (Use.Returns)
    return "return 0;";
  if (!Use.Declared)
    return Use.Target && isReadBehind(Op, F, Graph) ? targetText(Use.Target) + " = 0;" : "";
  std::optional<Source::Range> Whole = S.range(Op.Branch->getSourceRange());
  std::optional<Source::Range> Initial = S.range(Use.Declared->getInit()->getSourceRange());
  if (!Whole || !Initial || Whole->File != Initial->File || Op.Branch->getBeginLoc().isMacroID())
    return std::nullopt;
  return S.fileText(Whole->File).slice(Whole->Begin, Initial->Begin).str() + "0;";
}

// `errno` stays what it is.
std::string LockOperations::targetText(const Expr *Target) const {
  std::optional<Source::Range> R = S.range(Target->getSourceRange());
  StringRef Name = R ? S.fileText(R->File).slice(R->Begin, R->End) : "";
  return isValidAsciiIdentifier(Name) ? Name.str() : S.expressionText(Target);
}

std::vector<const Stmt *> LockOperations::never() const {
  std::vector<const Stmt *> Result;
  for (const LockOperation &Op : All)
    if (Op.Uses)
      append_range(Result, Op.Uses->Never);
  return Result;
}

std::map<const Stmt *, const Stmt *> LockOperations::entrances() const {
  std::map<const Stmt *, const Stmt *> Result;
  for (const LockOperation &Op : All)
    if (Op.Enters)
      Result[Op.Enters->If] = Op.Enters->Arm;
  return Result;
}

// What stands for `$`: for `&boxes[1]` in `&$->lock` it is `boxes[1]` in `&$.lock`.
static const Expr *placedIn(std::string &Pattern, const Expr *Argument) {
  const auto *Address = dyn_cast<UnaryOperator>(Argument->IgnoreParenImpCasts());
  size_t Member = Pattern.find("$->");
  if (!Address || Address->getOpcode() != UO_AddrOf || Member == std::string::npos)
    return Argument;
  Pattern.replace(Member, 3, "$.");
  return Address->getSubExpr();
}

std::string lockThrough(const Wrapper &W, const Expr *Argument,
                        function_ref<std::string(const Expr *)> Spell) {
  std::string Lock = W.Expression;
  Argument = placedIn(Lock, Argument);
  const Expr *Plain = Argument->IgnoreParenImpCasts();
  bool Simple = isa<DeclRefExpr>(Plain) || isa<MemberExpr>(Plain) || isa<ArraySubscriptExpr>(Plain);
  std::string Text = Spell(Argument);
  substitute(Lock, Simple || Lock == "$" ? Text : "(" + Text + ")");
  return Lock;
}

static std::string keyThrough(const Wrapper &W, const Expr *Argument) {
  std::string Key = W.Key;
  substitute(Key, lockKey(placedIn(Key, Argument)));
  return Key;
}

// Puts what a wrapper is given into the key and the text of its lock.
void LockOperations::nameOperand(LockOperation &Op, const Wrapper &W, const Expr *Argument) const {
  Op.Key = keyThrough(W, Argument);
  Op.Lock = lockThrough(W, Argument, [&](const Expr *E) { return operandText(E); });
}

// `pthread_cleanup_pop(1)` of a handler that releases the lock, where the lock is taken directly
// before or behind the push.
void LockOperations::addPop(const Cleanup &C) {
  const auto *Ref = dyn_cast<DeclRefExpr>(C.Routine->IgnoreParenCasts());
  const auto *Handler = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
  if (!C.Executes || !Handler || !Handler->getIdentifier())
    return;
  LockOperation Op;
  const Expr *Argument = C.Argument->IgnoreParenCasts();
  std::optional<LockFunction> Api = lockFunction(Handler->getName());
  const auto [Released, Record] = Linked.releasedBy(nodeFor(Handler, S));
  if ((Api && Api->Kind == Operation::Unlock) || !Released.empty()) {
    Op.Key = Released.empty() ? "$" : Released;
    if (!Record.empty() && (!Argument->getType()->isPointerType() ||
                            recordNode(Argument->getType()->getPointeeType(), S) != Record))
      return;
    substitute(Op.Key, lockKey(placedIn(Op.Key, Argument)));
  } else if (const Wrapper *W = Linked.wrapperOf(nodeFor(Handler, S)); W && !Api) {
    if (W->Kind != Operation::Unlock || W->Parameter > 0 || W->Computed || !W->Pure || W->Tests)
      return;
    Op.Key = W->Key; // of a lock that the handler names itself
    if (W->Parameter == 0)
      nameOperand(Op, *W, Argument);
  } else {
    return;
  }
  auto Takes = find_if(All, [&](const LockOperation &Lock) {
    if (Lock.Kind != Operation::Lock || Lock.Key != Op.Key || !Lock.Statement)
      return false;
    return follows(Lock.Statement, nullptr, C.Body) ||
           follows(C.All, Lock.Statement, blockOf(Lock.Statement, Parents));
  });
  if (Takes == All.end())
    return;
  Op.Call = C.Call;
  Op.Kind = Operation::Unlock;
  Op.Node = Takes->Node;
  Op.Part = Takes->Part;
  Op.Lock = Takes->Lock;
  Op.Statement = Op.Branch = C.Pop;
  Op.Push = C.All;
  All.push_back(std::move(Op));
}

// A recursive mutex fails only where one thread holds it as often as an int can count.
bool LockOperations::neverFails(const std::string &Node) const {
  std::optional<ClassOfLock> Class = Linked.classOf(Node);
  return Class && Class->ChecksErrors.empty();
}

bool LockOperations::cannotFail(const LockOperation &Op) const {
  return locksOrUnlocks(Op) && neverFails(Op.Node);
}

// True if the statement only tests the result of the operation besides, for a failure that it does
// not have, or that the runtime answers in the same way.
bool LockOperations::testCanGo(const Stmt *Statement, const LockOperation &Op, bool *Prints) const {
  Besides What;
  if (!onlyOperation(Statement, Op.Call, S.Context, &What, Op.result()))
    return false;
  if (Prints)
    *Prints = What.Prints || (What.Reports && !neverFails(Op.Node));
  return testsCanGo(What, Op);
}

bool LockOperations::testsCanGo(const Besides &What, const LockOperation &Op) const {
  auto Ends = [&](const FunctionDecl *Callee) { return Linked.endsProcess(nodeFor(Callee, S)); };
  return neverFails(Op.Node) || (What.Aborts && all_of(What.Ends, Ends));
}

bool LockOperations::resultIgnored(const CallExpr *Call) const {
  const auto *User = dyn_cast_or_null<BinaryOperator>(Parents.getParent(Call));
  return Call->getType()->isVoidType() || (User && User->isCommaOp() && User->getLHS() == Call);
}

const LockOperation *LockOperations::at(const CallExpr *Call) const {
  auto Found = find_if(All, [&](const LockOperation &Op) {
    return Op.Call == Call || is_contained(Op.Others, Call);
  });
  return Found == All.end() ? nullptr : &*Found;
}

// `&(q->lock)`, as a macro leaves it: `&q->lock`. A cast to the mutex's type goes with that type.
std::string LockOperations::operandText(const Expr *E) const {
  if (const auto *Cast = dyn_cast<CStyleCastExpr>(E->IgnoreParenImpCasts());
      Cast && Cast->getType()->isPointerType() &&
      syncObject(Cast->getType()->getPointeeType()) == SyncType::Mutex)
    return "(relock_mutex_t *)" + operandText(Cast->getSubExpr()->IgnoreImpCasts());
  const auto *Address = dyn_cast<UnaryOperator>(E->IgnoreParenImpCasts());
  if (Address && Address->getOpcode() == UO_AddrOf && Address->getOperatorLoc().isMacroID())
    return "&" + S.expressionText(Address->getSubExpr()->IgnoreParens());
  return S.expressionText(E);
}

// True if a local variable has the name of the global one that an expression starts from.
bool LockOperations::hidden(StringRef Expression) const {
  StringRef Name =
      Expression.ltrim("&(*").take_while([](char C) { return isAsciiIdentifierContinue(C); });
  return any_of(F->decls(), [&](const Decl *D) {
    const auto *Local = dyn_cast<NamedDecl>(D);
    return Local && Local->getIdentifier() && Local->getName() == Name;
  });
}

// The largest statement that does no more than this call, inside its block.
const Stmt *LockOperations::wholeStatement(const CallExpr *Call, StatementTest IsAll) const {
  const Stmt *Whole = Call;
  for (const Stmt *Up = Call; Up && Up != F->getBody(); Up = Parents.getParent(Up))
    if (IsAll(Up))
      Whole = Up;
    else if (!isa<Expr>(Up) && !Up->getBeginLoc().isMacroID())
      break;
  return blockOf(Whole, Parents) ? Whole : nullptr;
}

// Where the operation is all that a branch does. Braces that the user has written stay out.
const Stmt *LockOperations::wholeBranch(const CallExpr *Call, StatementTest IsAll) const {
  const Stmt *Whole = nullptr;
  for (const Stmt *Up = Call; Up && Up != F->getBody();) {
    const Stmt *Inner = Up;
    Up = Parents.getParent(Up);
    if (!IsAll(Inner)) {
      if (!isa<Expr>(Inner) && !Inner->getBeginLoc().isMacroID())
        break;
      continue;
    }
    const auto *If = dyn_cast_or_null<IfStmt>(Up);
    if (isa_and_nonnull<CompoundStmt>(Up) || (If && If->getCond() != Inner) ||
        (isa_and_nonnull<SwitchCase>(Up) && blockOf(Inner, Parents)))
      Whole = Inner;
    if (!Up || (Whole && !Up->getBeginLoc().isMacroID()))
      break;
  }
  return Whole;
}

} // namespace relock
