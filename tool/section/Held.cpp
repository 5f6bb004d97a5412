// SPDX-License-Identifier: MIT
//
// A forward analysis over the control-flow graph. Its state at a point is the set of all stacks of
// locks that some path from the function's begin may hold there; conditions are not evaluated, but
// that of all operations on a lock, where it does not change. Nothing is forgotten: a lock that the
// analysis may lose sight of (too many stacks, a variable of its operand changes while it is held)
// counts as held for good. A lock of the caller is not seen; where it is released and taken again,
// it is held from then on, and the caller's again at the end.
#include "section/Held.h"

#include "index/FunctionPointers.h"
#include "index/LockApi.h"
#include "section/Flow.h"
#include "section/Scope.h"

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

static const Expr *plain(const Expr *E) { return E->IgnoreParenImpCasts(); }

HeldLocks::HeldLocks(const FunctionDecl *F, std::vector<HeldOperation> All,
                     ArrayRef<const Stmt *> Never,
                     const std::map<const Stmt *, const Stmt *> &Entered)
    : Operations(std::move(All)) {
  for (unsigned I = 0; I < Operations.size(); ++I) {
    Index[Operations[I].Call] = I;
    auto Found = find(Keys, Operations[I].Key);
    KeyOf.push_back(Found - Keys.begin());
    if (Found == Keys.end())
      Keys.push_back(Operations[I].Key);
  }
  follow(F, Never, Entered);
}

const HeldOperation *HeldLocks::operation(const CallExpr *Call) const {
  auto Found = Index.find(Call);
  return Found == Index.end() ? nullptr : &Operations[Found->second];
}

void HeldLocks::follow(const FunctionDecl *F, ArrayRef<const Stmt *> Never,
                       const std::map<const Stmt *, const Stmt *> &Entered) {
  const StatementParts Dead = partsOf(Never);
  CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  Options.AddImplicitDtors = true; // cleanup functions
  std::unique_ptr<CFG> Graph = CFG::buildCFG(F, F->getBody(), &F->getASTContext(), Options);
  Known = Graph != nullptr;
  if (!Known)
    return;
  findGuards(*Graph);
  const std::set<unsigned> OfCallers = releasedFirst(*Graph);
  constexpr size_t MostStacks = 32, Deepest = 8;
  DenseMap<const CFGBlock *, Stacks> At;
  std::vector<std::pair<const CFGBlock *, Stack>> Open = {{&Graph->getEntry(), {}}};
  At[&Graph->getEntry()].insert(Stack());
  while (!Open.empty()) {
    auto [Block, Held] = Open.back();
    Open.pop_back();
    if (runsNever(*Block, Dead))
      continue;
    for (const CFGElement &Element : *Block)
      if (std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>())
        Held = step(Statement->getStmt(), std::move(Held));
      else if (std::optional<CFGCleanupFunction> Cleanup = Element.getAs<CFGCleanupFunction>())
        Held = endScope(Cleanup->getVarDecl(), std::move(Held));
    if (Held.size() > Deepest) {
      Known = false;
      return;
    }
    if (Block->hasNoReturnElement())
      continue;
    std::optional<Tested> Test = tested(*Block);
    const auto *If = dyn_cast_or_null<IfStmt>(Block->getTerminatorStmt());
    const auto Entrance = Entered.find(If);
    unsigned Way = 0; // 0: the condition is true
    for (const CFGBlock *Next : Block->succs()) {
      const bool True = Way++ == 0;
      if (Entrance != Entered.end() && True != (Entrance->second == If->getThen()))
        continue;
      Stack Then = Held;
      if (Test && True == (Test->Fails == 0) && Block->succ_size() == 2 && !Then.empty() &&
          Then.back() == Test->Key)
        Then.pop_back();
      if (!Next)
        continue;
      Then = operateAtZero(*Block, Next, std::move(Then));
      Then = operateUnguarded(*Block, Next, std::move(Then));
      if (Next == &Graph->getExit())
        copy_if(Then, std::inserter(Lost, Lost.end()),
                [&](unsigned Key) { return !OfCallers.count(Key); });
      else if (At[Next].insert(Then).second)
        Open.push_back({Next, Then});
      if (At[Next].size() > MostStacks) {
        Known = false;
        return;
      }
    }
  }
}

// `0`, or an enumerator of that value: `thrd_success`.
static bool isZero(const Expr *E) {
  if (const auto *Literal = dyn_cast<IntegerLiteral>(E))
    return Literal->getValue() == 0;
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Enumerator = Ref ? dyn_cast<EnumConstantDecl>(Ref->getDecl()) : nullptr;
  return Enumerator && Enumerator->getInitVal() == 0;
}

// `EBUSY`
static bool isNonzero(const Expr *E) {
  const auto *Literal = dyn_cast<IntegerLiteral>(E);
  return Literal && Literal->getValue() != 0;
}

namespace {
// The value that a block tests at its end, and the successors on which it is zero, and is not.
// Compared with another value than zero, it may also be zero where it differs.
struct ZeroTest {
  const Expr *Value;
  std::optional<unsigned> Zero, Nonzero;
};
} // namespace

static std::optional<ZeroTest> zeroTest(const CFGBlock &Block) {
  const Stmt *Branch = Block.getTerminatorStmt();
  bool Tests = Block.succ_size() == 2 && !Block.empty() && Branch && !isa<SwitchStmt>(Branch) &&
               Block.getTerminatorCondition();
  // What is evaluated last: of `a && b` in a condition, either operand.
  const Expr *Value = Tests ? Block.getLastCondition() : nullptr;
  bool Zero = false; // where the condition is true
  if (!Value)
    return std::nullopt;
  for (Value = plain(Value);;) {
    const auto *Unary = dyn_cast<UnaryOperator>(Value);
    const auto *Binary = dyn_cast<BinaryOperator>(Value);
    if (Unary && Unary->getOpcode() == UO_LNot) {
      Value = plain(Unary->getSubExpr());
      Zero = !Zero;
    } else if (Binary && Binary->isEqualityOp() && isZero(plain(Binary->getRHS()))) {
      Value = plain(Binary->getLHS());
      Zero ^= Binary->getOpcode() == BO_EQ;
    } else if (Binary && Binary->isEqualityOp() && isNonzero(plain(Binary->getRHS()))) {
      const bool Differs = Zero ^ (Binary->getOpcode() == BO_NE);
      return ZeroTest{plain(Binary->getLHS()), std::nullopt, Differs ? 1u : 0u};
    } else {
      return ZeroTest{Value, Zero ? 0u : 1u, Zero ? 1u : 0u};
    }
  }
}

// Where a block ends by testing whether an operation has taken its lock: `if (lock(&l) != 0)`.
std::optional<HeldLocks::Tested> HeldLocks::tested(const CFGBlock &Block) const {
  std::optional<ZeroTest> Test = zeroTest(Block);
  const Expr *Value = Test ? Test->Value : nullptr;
  // `if ((error = lock(&l)) != 0)`
  if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Value);
      Binary && Binary->getOpcode() == BO_Assign &&
      Binary->getType().getCanonicalType() == plain(Binary->getRHS())->getType().getCanonicalType())
    Value = plain(Binary->getRHS());
  const auto *Call = dyn_cast_or_null<CallExpr>(Value);
  const HeldOperation *Op = Call ? operation(Call) : nullptr;
  if (!Op || !acquires(Op->Kind) || !Op->Tells)
    return std::nullopt;
  const std::optional<unsigned> Fails = Op->SucceedsNonzero ? Test->Zero : Test->Nonzero;
  return Fails ? std::optional(Tested{KeyOf[Op - Operations.data()], *Fails}) : std::nullopt;
}

// `if (m != 0 && lock(m) != 0)`: an operation that does nothing where its operand is 0 may as well
// be performed there, as if it took and released a lock that nobody else takes. Then all paths to
// the other operations of this kind agree.
HeldLocks::Stack HeldLocks::operateAtZero(const CFGBlock &Block, const CFGBlock *Next, Stack Held) {
  std::optional<ZeroTest> Test = zeroTest(Block);
  if (!Test || !Test->Zero)
    return Held;
  const CFGBlock *Zero = *(Block.succ_begin() + *Test->Zero);
  const CFGBlock *Other = *(Block.succ_begin() + *Test->Nonzero);
  if (Next != Zero || !Other || Other == Zero)
    return Held;
  std::string Key = lockKey(Test->Value);
  for (const CFGElement &Element : *Other) {
    std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>();
    const auto *Call = Statement ? dyn_cast<CallExpr>(Statement->getStmt()) : nullptr;
    const HeldOperation *Op = Call ? operation(Call) : nullptr;
    if (Op && Op->NothingAtZero && Op->Key == Key)
      Held = operate(*Op, std::move(Held));
  }
  return Held;
}

// The locks that each way through the function which operates on them releases first: the callers
// hold them, and hold them still where they are taken again.
std::set<unsigned> HeldLocks::releasedFirst(const CFG &Graph) const {
  std::set<unsigned> Result;
  for (unsigned Key = 0; Key < Keys.size(); ++Key) {
    bool Releases = false, Takes = false;
    for (size_t I = 0; I < Operations.size(); ++I)
      Takes |= KeyOf[I] == Key && Operations[I].Scope;
    std::vector<const CFGBlock *> Open = {&Graph.getEntry()};
    DenseSet<const CFGBlock *> Seen = {&Graph.getEntry()};
    while (!Takes && !Open.empty()) {
      const CFGBlock *Block = Open.back();
      Open.pop_back();
      const HeldOperation *First = nullptr;
      for (const CFGElement &Element : *Block)
        if (std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>(); Statement && !First)
          if (const auto *Call = dyn_cast<CallExpr>(Statement->getStmt()))
            if (const HeldOperation *Op = operation(Call);
                Op && KeyOf[Op - Operations.data()] == Key &&
                (acquires(Op->Kind) || Op->Kind == Operation::Unlock))
              First = Op;
      if (First) {
        Takes |= First->Kind != Operation::Unlock;
        Releases = true;
        continue;
      }
      for (const CFGBlock *Next : Block->succs())
        if (Next && Seen.insert(Next).second)
          Open.push_back(Next);
    }
    if (Releases && !Takes)
      Result.insert(Key);
  }
  return Result;
}

void HeldLocks::findGuards(const CFG &Graph) {
  Unguarded.assign(Operations.size(), nullptr);
  for (const CFGBlock *Block : Graph)
    for (size_t I = 0; I < Operations.size(); ++I)
      if (Operations[I].Guard && Block->getTerminatorStmt() == Operations[I].Guard &&
          Block->succ_size() == 2)
        Unguarded[I] = *std::next(Block->succ_begin());
}

// `if (shared) lock(l); … if (shared) unlock(l);`: where the condition does not hold, it may as
// well be performed, too: it takes a lock that nobody else takes, and it releases that.
HeldLocks::Stack HeldLocks::operateUnguarded(const CFGBlock &Block, const CFGBlock *Next,
                                             Stack Held) {
  const Stmt *Branch = Block.getTerminatorStmt();
  for (size_t I = 0; I < Operations.size(); ++I)
    if (Unguarded[I] == Next &&
        (Branch == Operations[I].Guard || (isa_and_nonnull<BinaryOperator>(Branch) &&
                                           contains(Operations[I].Guard->getCond(), Branch))))
      Held = operate(Operations[I], std::move(Held));
  return Held;
}

// The held locks after a statement.
HeldLocks::Stack HeldLocks::step(const Stmt *Statement, Stack Held) {
  const auto *Call = dyn_cast<CallExpr>(Statement);
  if (!Call) {
    loseChanged(Statement, Held);
    return Held;
  }
  Before[Call].insert(Held);
  const HeldOperation *Op = operation(Call);
  return Op ? operate(*Op, std::move(Held)) : Held;
}

static void release(unsigned Key, std::vector<unsigned> &Held) {
  for (size_t I = Held.size(); I-- > 0;)
    if (Held[I] == Key) {
      Held.erase(Held.begin() + I);
      return;
    }
}

HeldLocks::Stack HeldLocks::operate(const HeldOperation &Op, Stack Held) {
  unsigned Key = KeyOf[&Op - Operations.data()];
  if (Op.Executes)
    return Held;
  // In a loop that takes it and may not release it, the stack would grow without end.
  constexpr int MostOfOne = 2;
  const bool Only = none_of(Operations, [&](const HeldOperation &Other) {
    return &Other != &Op && acquires(Other.Kind) && Other.Key == Op.Key;
  });
  if (Op.Kind == Operation::Lock && is_contained(Held, Key) && !(Op.Retries && Only))
    Again.insert(&Op - Operations.data());
  if (acquires(Op.Kind) && count(Held, Key) == MostOfOne)
    Lost.insert(Key);
  else if (acquires(Op.Kind))
    Held.push_back(Key); // unless a test of the result says otherwise
  if (Op.Kind == Operation::Unlock)
    release(Key, Held);
  return Held;
}

// The held locks after a variable's cleanup function.
HeldLocks::Stack HeldLocks::endScope(const VarDecl *V, Stack Held) {
  AtEnd[V].insert(Held);
  for (const HeldOperation &Op : Operations)
    if (Op.Scope == V)
      release(KeyOf[&Op - Operations.data()], Held);
  return Held;
}

static bool mentions(const Stmt *S, const ValueDecl *D) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S); Ref && Ref->getDecl() == D)
    return true;
  return any_of(S->children(), [&](const Stmt *Child) { return Child && mentions(Child, D); });
}

// What tells which lock it is: not the deadline of a wait, say.
static const Stmt *operand(const HeldOperation &Op) {
  if (Op.Scope)
    return Op.Scope->getInit();
  const FunctionDecl *Callee = Op.Call->getDirectCallee();
  std::optional<LockFunction> Api =
      Callee && Callee->getIdentifier() ? lockFunction(Callee->getName()) : std::nullopt;
  if (Api && Api->Mutex >= 0 && unsigned(Api->Mutex) < Op.Call->getNumArgs())
    return Op.Call->getArg(Api->Mutex);
  return Op.Call;
}

// A lock whose operand names something else from now on will not be seen released.
void HeldLocks::loseChanged(const Stmt *Statement, const Stack &Held) {
  const Expr *Changed = nullptr;
  if (const auto *Binary = dyn_cast<BinaryOperator>(Statement); Binary && Binary->isAssignmentOp())
    Changed = Binary->getLHS();
  if (const auto *Unary = dyn_cast<UnaryOperator>(Statement);
      Unary && Unary->isIncrementDecrementOp())
    Changed = Unary->getSubExpr();
  const auto *Ref = Changed ? dyn_cast<DeclRefExpr>(plain(Changed)) : nullptr;
  SmallVector<const ValueDecl *, 4> Named;
  if (Ref)
    Named.push_back(Ref->getDecl());
  if (const auto *Declares = dyn_cast<DeclStmt>(Statement)) // once more, in a loop
    for (const Decl *D : Declares->decls())
      if (const auto *Variable = dyn_cast<VarDecl>(D))
        Named.push_back(Variable);
  for (size_t I = 0; I < Operations.size(); ++I)
    if (is_contained(Held, KeyOf[I]) &&
        any_of(Named, [&](const ValueDecl *D) { return mentions(operand(Operations[I]), D); }))
      Lost.insert(KeyOf[I]), Renamed.insert(KeyOf[I]);
}

const HeldOperation *HeldLocks::takenAgain() const {
  for (unsigned I : Again) {
    if (Known && !Renamed.count(KeyOf[I]))
      return &Operations[I];
  }
  return nullptr;
}

bool HeldLocks::balanced(const CallExpr *Lock, ArrayRef<const CallExpr *> Unlocks,
                         ArrayRef<const CallExpr *> Inner) const {
  auto Found = Index.find(Lock);
  if (!Known || Found == Index.end())
    return false;
  unsigned Key = KeyOf[Found->second];
  auto EachStack = [&](const CallExpr *Call, function_ref<bool(const Stack &)> Test) {
    auto At = Before.find(Call);
    return At == Before.end() || all_of(At->second, Test);
  };
  auto Last = [&](const Stack &Held) { return !Held.empty() && Held.back() == Key; };
  for (const CallExpr *Unlock : Unlocks)
    if (!EachStack(Unlock, Last))
      return false;
  auto Ends = AtEnd.find(Operations[Found->second].Scope);
  if (Ends != AtEnd.end() && !all_of(Ends->second, Last))
    return false;
  for (const CallExpr *Call : Inner) {
    const HeldOperation &Op = *operation(Call);
    unsigned InnerKey = KeyOf[&Op - Operations.data()];
    if (Lost.count(InnerKey))
      return false;
    if (Op.Kind == Operation::Lock)
      continue;
    if (Op.Kind != Operation::Unlock || !EachStack(Call, [&](const Stack &Held) {
          auto Outer = find(Held, Key);
          return std::find(Outer, Held.end(), InnerKey) != Held.end();
        }))
      return false;
  }
  return true;
}

bool HeldLocks::keeps(const CallExpr *Call) const {
  return !Known || Lost.count(KeyOf[operation(Call) - Operations.data()]);
}

void HeldLocks::describe(const Source &S, StringRef Function, StringRef Name, StringRef Wraps,
                         const std::optional<OtherLock> &Operator,
                         std::vector<UnderLock> &Result) const {
  bool Takes = Operator && acquires(Operator->Kind);
  auto AddAt = [&](unsigned Key, UnderLock::Action Does, Position At, const Stacks &Ways,
                   LockPart Taken, relock::Call Callee) {
    bool Guarded = false;
    for (size_t I = 0; I < Operations.size(); ++I)
      Guarded |= KeyOf[I] == Key && Operations[I].Guard;
    bool Surely = !Guarded && !Ways.empty() &&
                  all_of(Ways, [&](const Stack &Held) { return is_contained(Held, Key); });
    for (size_t I = 0; I < Operations.size(); ++I)
      if (KeyOf[I] == Key && acquires(Operations[I].Kind)) {
        Result.push_back(
            {Operations[I].Lock, Does, Taken, Callee, At, Function.str(), Name.str(), Surely});
        return;
      }
  };
  auto Add = [&](unsigned Key, UnderLock::Action Does, const CallExpr *At, LockPart Taken,
                 relock::Call Callee) {
    AddAt(Key, Does, S.shown(At->getExprLoc()), Before.lookup(At), Taken, Callee);
  };
  for (size_t I = 0; I < Operations.size(); ++I)
    if (acquires(Operations[I].Kind) && (!Known || Lost.count(KeyOf[I])) &&
        Operations[I].Lock.Node != Wraps)
      Add(KeyOf[I], Takes ? UnderLock::Stays : UnderLock::Escapes, Operations[I].Call,
          {Takes ? Operator->Type : "", ""}, {});
  for (const auto &[Call, Held] : Before) {
    std::set<unsigned> All;
    for (const Stack &Locks : Held)
      All.insert(Locks.begin(), Locks.end());
    const HeldOperation *Op = operation(Call);
    if (All.empty() && !(Op && Op->Executes))
      continue;
    if (Op) {
      unsigned Own = KeyOf[Op - Operations.data()];
      // Again: on some ways only, those are likely none that a thread takes.
      if (Op->Kind == Operation::Lock && !Op->Repeats &&
          all_of(Held, [&](const Stack &Locks) { return is_contained(Locks, Own); }))
        Add(Own, UnderLock::Takes, Call, Op->Lock, {});
      else if (acquires(Op->Kind) && All.count(Own))
        Add(Own, UnderLock::Again, Call, Op->Lock, {});
      for (unsigned Key : All)
        if (Key != Own && (Op->Kind == Operation::Lock || Op->Kind == Operation::TimedLock))
          Add(Key, UnderLock::Takes, Call, Op->Lock, {});
        else if (Key != Own && Op->Kind == Operation::Wait)
          Add(Key, UnderLock::Waits, Call, {}, {});
      if (!Op->Follow && !Op->Executes)
        continue;
    }
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && Callee->getIdentifier() && lockFunction(Callee->getName()))
      continue;
    std::vector<relock::Call> Calls;
    std::vector<IndirectCall> Indirect;
    recordCalls(Call, /*Ends=*/false, S, Calls, Indirect);
    auto AddCalls = [&](unsigned Key, const Stacks &Ways) {
      Position At = S.shown(Call->getExprLoc());
      for (const relock::Call &C : Calls)
        AddAt(Key, UnderLock::Calls, At, Ways, {}, C);
      for (const IndirectCall &C : Indirect)
        AddAt(Key, UnderLock::CallsThrough, At, Ways, {}, {C.Slot, C.Type, {}});
    };
    for (unsigned Key : All)
      AddCalls(Key, Held);
    if (Op && Op->Executes) {
      // The call itself waits, if at all, where it has released the lock.
      llvm::erase_if(Calls,
                     [&](const relock::Call &C) { return C.Function == nodeFor(Callee, S); });
      unsigned Own = KeyOf[Op - Operations.data()];
      AddCalls(Own, {{Own}});
    }
  }
  for (const auto &[V, Held] : AtEnd) {
    if (any_of(Operations, [&](const HeldOperation &Op) { return Op.Scope == V; }))
      continue;
    std::set<unsigned> All;
    for (const Stack &Locks : Held)
      All.insert(Locks.begin(), Locks.end());
    const Position At = S.shown(V->getLocation());
    std::vector<relock::Call> Calls;
    std::vector<IndirectCall> Indirect;
    recordCleanup(V, S, Calls, Indirect);
    for (unsigned Key : All) {
      for (const relock::Call &C : Calls)
        AddAt(Key, UnderLock::Calls, At, Held, {}, C);
      for (const IndirectCall &C : Indirect)
        AddAt(Key, UnderLock::CallsThrough, At, Held, {}, {C.Slot, C.Type, {}});
    }
  }
}

} // namespace relock
