// SPDX-License-Identifier: MIT
//
// A section is delegated only if its text proves that it can be. It ends in the block of its lock:
// at an unlock, or behind a statement that no path gets through with the lock held (an `if` that
// unlocks in both arms). Every other unlock of it is directly followed by statements that leave the
// block or reach that end, and nothing else enters or leaves the text between. The proof is by
// structure, so that it holds for every path without an analysis of paths. Whatever does not have
// this structure is classified for the user and held.
#include "section/Find.h"

#include "index/LockApi.h"
#include "index/Operand.h"
#include "index/Tested.h"
#include "program/Effects.h"
#include "section/Captures.h"
#include "section/Directives.h"
#include "section/Dropped.h"
#include "section/Flow.h"
#include "section/Guard.h"
#include "section/Held.h"
#include "section/Hoist.h"
#include "section/MacroBody.h"
#include "section/Nest.h"
#include "section/Skipped.h"
#include "section/Waits.h"
#include "support/Source.h"

#include "clang/AST/ParentMap.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

StringRef shapeName(Shape S) {
  switch (S) {
  case Shape::Straight:
    return "straight";
  case Shape::EarlyExit:
    return "early-exit";
  case Shape::Split:
    return "split";
  case Shape::LoopCarried:
    return "loop-carried";
  case Shape::Waiting:
    return "waiting";
  case Shape::Nested:
    return "nested";
  case Shape::CrossFunction:
    return "cross-function";
  case Shape::Conditional:
    return "conditional";
  case Shape::Try:
    return "try";
  }
  return "";
}

namespace {

// A lock operation in a function: a call of a POSIX function or of a lock wrapper.
struct LockOperation {
  const CallExpr *Call;
  Operation Kind;
  std::string Node, Key;
  std::string Lock; // text of the mutex pointer, for relock_execute
  bool ThroughWrapper = false;
  bool Pure = true;          // the wrapper does nothing else
  bool Visible = true;       // the wrapper's lock can be named here
  std::string Wrapper;       // node of the wrapper
  std::string Part;          // see LockPart
  const relock::Wrapper *Wraps = nullptr;
  const Stmt *Statement; // the statement that is nothing but this operation; null: none
  const Stmt *Branch;    // likewise, also the arm of an `if`, or behind a case label
};

// What a block of the function is part of, seen from inside a section.
struct Nesting {
  unsigned Loops = 0, Switches = 0; // inside the section
};

class FunctionSections {
public:
  FunctionSections(FunctionDecl *F, const Source &S, const UnitFacts &Facts, const Program &Linked,
                   const StringSet<> &VisibleGlobals, UnitSections &Result)
      : F(F), S(S), Linked(Linked), VisibleGlobals(VisibleGlobals), Result(Result),
        Parents(F->getBody()) {
    for (const Site &Known : Facts.Sites)
      Sites[{Known.At, Known.Spelled}] = &Known;
  }

  void run() {
    collectOperations(F->getBody());
    if (Operations.empty() && OtherLocks.empty())
      return;
    collectJumps(F->getBody());
    std::string Function = nodeFor(F, S);
    followLocks(Function);
    bool InMacro = F->getBody()->getBeginLoc().isMacroID();
    for (LockOperation &Op : Operations) {
      if (!acquires(Op.Kind))
        continue;
      Section Found;
      Found.At = S.shown(Op.Call->getExprLoc());
      Found.Kind = Op.Kind;
      Found.Node = Op.Node;
      Found.Lock = {Op.Node, Op.Part};
      Found.Function = InMacro ? Function : "";
      Found.FunctionName = spelledName();
      Found.FunctionAt = S.shown(F->getLocation());
      Found.ThroughWrapper = Op.ThroughWrapper;
      Found.MacroPlaces = macroPlaces(Op.Call->getExprLoc(), S);
      if (auto Outer = Continued.find(Op.Call); Outer != Continued.end())
        std::tie(Found.Continues, Found.Form) = Outer->second;
      else
        analyse(Op, Found);
      Result.Sections.push_back(std::move(Found));
    }
    for (const LockOperation &Op : Operations)
      if (!Matched.contains(Op.Call))
        Result.Loose.push_back({Function, spelledName(), {Op.Node, Op.Part}, place(Op.Call)});
  }

private:
  FunctionDecl *F;
  const Source &S;
  const Program &Linked;
  const StringSet<> &VisibleGlobals;
  UnitSections &Result;
  ParentMap Parents;
  std::map<std::pair<Position, Position>, const Site *> Sites;
  std::vector<LockOperation> Operations;
  std::vector<HeldOperation> OtherLocks; // the operations on locks that are not converted
  std::vector<const GotoStmt *> Gotos;
  bool ComputedGoto = false, LocalTypes = false, CallsSetjmp = false;
  SmallPtrSet<const CallExpr *, 8> Matched; // the operations of simple sections
  // The locks with which a section goes on that has released its own, and that section.
  DenseMap<const CallExpr *, std::pair<Position, Shape>> Continued;
  std::optional<HeldLocks> Held;
  std::optional<CallLiveness> Liveness;
  std::optional<std::vector<Mention>> Mentions;
  bool Skips = false;                    // the section has text that is not compiled
  std::vector<const VarDecl *> Escaping; // of a waiting section: others may keep the address

  // A macro may give the function another name in each configuration.
  std::string spelledName() const {
    StringRef Spelled = Lexer::getSourceText(
        CharSourceRange::getTokenRange(S.SM.getExpansionRange(F->getLocation()).getBegin()), S.SM,
        S.Language);
    bool OneName = !F->getBody()->getBeginLoc().isMacroID() && isValidAsciiIdentifier(Spelled);
    return OneName ? Spelled.str() : F->getNameAsString();
  }

  Position place(const CallExpr *Call) const { return S.shown(Call->getExprLoc()); }

  // --- Operations -------------------------------------------------------------------------

  void collectOperations(const Stmt *Statement) {
    if (!Statement)
      return;
    if (const auto *Call = dyn_cast<CallExpr>(Statement))
      addOperation(Call);
    if (isa<UnaryExprOrTypeTraitExpr>(Statement))
      return; // sizeof evaluates nothing
    for (const Stmt *Child : Statement->children())
      collectOperations(Child);
  }

  void addOperation(const CallExpr *Call) {
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
      Op.Lock = operandText(Operand->IgnoreParenImpCasts());
    } else if (const Wrapper *W = Linked.wrapperOf(nodeFor(Callee, S))) {
      if (nodeFor(Callee, S) == nodeFor(F, S))
        return;
      Op.Kind = W->Kind;
      Op.Node = W->Node;
      Op.ThroughWrapper = true;
      Op.Wrapper = nodeFor(Callee, S);
      Op.Wraps = W;
      const LockClass *Class = Linked.classOf(Op.Node);
      Op.Pure = W->Pure && (!W->Tests || (Class && Class->Plain));
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
        if (StringRef Member = W->Expression; Member == "$" || Member.consume_front("&$->"))
          if (Member == "$" || isValidAsciiIdentifier(Member))
            Op.Part = lockPart(Argument, Member != "$", S);
        // `&boxes[1]` into `&$->lock`: `&boxes[1].lock`.
        const auto *Address = dyn_cast<UnaryOperator>(Argument->IgnoreParenImpCasts());
        if (Address && Address->getOpcode() == UO_AddrOf &&
            StringRef(W->Expression).contains("$->")) {
          Argument = Address->getSubExpr();
          for (std::string *Text : {&Op.Key, &Op.Lock})
            if (size_t At = Text->find("$->"); At != std::string::npos)
              Text->replace(At, 3, "$.");
        }
        std::string Text = operandText(Argument);
        const Expr *Plain = Argument->IgnoreParenImpCasts();
        bool Simple =
            isa<DeclRefExpr>(Plain) || isa<MemberExpr>(Plain) || isa<ArraySubscriptExpr>(Plain);
        substitute(Op.Key, lockKey(Argument));
        substitute(Op.Lock, Simple || W->Expression == "$" ? Text : "(" + Text + ")");
      } else {
        Op.Visible = VisibleGlobals.contains(W->Variable) && !hidden(W->Expression);
      }
    } else {
      addOtherLock(Call);
      return;
    }
    auto IsAll = [&](const Stmt *Statement) {
      return soleCall(Statement) == Call ||
             (cannotFail(Op) && onlyOperation(Statement, Call, S.Context));
    };
    Op.Statement = wholeStatement(Call, IsAll);
    Op.Branch = Op.Statement ? Op.Statement : wholeBranch(Call, IsAll);
    Operations.push_back(std::move(Op));
  }

  // Which lock it is matters little: they are one class for each type, told apart by field.
  void addOtherLock(const CallExpr *Call) {
    std::optional<OtherLock> Does = Linked.Project.otherLock(Call->getDirectCallee()->getName());
    if (!Does || Call->getNumArgs() <= Does->Argument)
      return;
    const Expr *Lock = Call->getArg(Does->Argument);
    HeldOperation Op = {Call, Does->Kind, lockKey(Lock), {Does->Type, lockPart(Lock, true, S)}};
    Op.SucceedsNonzero = Does->SucceedsNonzero;
    Op.NothingAtZero = Does->NothingAtZero;
    OtherLocks.push_back(Op);
    if (acquires(Does->Kind))
      Result.Others.push_back({Does->Type, S.shown(Call->getExprLoc())});
  }

  void followLocks(const std::string &Function) {
    std::vector<HeldOperation> All = OtherLocks;
    for (const HeldOperation &Op : OtherLocks)
      if (Op.Kind == Operation::Lock || Op.Kind == Operation::TimedLock) {
        // The library function, too: its address may be taken.
        Result.Takes.push_back({Function, spelledName(), Op.Lock, place(Op.Call)});
        Result.Takes.push_back({nodeFor(Op.Call->getDirectCallee(), S), "", Op.Lock, {}});
      }
    for (const LockOperation &Op : Operations) {
      All.push_back({Op.Call, Op.Kind, Op.Key, {Op.Node, Op.Part}, Op.ThroughWrapper && !Op.Pure});
      if (Op.Kind == Operation::Lock || Op.Kind == Operation::TimedLock)
        Result.Takes.push_back({Function, spelledName(), {Op.Node, Op.Part}, place(Op.Call)});
    }
    Held.emplace(F, std::move(All));
    if (const HeldOperation *Op = Held->takenAgain(); Op && !releases(Op->Lock.Node))
      Result.TakenAgain.push_back({Function, spelledName(), Op->Lock, place(Op->Call)});
    const Wrapper *Own = Linked.wrapperOf(Function);
    std::optional<OtherLock> Operator = Linked.Project.otherLock(F->getNameAsString());
    Held->describe(S, Function, spelledName(), Own && acquires(Own->Kind) ? Own->Node : "",
                   Operator, Result.Under);
    auto Kept = find_if(OtherLocks, [&](const HeldOperation &Op) { return Held->keeps(Op.Call); });
    if (Kept != OtherLocks.end() && !Operator)
      Result.Keepers.push_back({Function, spelledName(), Kept->Lock, place(Kept->Call)});
  }

  // True if the function releases a lock of that class.
  bool releases(const std::string &Node) const {
    return any_of(Operations, [&](const LockOperation &Op) {
      return Op.Kind == Operation::Unlock && Linked.classOf(Op.Node) == Linked.classOf(Node);
    });
  }

  // True for the lock and the unlock of a mutex that is neither recursive nor checks errors.
  bool cannotFail(const LockOperation &Op) const {
    const LockClass *Class = Linked.classOf(Op.Node);
    return Class && Class->Plain && (Op.Kind == Operation::Lock || Op.Kind == Operation::Unlock);
  }

  // `&(q->lock)`, as a macro leaves it: `&q->lock`.
  std::string operandText(const Expr *E) const {
    const auto *Address = dyn_cast<UnaryOperator>(E->IgnoreParenImpCasts());
    if (Address && Address->getOpcode() == UO_AddrOf && Address->getOperatorLoc().isMacroID())
      return "&" + S.expressionText(Address->getSubExpr()->IgnoreParens());
    return S.expressionText(E);
  }

  // True if a local variable has the name of the global one that an expression starts from.
  bool hidden(StringRef Expression) const {
    StringRef Name =
        Expression.ltrim("&(*").take_while([](char C) { return isAsciiIdentifierContinue(C); });
    return any_of(F->decls(), [&](const Decl *D) {
      const auto *Local = dyn_cast<NamedDecl>(D);
      return Local && Local->getIdentifier() && Local->getName() == Name;
    });
  }

  static void substitute(std::string &Text, const std::string &Argument) {
    size_t At = Text.find('$');
    if (At != std::string::npos)
      Text.replace(At, 1, Argument);
  }

  // The largest statement that does no more than this call, inside its block.
  const Stmt *wholeStatement(const CallExpr *Call, function_ref<bool(const Stmt *)> IsAll) const {
    const Stmt *Whole = Call;
    for (const Stmt *Up = Call; Up && Up != F->getBody(); Up = Parents.getParent(Up))
      if (IsAll(Up))
        Whole = Up;
      else if (!isa<Expr>(Up) && !Up->getBeginLoc().isMacroID())
        break;
    return blockOf(Whole) ? Whole : nullptr;
  }

  // Where the operation is all that a branch does. Braces that the user has written stay out.
  const Stmt *wholeBranch(const CallExpr *Call, function_ref<bool(const Stmt *)> IsAll) const {
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
          (isa_and_nonnull<SwitchCase>(Up) && blockOf(Inner)))
        Whole = Inner;
      if (!Up || (Whole && !Up->getBeginLoc().isMacroID()))
        break;
    }
    return Whole;
  }

  void collectJumps(const Stmt *Statement) {
    if (!Statement)
      return;
    if (const auto *Goto = dyn_cast<GotoStmt>(Statement))
      Gotos.push_back(Goto);
    if (isa<IndirectGotoStmt>(Statement))
      ComputedGoto = true;
    if (const auto *Call = dyn_cast<CallExpr>(Statement))
      if (const FunctionDecl *Callee = Call->getDirectCallee())
        CallsSetjmp |= Callee->hasAttr<ReturnsTwiceAttr>() ||
                       Callee->getBuiltinID() == Builtin::BI__builtin_setjmp;
    if (const auto *D = dyn_cast<DeclStmt>(Statement))
      LocalTypes |= any_of(D->decls(), [](const Decl *Inner) { return isa<TypeDecl>(Inner); });
    for (const Stmt *Child : Statement->children())
      collectJumps(Child);
  }

  // --- One section ------------------------------------------------------------------------

  void against(Section &Found, StringRef Code, const Twine &Message, SourceLocation At) {
    Found.Against.push_back({Code.str(), Message.str(), S.shown(At)});
  }

  bool sameLock(const LockOperation &A, const LockOperation &B) const { return A.Key == B.Key; }

  void analyse(const LockOperation &Lock, Section &Found) {
    SourceLocation At = Lock.Call->getExprLoc();
    if (Lock.Kind != Operation::Lock) {
      Found.Form = Shape::Try;
      return against(Found, "try", "the lock may not be taken", At);
    }
    if (std::optional<GuardLoop> Guard = guardLoop(Lock))
      return examineGuard(Lock, *Guard, Found);
    SectionEnd End = Lock.Statement ? sectionEnd(Lock) : SectionEnd();
    if (!End.Child)
      return classify(Lock, Found);
    examine(Lock, End, Found);
  }

  const LockOperation *operationAt(const CallExpr *Call) const {
    auto Found = find_if(Operations, [&](const LockOperation &Op) { return Op.Call == Call; });
    return Found == Operations.end() ? nullptr : &*Found;
  }

  std::optional<GuardLoop> guardLoop(const LockOperation &Lock) const {
    auto Succeeds = [&](const CallExpr *Call) -> std::optional<int64_t> {
      const LockOperation *Op = operationAt(Call);
      if (!Op || (Op->Kind != Operation::Lock && Op->Kind != Operation::Unlock))
        return std::nullopt;
      const auto *User = dyn_cast_or_null<BinaryOperator>(Parents.getParent(Call));
      bool Ignored =
          Call->getType()->isVoidType() || (User && User->isCommaOp() && User->getLHS() == Call);
      return Op->Pure && (Ignored || cannotFail(*Op)) ? std::optional(0) : std::nullopt;
    };
    std::optional<GuardLoop> Guard = relock::guardLoop(Lock.Call, Parents, S.Context, Succeeds);
    const LockOperation *Unlock = Guard ? operationAt(Guard->Unlock) : nullptr;
    bool Releases = Unlock && Unlock->Kind == Operation::Unlock && sameLock(*Unlock, Lock);
    return Releases ? Guard : std::nullopt;
  }

  const CompoundStmt *blockOf(const Stmt *Statement) const {
    const Stmt *Parent = Parents.getParent(Statement);
    while (isa_and_nonnull<LabelStmt>(Parent) || isa_and_nonnull<SwitchCase>(Parent))
      Parent = Parents.getParent(Parent);
    return dyn_cast_or_null<CompoundStmt>(Parent);
  }

  // The child of Block that contains Statement.
  const Stmt *childOf(const CompoundStmt *Block, const Stmt *Statement) const {
    while (Statement && Parents.getParent(Statement) != Block)
      Statement = Parents.getParent(Statement);
    return Statement;
  }

  // The statement of the lock's block at which the section ends.
  struct SectionEnd {
    const Stmt *Child = nullptr;
    const LockOperation *Unlock = nullptr; // Child is this unlock; null: its branches have unlocked
    const GuardLoop *Guard = nullptr;      // Child is this loop, whose head unlocks
  };

  // The first statement after the lock that unlocks, or that no path gets through with the lock
  // held; but if a goto passes over it to where the lock is released otherwise, the next such.
  SectionEnd sectionEnd(const LockOperation &Lock) const {
    const CompoundStmt *Block = blockOf(Lock.Statement);
    const Stmt *First = childOf(Block, Lock.Statement); // with its labels
    SectionEnd End;
    std::vector<const Stmt *> Passed;
    const Stmt *Resume = nullptr; // the label of such a goto
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (After && Child == Resume)
        Resume = nullptr;
      if (After && !Resume && endsAt(Child, Block, Lock, End)) {
        Resume = heldTarget(Passed, Child, Block, Lock);
        if (!Resume)
          return End;
      }
      if (After)
        Passed.push_back(Child);
      After |= Child == First;
    }
    return End;
  }

  bool endsAt(const Stmt *Child, const CompoundStmt *Block, const LockOperation &Lock,
              SectionEnd &End) const {
    SmallPtrSet<const Stmt *, 8> Unlocks;
    for (const LockOperation &Op : Operations) {
      if (Op.Kind != Operation::Unlock || !sameLock(Op, Lock))
        continue;
      if (Op.Statement && blockOf(Op.Statement) == Block && childOf(Block, Op.Statement) == Child) {
        End = {Child, &Op};
        return true;
      }
      std::vector<const Stmt *> Between;
      if (Op.Branch && within({Child}, Op.Branch) && !takenBehind(Op, Lock, Between))
        Unlocks.insert(Op.Branch);
    }
    if (Unlocks.empty() || completes(Child, [&](const Stmt *S) { return Unlocks.contains(S); }))
      return false;
    End = {Child, nullptr};
    return true;
  }

  // The next operation behind an unlock in its block, if it takes the same lock again. Between: the
  // statements before it.
  const LockOperation *takenBehind(const LockOperation &Unlock, const LockOperation &Lock,
                                   std::vector<const Stmt *> &Between) const {
    const CompoundStmt *Block = blockOf(Unlock.Branch);
    if (!Block)
      return nullptr;
    const Stmt *First = childOf(Block, Unlock.Branch);
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (After)
        for (const LockOperation &Op : Operations)
          if (sameLock(Op, Lock) && within({Child}, Op.Call)) {
            bool Takes = Op.Kind == Operation::Lock && Op.Statement == Child && Op.Pure &&
                         Op.Node == Lock.Node;
            return Takes ? &Op : nullptr;
          }
      if (After)
        Between.push_back(Child);
      After |= Child == First;
    }
    return nullptr;
  }

  // The label behind End in its block to which a goto goes with the lock held.
  const Stmt *heldTarget(const std::vector<const Stmt *> &Passed, const Stmt *End,
                         const CompoundStmt *Block, const LockOperation &Lock) const {
    for (const GotoStmt *Goto : Gotos) {
      if ((!within(Passed, Goto) && !within({End}, Goto)) || released(Goto, Block, Lock))
        continue;
      const Stmt *Target = childOf(Block, Goto->getLabel()->getStmt());
      bool Behind = Target && !is_contained(Passed, Target) && Target != End &&
                    S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Goto->getGotoLoc()),
                                                   S.SM.getExpansionLoc(Target->getBeginLoc()));
      if (Behind && unlocksFrom(Target, Block, Lock))
        return Target;
    }
    return nullptr;
  }

  // True if an unlock stands before the statement in one of the blocks around it.
  bool released(const Stmt *Inner, const CompoundStmt *Outermost, const LockOperation &Lock) const {
    return any_of(Operations, [&](const LockOperation &Op) {
      if (Op.Kind != Operation::Unlock || !sameLock(Op, Lock) || !Op.Branch)
        return false;
      const CompoundStmt *Block = blockOf(Op.Branch);
      return Block && Block != Outermost && within({Block}, Inner) &&
             S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Op.Call->getExprLoc()),
                                            S.SM.getExpansionLoc(Inner->getBeginLoc()));
    });
  }

  // True if the next operation on the lock in the block, from a statement of it on, is an unlock.
  bool unlocksFrom(const Stmt *Begin, const CompoundStmt *Block, const LockOperation &Lock) const {
    bool Begun = false;
    for (const Stmt *Child : Block->body()) {
      Begun |= Child == Begin;
      for (const LockOperation &Op : Operations)
        if (Begun && sameLock(Op, Lock) && within({Child}, Op.Call))
          return Op.Kind == Operation::Unlock;
    }
    return false;
  }

  // Says what kind of section has no unlock in its own block.
  void classify(const LockOperation &Lock, Section &Found) {
    SourceLocation At = Lock.Call->getExprLoc();
    const LockOperation *Release = nullptr, *Waits = nullptr;
    bool Backwards = true;
    for (const LockOperation &Op : Operations) {
      if (!sameLock(Op, Lock))
        continue;
      if (Op.Kind == Operation::Wait)
        Waits = &Op;
      if (Op.Kind != Operation::Unlock)
        continue;
      Release = &Op;
      Backwards &= S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Op.Call->getExprLoc()),
                                                  S.SM.getExpansionLoc(At));
    }
    if (const Wrapper *W = Linked.wrapperOf(nodeFor(F, S)); W && !Release) {
      Found.Form = Shape::CrossFunction;
      return against(Found, "cross-function",
                     W->Pure ? "is a lock wrapper; its sections are listed where it is called"
                             : "is not unlocked in this function; its callers hold the lock",
                     At);
    }
    if (!Lock.Statement) {
      const Stmt *Parent = Parents.getParent(Lock.Call);
      while (isa_and_nonnull<Expr>(Parent))
        Parent = Parents.getParent(Parent);
      bool Value = !isa_and_nonnull<CompoundStmt>(Parents.getParent(Lock.Call));
      Found.Form = Release ? Shape::Conditional : Shape::CrossFunction;
      const Stmt *User = Parents.getParent(Lock.Call);
      const auto *If = dyn_cast_or_null<IfStmt>(User);
      bool Used = isa_and_nonnull<Expr>(User) || isa_and_nonnull<DeclStmt>(User) ||
                  isa_and_nonnull<ReturnStmt>(User) || (If && If->getCond() == Lock.Call);
      if (!Lock.Branch && Value && Used && soleCall(cast<Stmt>(Lock.Call)) == Lock.Call)
        return against(Found, "tested-result", "the result of the lock operation is used", At);
      return against(Found, "conditional", "the lock is not a statement of a block", At);
    }
    if (!Release) {
      Found.Form = Shape::CrossFunction;
      return against(Found, "cross-function", "is not unlocked in this function", At);
    }
    if (Waits) {
      Found.Form = Shape::Waiting;
      return against(Found, "waiting", "waits on a condition variable", Waits->Call->getExprLoc());
    }
    Found.Form = Backwards ? Shape::LoopCarried : Shape::Split;
    against(Found, Backwards ? "loop-carried" : "split",
            "no unlock follows in the block of the lock", Release->Call->getExprLoc());
  }

  void examine(const LockOperation &Lock, const SectionEnd &End, Section &Found) {
    const CompoundStmt *Block = blockOf(Lock.Statement);
    SectionText Text;
    Escaping.clear();
    Text.Lock = Lock.Call;
    if (End.Unlock)
      Text.Unlocks.push_back(End.Unlock->Call);
    else
      Text.Joins = End.Child;
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (After && (Child != End.Child || Text.Joins))
        Text.Statements.push_back(Child);
      if (Child == End.Child)
        break;
      After |= Child == childOf(Block, Lock.Statement);
    }
    if (endIfEmpty(Lock, End, Text, Found))
      return;
    std::vector<EarlyExitText> Exits;
    if (!examineOperations(Lock, Text, Exits, Found))
      return;
    Found.Form = Found.Inner.empty() ? formOf(Text, Exits) : Shape::Nested;
    examineText(Lock, End, Text, Exits, Found);
  }

  bool endIfEmpty(const LockOperation &Lock, const SectionEnd &End, const SectionText &Text,
                  Section &Found) {
    if (!all_of(Text.Statements, [](const Stmt *Child) { return isa<NullStmt>(Child); }))
      return false;
    Matched.insert(Lock.Call);
    Matched.insert(End.Unlock->Call);
    against(Found, "empty", "there is nothing in it: it waits for others to leave",
            Lock.Call->getExprLoc());
    return true;
  }

  struct EarlyExitText {
    const LockOperation *Unlock; // null: there is none, the jump ends the section
    std::vector<const Stmt *> Tail;
    const Stmt *Break = nullptr; // behind the tail, to the end of the section
    bool Joins = false;          // goes on at the end of the section
    const LockOperation *Relock = nullptr; // behind the tail, where the section goes on
  };

  // A section that is the body of a loop whose head locks and unlocks.
  void examineGuard(const LockOperation &Lock, const GuardLoop &Guard, Section &Found) {
    SectionText Text;
    Escaping.clear();
    Text.Lock = Lock.Call;
    Text.Unlocks.push_back(Guard.Unlock);
    Text.Statements = Guard.Body;
    SectionEnd End = {Guard.Outer, operationAt(Guard.Unlock), &Guard};
    if (endIfEmpty(Lock, End, Text, Found))
      return;
    if (Guard.Inner->getBody()->getBeginLoc().isMacroID()) {
      Matched.insert(Lock.Call);
      Matched.insert(Guard.Unlock);
      return against(Found, "macro-section", "part of the section stands in a macro",
                     Lock.Call->getExprLoc());
    }
    std::vector<EarlyExitText> Exits;
    if (!examineOperations(Lock, Text, Exits, Found))
      return;
    if (!Found.Inner.empty()) {
      Found.Form = Shape::Nested;
      Found.Against.push_back(
          {"nested", "takes another lock, in a loop whose head locks", Found.Inner.front().At});
      return;
    }
    Found.Form = Shape::Split;
    if (!Exits.empty())
      return against(Found, "split", "unlocks here, in a loop whose head unlocks",
                     Exits.front().Unlock->Call->getExprLoc());
    for (const Stmt *Jump : Guard.Ends) {
      Text.Outside.push_back(Jump);
      Exits.push_back({nullptr, {}, Jump, true});
    }
    Found.Form = !Text.Waits.empty() ? Shape::Waiting
                 : Exits.empty()     ? Shape::Straight
                                     : Shape::EarlyExit;
    examineText(Lock, End, Text, Exits, Found);
  }

  // Looks at everything in a section whose operations are known.
  void examineText(const LockOperation &Lock, const SectionEnd &End, SectionText &Text,
                   const std::vector<EarlyExitText> &Exits, Section &Found) {
    Matched.insert(Lock.Call);
    Matched.insert(Text.Unlocks.begin(), Text.Unlocks.end());
    for (const Gap &G : Text.Gaps) {
      Matched.insert(G.Lock);
      Continued[G.Lock] = {Found.At, Found.Form};
    }
    for (const Stmt *Statement : Text.Statements)
      examineStatement(Statement, Nesting(), Text, Found);
    examineLabels(Text, End, Found);
    examineDeclarations(Text, Found);
    if (LocalTypes)
      examineTypes(Text, Found);
    if (ComputedGoto)
      against(Found, "computed-goto", "the function has a computed goto", F->getLocation());
    if (CallsSetjmp)
      against(Found, "jumps", "the function calls setjmp", F->getLocation());
    if (Lock.ThroughWrapper && !Lock.Pure)
      against(Found, "wrapper-effects",
              "the lock wrapper does more than to lock, or its lock cannot be named here",
              Lock.Call->getExprLoc());
    for (const LockOperation &Op : Operations)
      if (is_contained(Text.Unlocks, Op.Call) && Op.ThroughWrapper && !Op.Pure)
        against(Found, "wrapper-effects", "the unlock wrapper does more than to unlock",
                Op.Call->getExprLoc());
    if (!Lock.Visible && !hasCompanion(Lock))
      against(Found, "lock-not-visible",
              "'" + StringRef(Lock.Lock).ltrim('&') + "' cannot be named in this file",
              Lock.Call->getExprLoc());
    extract(Lock, End, Text, Exits, Found);
  }

  // True if the wrapper can have a companion, which is declared before this function.
  bool hasCompanion(const LockOperation &Lock) const {
    if (!Linked.canExecuteThrough(Lock.Wrapper))
      return false;
    const Function &Wrapper = Linked.Functions.at(Lock.Wrapper);
    SourceLocation Begin = S.SM.getExpansionLoc(F->getBeginLoc());
    return any_of(Lock.Call->getDirectCallee()->redecls(), [&](const FunctionDecl *Declared) {
      if (!S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Declared->getLocation()), Begin))
        return false;
      std::optional<Source::Range> R = S.range(Declared->getSourceRange());
      // Only blanks and a `;` stand between a declaration and its companion's.
      return R && any_of(Wrapper.Prototypes, [&](const Prototype &P) {
               return P.At.File == S.filePath(R->File) && P.At.Offset >= R->End &&
                      S.fileText(R->File).slice(R->End, P.At.Offset).trim().size() <= 1;
             });
    });
  }

  Shape formOf(const SectionText &Text, ArrayRef<EarlyExitText> Exits) const {
    if (!Text.Waits.empty())
      return Shape::Waiting;
    if (any_of(Text.Gaps, [&](const Gap &G) { return inLoop(G.Lock, Text); }))
      return Shape::LoopCarried;
    if (!Text.Gaps.empty() || any_of(Exits, [](const EarlyExitText &Exit) { return Exit.Joins; }))
      return Shape::Split;
    return Exits.empty() ? Shape::Straight : Shape::EarlyExit;
  }

  bool within(const std::vector<const Stmt *> &Statements, const Stmt *Inner) const {
    for (const Stmt *Up = Inner; Up; Up = Parents.getParent(Up))
      if (is_contained(Statements, Up))
        return true;
    return false;
  }

  // Looks at the lock operations inside the section. Returns false where they decide its shape.
  bool examineOperations(const LockOperation &Lock, SectionText &Text,
                         std::vector<EarlyExitText> &Exits, Section &Found) {
    auto Is = [&](Shape Form, StringRef Code, const Twine &Message, const LockOperation &Op) {
      Found.Form = Form;
      against(Found, Code, Message, Op.Call->getExprLoc());
      return false;
    };
    // The lock may be taken again in what follows an unlock, which is the caller's.
    auto TakenAgain = [&]() -> const LockOperation * {
      for (const LockOperation &Op : Operations)
        if (acquires(Op.Kind) && within(Text.Statements, Op.Call) &&
            !within(Text.Outside, Op.Call) && sameLock(Op, Lock))
          return &Op;
      return nullptr;
    };
    auto Again = [&](const LockOperation &Op) {
      return inLoop(Op.Call, Text)
                 ? Is(Shape::LoopCarried, "loop-carried", "takes the same lock again here", Op)
                 : Is(Shape::Split, "split", "takes the same lock again here", Op);
    };
    for (const LockOperation &Op : Operations) {
      if (Op.Kind != Operation::Unlock || !within(Text.Statements, Op.Call) ||
          within(Text.Outside, Op.Call) || !sameLock(Op, Lock))
        continue;
      EarlyExitText Exit;
      Exit.Unlock = &Op;
      if (!Op.Branch || (!findTail(Text, Exit) && !findGap(Lock, Text, Exit))) {
        const LockOperation *Other = TakenAgain();
        return Other ? Again(*Other) : Is(Shape::Split, "split", "unlocks here, and goes on", Op);
      }
      Text.Unlocks.push_back(Op.Call);
      Text.Outside.push_back(Op.Branch);
      append_range(Text.Outside, Exit.Tail);
      if (Exit.Break)
        Text.Outside.push_back(Exit.Break);
      if (Exit.Relock) {
        Text.Outside.push_back(Exit.Relock->Statement);
        Text.Gaps.push_back({Op.Call, Exit.Relock->Call, Exit.Tail});
      }
      Exits.push_back(std::move(Exit));
    }
    if (const LockOperation *Other = TakenAgain())
      return Again(*Other);
    if (!examineInner(Lock, Text, Found))
      return false;
    for (const LockOperation &Op : Operations) {
      if (Op.Kind != Operation::Wait || !within(Text.Statements, Op.Call) ||
          within(Text.Outside, Op.Call))
        continue;
      if (!sameLock(Op, Lock))
        return Is(Shape::Waiting, "waiting", "waits with another lock", Op);
      if (!Op.Pure || !operandsVisible(Op))
        return Is(Shape::Waiting, "waiting",
                  "waits through a function that does more, or whose operands have no name here",
                  Op);
      Text.Waits.push_back(Op.Call);
      Text.WaitWrappers.push_back(Op.Wraps);
    }
    if (!Text.Waits.empty() && !Found.Inner.empty())
      return Is(Shape::Nested, "nested", "waits on a condition variable, and takes another lock",
                *find_if(Operations, [&](const LockOperation &Op) {
                  return S.shown(Op.Call->getExprLoc()) == Found.Inner.front().At;
                }));
    for (size_t I = 0; I < Text.Waits.size(); ++I)
      if (const Expr *Mutex = waitMutex(Text, I)) // the resumed section has it
        Text.Outside.push_back(Mutex);
    return true;
  }

  // The argument of a wait that is nothing but the section's lock.
  static const Expr *waitMutex(const SectionText &Text, size_t I) {
    const Wrapper *W = Text.WaitWrappers[I];
    if (!W)
      return Text.Waits[I]->getArg(1);
    bool Shared = W->Condition->Parameter == W->Parameter ||
                  (W->Deadline && W->Deadline->Parameter == W->Parameter);
    return W->Parameter < 0 || Shared ? nullptr : Text.Waits[I]->getArg(W->Parameter);
  }

  // What a wrapper of a wait gives to it must have a name here, too, and no effect of its own.
  bool operandsVisible(const LockOperation &Op) const {
    auto Visible = [&](const std::optional<WrapperOperand> &Operand) {
      return !Operand || Operand->Parameter >= 0 ||
             (VisibleGlobals.contains(Operand->Variable) && !hidden(Operand->Expression));
    };
    return !Op.Wraps || (Visible(Op.Wraps->Condition) && Visible(Op.Wraps->Deadline) &&
                         none_of(Op.Call->arguments(), [&](const Expr *Argument) {
                           return Argument->HasSideEffects(S.Context);
                         }));
  }

  // Looks at the operations of the section on other locks. What stands behind an unlock is not the
  // section's. Returns false where they decide its shape.
  bool examineInner(const LockOperation &Lock, const SectionText &Text, Section &Found) {
    auto Is = [&](StringRef Code, const Twine &Message, const LockOperation &Op) {
      Found.Form = Shape::Nested;
      against(Found, Code, Message, Op.Call->getExprLoc());
      return false;
    };
    std::vector<const LockOperation *> Inner;
    for (const LockOperation &Op : Operations)
      if ((acquires(Op.Kind) || Op.Kind == Operation::Unlock) && !sameLock(Op, Lock) &&
          within(Text.Statements, Op.Call) && !within(Text.Outside, Op.Call))
        Inner.push_back(&Op);
    auto Operates = [&](bool Acquires, const LockOperation &Other) {
      return any_of(Inner, [&](const LockOperation *Op) {
        return acquires(Op->Kind) == Acquires && sameLock(*Op, Other);
      });
    };
    for (const LockOperation *Op : Inner) {
      if (acquires(Op->Kind) && !Operates(false, *Op))
        return Is("hand-over-hand", "takes another lock here, and keeps it beyond its end", *Op);
      if (Op->Kind == Operation::Unlock && !Operates(true, *Op))
        return Is("hand-over-hand", "releases another lock here, which was taken before it", *Op);
    }
    std::vector<const CallExpr *> Calls;
    for (const LockOperation *Op : Inner) {
      if (acquires(Op->Kind) && Op->Kind != Operation::Lock)
        return Is("nested", "tries to take another lock here", *Op);
      Calls.push_back(Op->Call);
      if (Op->Kind == Operation::Lock)
        Found.Inner.push_back({{Op->Node, Op->Part}, S.shown(Op->Call->getExprLoc())});
    }
    if (!Inner.empty() && !Held->balanced(Lock.Call, Text.Unlocks, Calls))
      return Is("nested", "takes another lock here, and may not release it on each path",
                *Inner.front());
    Calls.clear();
    for (const HeldOperation &Op : OtherLocks)
      if (within(Text.Statements, Op.Call) && !within(Text.Outside, Op.Call)) {
        Calls.push_back(Op.Call);
        if (acquires(Op.Kind))
          Found.OtherInner.push_back({Op.Lock, S.shown(Op.Call->getExprLoc())});
      }
    if (!Calls.empty() && !Held->balanced(Lock.Call, Text.Unlocks, Calls)) {
      Found.Form = Shape::Nested;
      against(Found, "nested", "takes or releases another lock here, but not both on each path",
              Calls.front()->getExprLoc());
      return false;
    }
    return true;
  }

  bool inLoop(const Stmt *Inner, const SectionText &Text) const {
    for (const Stmt *Up = Inner; Up && within(Text.Statements, Up); Up = Parents.getParent(Up))
      if (isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up))
        return true;
    return false;
  }

  // The statements after an unlock in a branch, if they end by leaving the section or at its end.
  bool findTail(const SectionText &Text, EarlyExitText &Exit) const {
    const Stmt *Unlock = Exit.Unlock->Branch;
    const CompoundStmt *Block = blockOf(Unlock);
    if (!Block) {
      Exit.Joins = true;
      return joins(Unlock, Text);
    }
    const Stmt *First = childOf(Block, Unlock);
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (After && leaves(Child, Text)) {
        Exit.Tail.push_back(Child);
        return tailIsPlain(Exit.Tail, Text);
      }
      if (const auto *Break = dyn_cast<BreakStmt>(Child); After && Break) {
        Exit.Break = Break;
        Exit.Joins = true;
        return tailIsPlain(Exit.Tail, Text) && joins(brokenBy(Break, Parents), Text);
      }
      if (After)
        Exit.Tail.push_back(Child);
      After |= Child == First;
    }
    Exit.Joins = true;
    return tailIsPlain(Exit.Tail, Text) && joins(Block, Text);
  }

  // The statements between an unlock and the lock behind it with which the section goes on.
  bool findGap(const LockOperation &Lock, const SectionText &Text, EarlyExitText &Exit) const {
    std::vector<const Stmt *> Between;
    const LockOperation *Relock = takenBehind(*Exit.Unlock, Lock, Between);
    auto Breaks = [](const Stmt *Statement) { return breaksOut(Statement); };
    if (!Relock || !tailIsPlain(Between, Text) || any_of(Between, Breaks))
      return false; // the caller has them in a loop
    Exit = {Exit.Unlock, std::move(Between)};
    Exit.Relock = Relock;
    return true;
  }

  // True if the statement leaves a loop or switch around it, or continues one.
  static bool breaksOut(const Stmt *Statement, bool InSwitch = false) {
    if (!Statement || isa<ForStmt>(Statement) || isa<WhileStmt>(Statement) ||
        isa<DoStmt>(Statement))
      return false;
    if (isa<ContinueStmt>(Statement) || (isa<BreakStmt>(Statement) && !InSwitch))
      return true;
    InSwitch |= isa<SwitchStmt>(Statement);
    return any_of(Statement->children(),
                  [&](const Stmt *Child) { return breaksOut(Child, InSwitch); });
  }

  // True if the section ends as soon as this statement of it does.
  bool joins(const Stmt *Inner, const SectionText &Text) const {
    return Text.Joins && within({Text.Joins}, Inner) && endsWith(Inner, Text.Joins, Parents);
  }

  bool leaves(const Stmt *Jump, const SectionText &Text) const {
    if (isa<ReturnStmt>(Jump))
      return true;
    if (const auto *Goto = dyn_cast<GotoStmt>(Jump))
      return !within(Text.Statements, Goto->getLabel()->getStmt());
    if (isa<BreakStmt>(Jump) || isa<ContinueStmt>(Jump)) {
      for (const Stmt *Up = Parents.getParent(Jump); Up && within(Text.Statements, Up);
           Up = Parents.getParent(Up)) {
        bool Loop = isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up);
        if (Loop || (isa<BreakStmt>(Jump) && isa<SwitchStmt>(Up)))
          return false;
      }
      return true;
    }
    const CallExpr *Call = soleCall(Jump);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Callee->isNoReturn();
  }

  // No label, and no jump to a loop or switch between the section's begin and the tail.
  bool tailIsPlain(const std::vector<const Stmt *> &Tail, const SectionText &Text) const {
    for (const Stmt *Statement : Tail)
      if (!plain(Statement, Statement, Text))
        return false;
    return true;
  }

  bool plain(const Stmt *Statement, const Stmt *Top, const SectionText &Text) const {
    if (!Statement)
      return true;
    if (isa<LabelStmt>(Statement) || isa<SwitchCase>(Statement))
      return isa<SwitchCase>(Statement) && Statement != Top;
    if (isa<GotoStmt>(Statement) && !leaves(Statement, Text))
      return false;
    if (isa<BreakStmt>(Statement) || isa<ContinueStmt>(Statement)) {
      bool InTail = false;
      for (const Stmt *Up = Parents.getParent(Statement); Up && Up != Parents.getParent(Top);
           Up = Parents.getParent(Up))
        InTail |= isa<ForStmt>(Up) || isa<WhileStmt>(Up) || isa<DoStmt>(Up) ||
                  (isa<BreakStmt>(Statement) && isa<SwitchStmt>(Up));
      if (!InTail && !leaves(Statement, Text))
        return false;
    }
    for (const Stmt *Child : Statement->children())
      if (!plain(Child, Top, Text))
        return false;
    return true;
  }

  // --- What a section's statements must not contain -------------------------------------------

  void examineStatement(const Stmt *Statement, Nesting Depth, const SectionText &Text,
                        Section &Found) {
    if (!Statement || is_contained(Text.Outside, Statement))
      return;
    SourceLocation At = Statement->getBeginLoc();
    if (isa<ReturnStmt>(Statement))
      against(Found, "held-at-exit", "returns with the lock held", At);
    if ((isa<BreakStmt>(Statement) && !Depth.Loops && !Depth.Switches) ||
        (isa<ContinueStmt>(Statement) && !Depth.Loops))
      against(Found, "held-at-exit", "leaves the block with the lock held", At);
    if (const auto *Goto = dyn_cast<GotoStmt>(Statement);
        Goto && !within(Text.Statements, Goto->getLabel()->getStmt()) && !atLastUnlock(Goto, Text))
      against(Found, "held-at-exit", "jumps out of the section with the lock held", At);
    if (isa<SwitchCase>(Statement) && !Depth.Switches)
      against(Found, "side-entry", "a case of an outer switch enters the section here", At);
    if (isa<AsmStmt>(Statement))
      against(Found, "assembly", "contains inline assembly", At);
    if (isa<AddrLabelExpr>(Statement))
      against(Found, "computed-goto", "takes the address of a label", At);
    if (isa<PredefinedExpr>(Statement) && !onlyInFailure(cast<PredefinedExpr>(Statement)))
      against(Found, "function-name", "uses the name of its function (__func__)", At);
    if (const auto *E = dyn_cast<Expr>(Statement))
      Found.UsesFloat |= E->getType()->isRealFloatingType();
    if (const auto *Call = dyn_cast<CallExpr>(Statement); Call && !is_contained(Text.Waits, Call))
      examineCall(Call, Found);
    if (const auto *Declared = dyn_cast<DeclStmt>(Statement))
      for (const Decl *D : Declared->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          examineVariable(V, is_contained(Text.Statements, Statement), Text, Found);
    if (isa<CompoundLiteralExpr>(Statement) && mayBeKept(cast<Expr>(Statement), Found))
      against(Found, "address-outlives",
              "the address of a literal is kept, which lives as long as the block", At);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement))
      if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
          V && V->getTLSKind() != VarDecl::TLS_None)
        Found.IdentityUses.push_back({"'" + V->getNameAsString() + "'", S.shown(At)});
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Statement); Ref && !declaredBefore(Ref->getDecl()))
      against(Found, "declared-late",
              "'" + Ref->getDecl()->getName() + "' is not declared before its function", At);
    if (isa<ForStmt>(Statement) || isa<WhileStmt>(Statement) || isa<DoStmt>(Statement))
      ++Depth.Loops;
    if (isa<SwitchStmt>(Statement))
      ++Depth.Switches;
    for (const Stmt *Child : Statement->children())
      examineStatement(Child, Depth, Text, Found);
  }

  // True if a macro names the function for a message before the program ends (`assert` does), which
  // is then about the extracted function: where the assertion stands.
  bool onlyInFailure(const PredefinedExpr *Name) const {
    if (S.inFile(Name->getLocation()))
      return false;
    const Stmt *Child = Name, *User = Parents.getParent(Name);
    while (isa_and_nonnull<ParenExpr>(User) || isa_and_nonnull<CastExpr>(User) ||
           (isa_and_nonnull<UnaryOperator>(User) &&
            cast<UnaryOperator>(User)->getOpcode() == UO_Extension)) {
      Child = User;
      User = Parents.getParent(User);
    }
    const auto *Call = dyn_cast_or_null<CallExpr>(User);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Callee->isNoReturn() && is_contained(Call->arguments(), Child);
  }

  // The extracted function stands before F: what it names must be declared there already.
  bool declaredBefore(const ValueDecl *D) const {
    const auto *V = dyn_cast<VarDecl>(D);
    if (V && !V->hasExternalStorage() && V->getDeclContext()->isFunctionOrMethod())
      return true; // a local variable, which is captured
    if (const auto *Builtin = dyn_cast<FunctionDecl>(D); Builtin && Builtin->getBuiltinID())
      return true;
    SourceLocation Begin = S.SM.getExpansionLoc(F->getBeginLoc());
    return any_of(D->redecls(), [&](const Decl *Redeclared) {
      return Redeclared->getLexicalDeclContext()->isFileContext() == !isa<EnumConstantDecl>(D) &&
             S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Redeclared->getLocation()), Begin);
    });
  }

  void examineVariable(const VarDecl *V, bool TopLevel, const SectionText &Text, Section &Found) {
    SourceLocation At = V->getLocation();
    if (V->getType()->isVariablyModifiedType() || typeOf(V->getType()))
      against(Found, "variable-type", "declares '" + V->getName() + "' with a variable type", At);
    constexpr int64_t Large = 4096; // bytes; the thread that runs the section has its own stack
    if (!V->getType()->isIncompleteType() && V->hasLocalStorage() &&
        S.Context.getTypeSizeInChars(V->getType()).getQuantity() > Large)
      against(Found, "stack-size",
              "'" + V->getName() + "' is large, and another thread's stack may be too small for it",
              At);
    if (V->hasAttr<CleanupAttr>())
      against(Found, "cleanup",
              "'" + V->getName() + "' has a cleanup function, which runs after the unlock", At);
    // A variable of the section's own block lives on after the unlock, and so may pointers to it.
    if (TopLevel && V->hasLocalStorage())
      for (const Mention &M : allMentions()) {
        if (M.Variable != V || !mayBeKept(M.Ref, Found))
          continue;
        if (Text.resumes() && mixedDeclarations())
          Escaping.push_back(V); // it goes into the context, which lives as long
        else
          against(Found, "address-outlives",
                  "the address of '" + V->getName() +
                      "' may be kept, which lives longer than "
                      "the section",
                  M.Ref->getExprLoc());
      }
  }

  // True if the address of the object that E names may outlive the expression that E stands in.
  bool mayBeKept(const Expr *E, Section &Found) const {
    bool Address = false;
    for (const Stmt *Child = E, *Up = Parents.getParent(E); Up;
         Child = Up, Up = Parents.getParent(Up)) {
      if (isa<ParenExpr>(Up) || isa<CStyleCastExpr>(Up))
        continue;
      if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Up)) {
        if (Cast->getCastKind() == CK_LValueToRValue && !Address)
          return false;
        Address |= Cast->getCastKind() == CK_ArrayToPointerDecay;
        continue;
      }
      if (const auto *Member = dyn_cast<MemberExpr>(Up)) {
        Address &= !Member->isArrow();
        continue;
      }
      if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(Up)) {
        if (Subscript->getIdx() == Child)
          return false;
        Address = false;
        continue;
      }
      if (const auto *Unary = dyn_cast<UnaryOperator>(Up)) {
        if (Unary->isIncrementDecrementOp())
          return Address;
        Address = Unary->getOpcode() == UO_AddrOf;
        continue;
      }
      if (const auto *Call = dyn_cast<CallExpr>(Up)) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        if (!Address)
          return false;
        if (!Callee || !Callee->getIdentifier())
          return true;
        bool Trusted = false;
        if (!keepsNoPointer(Callee->getName(), Linked.isDefined(nodeFor(Callee, S)), Linked.Project,
                            Trusted) &&
            !lockFunction(Callee->getName()))
          return true;
        if (Trusted)
          Found.Trusts.insert(Callee->getName().str());
        if (!Call->getType()->isPointerType())
          return false;
        continue; // memset and its like return what they were given
      }
      if (const auto *Binary = dyn_cast<BinaryOperator>(Up))
        return Address && !Binary->isComparisonOp();
      return Address && (isa<Expr>(Up) || isa<DeclStmt>(Up) || isa<ReturnStmt>(Up));
    }
    return Address;
  }

  // True if declarations may follow statements, as far as the project is concerned.
  bool mixedDeclarations() const {
    return S.Language.C99 && S.Context.getDiagnostics().isIgnored(diag::warn_mixed_decls_code,
                                                                  F->getBody()->getBeginLoc());
  }

  static bool typeOf(QualType T) {
    while (T->isPointerType())
      T = T->getPointeeType();
    return isa<TypeOfExprType>(T.getTypePtr());
  }

  // `goto out`, where `out:` labels the last unlock itself.
  bool atLastUnlock(const GotoStmt *Goto, const SectionText &Text) const {
    const Stmt *Target = Goto->getLabel()->getStmt()->getSubStmt();
    while (const auto *Label = dyn_cast<LabelStmt>(Target))
      Target = Label->getSubStmt();
    return !Text.Joins && soleCall(Target) == Text.Unlocks.front();
  }

  void examineCall(const CallExpr *Call, Section &Found) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    SourceLocation At = Call->getExprLoc();
    if (!Callee) {
      Found.IndirectCalls.push_back({S.shown(At), functionTypeText(Call->getCallee()->getType())});
      return;
    }
    StringRef Name = Callee->getIdentifier() ? Callee->getName() : "";
    if (lockFunction(Name))
      return; // a signal: the runtime's own
    if (Name == "alloca" || Name == "__builtin_alloca")
      against(Found, "alloca", "allocates on the stack of its function", At);
    if (Name.starts_with("__builtin_frame_address") ||
        Name.starts_with("__builtin_return_address") || Name.starts_with("__builtin_va_"))
      against(Found, "stack-frame", "looks at the stack frame of its function", At);
    recordCalls(Call, S, Found.Calls, Found.IndirectCalls);
  }

  // Jumps into the section.
  void examineLabels(const SectionText &Text, const SectionEnd &End, Section &Found) {
    for (const GotoStmt *Goto : Gotos) {
      const Stmt *Target = Goto->getLabel()->getStmt();
      bool FromInside = within(Text.Statements, Goto) && !within(Text.Outside, Goto);
      bool ToInside = within(Text.Statements, Target);
      bool ToLast = false;
      for (const Stmt *Up = End.Child; isa<LabelStmt>(Up); Up = cast<LabelStmt>(Up)->getSubStmt())
        ToLast |= Up == Target;
      if ((ToInside || ToLast) && !FromInside)
        against(Found, "side-entry", "a goto enters the section", Goto->getGotoLoc());
    }
  }

  // Variables that the section declares and that its function uses outside of it.
  void examineDeclarations(SectionText &Text, Section &Found) {
    for (const Mention &M : allMentions()) {
      bool Inside = within(Text.Statements, M.Ref) && !within(Text.Outside, M.Ref);
      if (!Inside && declaredBy(Text, M.Variable))
        hoist(M.Variable, "used after it", Text, Found);
      if (Inside && declaredInGap(Text, M.Variable))
        against(Found, "declaration-outlives",
                "'" + M.Variable->getName() +
                    "' is declared where the section has released its lock, and used behind that",
                M.Variable->getLocation());
    }
    sortHoisted(Text, Found);
  }

  bool declaredInGap(const SectionText &Text, const VarDecl *V) const {
    return any_of(Text.Gaps, [&](const Gap &G) {
      return any_of(G.Between,
                    [&](const Stmt *Statement) { return spans(Statement, V->getLocation()); });
    });
  }

  void hoist(const VarDecl *V, StringRef Use, SectionText &Text, Section &Found) {
    if (const DeclStmt *D = hoistable(V, Text, F, allMentions(), Parents, S)) {
      if (!is_contained(Text.Hoisted, D))
        Text.Hoisted.push_back(D);
    } else
      against(Found, "declaration-outlives",
              "'" + V->getName() + "' is declared in the section and " + Use, V->getLocation());
  }

  // Likewise in text after the section that this configuration drops.
  void examineDroppedAround(const Extraction &Placed, SectionText &Text, Section &Found) {
    Text.DroppedAround = namesAround(Placed, F, allMentions(), S);
    for (const Decl *D : F->decls())
      if (const auto *V = dyn_cast<VarDecl>(D);
          V && declaredBy(Text, V) && isNamed(V, Text.DroppedAround, F, Parents, S))
        hoist(V, "named after it in text that this configuration drops", Text, Found);
    sortHoisted(Text, Found);
  }

  void sortHoisted(SectionText &Text, Section &Found) {
    hoistFollowing(Text, Found);
    sort(Text.Hoisted, [&](const DeclStmt *A, const DeclStmt *B) {
      return S.SM.isBeforeInTranslationUnit(A->getBeginLoc(), B->getBeginLoc());
    });
    auto &Reasons = Found.Against;
    sort(Reasons);
    Reasons.erase(std::unique(Reasons.begin(), Reasons.end()), Reasons.end());
  }

  // Where declarations come first, none may follow one that becomes an assignment.
  void hoistFollowing(SectionText &Text, Section &Found) {
    if (mixedDeclarations())
      return;
    for (size_t I = 0; I < Text.Hoisted.size(); ++I) {
      const auto *Block = cast<CompoundStmt>(Parents.getParent(Text.Hoisted[I]));
      bool After = false;
      for (const Stmt *Child : Block->body()) {
        const auto *Next = dyn_cast<DeclStmt>(Child);
        if (After && Next && within(Text.Statements, Next) && !within(Text.Outside, Next) &&
            !is_contained(Text.Hoisted, Next)) {
          const auto *V = dyn_cast<VarDecl>(*Next->decl_begin());
          if (!V || hoistable(V, Text, F, allMentions(), Parents, S) != Next)
            return against(Found, "declaration-outlives",
                           "a declaration follows that of '" +
                               cast<VarDecl>(*Text.Hoisted[I]->decl_begin())->getName() +
                               "', which is used after the section",
                           Next->getBeginLoc());
          Text.Hoisted.push_back(Next);
        }
        After |= Child == Text.Hoisted[I];
      }
    }
  }

  // Types that the function declares, and that the section names without declaring them itself.
  void examineTypes(const SectionText &Text, Section &Found) {
    struct Finder : RecursiveASTVisitor<Finder> {
      std::vector<std::pair<const NamedDecl *, SourceLocation>> Named;
      bool VisitTypedefTypeLoc(TypedefTypeLoc T) { return add(T.getTypedefNameDecl(), T); }
      bool VisitTagTypeLoc(TagTypeLoc T) { return add(T.getDecl(), T); }
      bool add(const NamedDecl *D, TypeLoc At) {
        if (D->getDeclContext()->isFunctionOrMethod())
          Named.push_back({D, At.getBeginLoc()});
        return true;
      }
    } Types;
    for (const Stmt *Statement : Text.Statements)
      Types.TraverseStmt(const_cast<Stmt *>(Statement));
    for (const auto &[Declared, At] : Types.Named)
      if (none_of(Text.Statements,
                  [&](const Stmt *Statement) { return spans(Statement, Declared->getLocation()); }))
        against(Found, "local-type", "uses a type that only its function knows", At);
  }

  bool spans(const Stmt *Statement, SourceLocation L) const {
    L = S.SM.getExpansionLoc(L);
    return !S.SM.isBeforeInTranslationUnit(L, S.SM.getExpansionLoc(Statement->getBeginLoc())) &&
           !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Statement->getEndLoc()), L);
  }

  bool declaredBy(const SectionText &Text, const VarDecl *V) const {
    SourceLocation L = S.SM.getExpansionLoc(V->getLocation());
    for (const Stmt *Statement : Text.Statements)
      if (!S.SM.isBeforeInTranslationUnit(L, S.SM.getExpansionLoc(Statement->getBeginLoc())) &&
          !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Statement->getEndLoc()), L) &&
          !within(Text.Outside, Statement))
        return !declaredInTail(Text, V);
    return false;
  }

  bool declaredInTail(const SectionText &Text, const VarDecl *V) const {
    SourceLocation L = S.SM.getExpansionLoc(V->getLocation());
    return any_of(Text.Outside, [&](const Stmt *Tail) {
      return !S.SM.isBeforeInTranslationUnit(L, S.SM.getExpansionLoc(Tail->getBeginLoc())) &&
             !S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Tail->getEndLoc()), L);
    });
  }

  const std::vector<Mention> &allMentions() {
    if (!Mentions)
      Mentions = mentions(F->getBody(), Parents);
    return *Mentions;
  }

  // --- Extraction ---------------------------------------------------------------------------

  void extract(const LockOperation &Lock, const SectionEnd &End, SectionText &Text,
               const std::vector<EarlyExitText> &Exits, Section &Found) {
    Skips = false;
    Extraction Result;
    Result.FunctionName = Found.FunctionName;
    Result.Lock = Lock.Lock;
    if (!Lock.Visible && hasCompanion(Lock)) {
      const Function &Wrapper = Linked.Functions.at(Lock.Wrapper);
      Result.Through = {Lock.Wrapper, Wrapper.Name, *Wrapper.Wraps, Wrapper.Prototypes, {}};
      for (unsigned I : Wrapper.Wraps->Parameters)
        Result.Through->Arguments.push_back(operandText(Lock.Call->getArg(I)));
    }
    if (std::optional<MacroBody> Body = End.Unlock && !End.Guard
                                            ? macroBody(Lock.Statement, End.Unlock->Statement, S)
                                            : std::nullopt) {
      extractFromBody(*Body, Lock, End, Text, Exits, Result, Found);
    } else if (!placeText(Lock, End, Text, Exits, Result, Found)) {
      return;
    } else {
      captureAll(Text, Result, Found);
    }
    std::stable_partition(Result.Captures.begin(), Result.Captures.end(),
                          [](const Capture &C) { return C.How != Travel::Kept; });
    if (isa<LabelStmt>(End.Child) && End.Unlock && Text.resumes())
      Result.LastLabel = S.range(End.Child->getSourceRange())->Begin;
    if (Result.Through && !Text.Waits.empty())
      against(Found, "lock-not-visible",
              "'" + StringRef(Lock.Lock).ltrim('&') +
                  "' cannot be named in this file, and the section waits",
              Lock.Call->getExprLoc());
    if (Result.Macro.empty())
      checkConditions(Result, Text, Found);
    checkLockOperand(Lock, Text, Found);
    if (!Found.Against.empty())
      return;
    for (const Decl *D : F->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        Result.Taken.push_back(V->getNameAsString());
    // Names that mean something at file scope: macros of the section may mention them.
    for (StringRef Base : {"section", "context", "taken", "resume"})
      for (std::string Name : {Base.str(), Base.str() + "2", Base.str() + "3", Base.str() + "4"}) {
        const IdentifierInfo &Identifier = S.Context.Idents.get(Name);
        if (Identifier.hasMacroDefinition() ||
            !S.Context.getTranslationUnitDecl()->lookup(&Identifier).empty())
          Result.Taken.push_back(Name);
      }
    sort(Result.Taken);
    Result.Taken.erase(std::unique(Result.Taken.begin(), Result.Taken.end()), Result.Taken.end());
    Result.Wrappers.push_back(Lock.Wrapper);
    for (const LockOperation &Op : Operations)
      if (is_contained(Text.Unlocks, Op.Call))
        Result.Wrappers.push_back(Op.Wrapper);
    for (const Gap &G : Text.Gaps)
      Result.Wrappers.push_back(operationAt(G.Lock)->Wrapper);
    for (const CallExpr *Wait : Text.Waits)
      Result.Wrappers.push_back(operationAt(Wait)->Wrapper);
    erase_if(Result.Wrappers, [](const std::string &Node) { return Node.empty(); });
    Result.Inline = F->isInlineSpecified() && F->getStorageClass() == SC_Static;
    Result.C99 = S.Language.C99;
    Result.MixedDeclarations = mixedDeclarations();
    Result.OwnStatics = any_of(F->decls(), [&](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->isStaticLocal() && declaredBy(Text, V);
    });
    Found.Extract = std::move(Result);
  }

  // The text that moves may be other text where other conditions of the preprocessor hold.
  void checkConditions(const Extraction &Result, const SectionText &Text, Section &Found) {
    StringRef File = S.fileText(S.SM.getFileID(F->getBody()->getBeginLoc()));
    std::vector<Range> Branches = *conditionalBranches(File, Result.Whole);
    SourceLocation At = Text.Lock->getExprLoc();
    if (!canMove(Branches, Result))
      against(Found, "preprocessor", "text of the section stands under a condition and cannot move",
              At);
    std::set<unsigned> Compiled;
    if (!Branches.empty())
      collectPlaces(F->getBody(), Compiled);
    for (const Range &Branch : Branches)
      if (isSkipped(Branch, File, Compiled, S.Language) && !addSkipped(Branch, Text, Found))
        against(
            Found, "preprocessor",
            "text that is not compiled here leaves the section, or names what is not known here",
            S.SM.getLocForStartOfFile(S.SM.getFileID(F->getBody()->getBeginLoc()))
                .getLocWithOffset(Branch.Begin));
  }

  // Where a configuration compiles the branch, the section may also call what it names.
  bool addSkipped(const Range &Branch, const SectionText &Text, Section &Found) {
    auto Callees = readSkipped(Branch, F, S, [&](const FunctionDecl *Callee) {
      return lockFunction(Callee->getName()) || Linked.wrapperOf(nodeFor(Callee, S));
    });
    if (!Callees || any_of(Text.Dropped, [&](const DroppedName &D) {
          return D.Written && contains(Branch, D.At);
        }))
      return false;
    for (const FunctionDecl *Callee : *Callees)
      Found.Calls.push_back(
          {nodeFor(Callee, S), Callee->getName().str(), S.shown(Text.Lock->getExprLoc())});
    Found.UsesFloat = Found.StoresThroughPointer = Skips = true;
    return true;
  }

  void collectPlaces(const Stmt *Statement, std::set<unsigned> &Places) const {
    if (!Statement)
      return;
    Places.insert(S.shown(Statement->getBeginLoc()).Offset);
    for (const Stmt *Child : Statement->children())
      collectPlaces(Child, Places);
  }

  void captureAll(SectionText &Text, Extraction &Result, Section &Found) {
    if (!Liveness)
      Liveness.emplace(F);
    Text.Escaping = Escaping;
    if (Text.resumes())
      findWaits(Text, F, allMentions(), *Liveness, Parents, S, Result, Found.Against);
    placeHoisted(Text, S, Result);
    Text.Dropped = droppedNames(Result, F, allMentions(), S);
    findCaptures(Text, F, allMentions(), *Liveness, Parents, S, Result, Found.Against);
  }

  void extractFromBody(const MacroBody &Body, const LockOperation &Lock, const SectionEnd &End,
                       const SectionText &Text, const std::vector<EarlyExitText> &Exits,
                       Extraction &Result, Section &Found) {
    SourceLocation At = Lock.Call->getExprLoc();
    bool Arguments = Lock.ThroughWrapper && Lock.Call->getNumArgs();
    if (!Exits.empty() || !Text.Waits.empty() || !Text.Hoisted.empty() || Arguments)
      return against(Found, "macro-section",
                     "stands in the body of a macro, and is not a straight one", At);
    const Expr *Operand = Lock.ThroughWrapper ? nullptr : Lock.Call->getArg(0);
    extractFromMacro(Body, Lock.Statement, End.Unlock->Statement, Operand, Text, F, allMentions(),
                     Parents, S, Result, Found.Against);
    if (Result.Macro.empty())
      return;
    unsigned Begin = Result.FunctionBegin;
    StringRef File = S.fileText(S.SM.getMainFileID());
    layout(File, *S.range(F->getSourceRange()), Result);
    Result.FunctionBegin = aboveComment(File, Begin);
  }

  // The operand is evaluated once, before the section: a variable in it must not change inside.
  void checkLockOperand(const LockOperation &Lock, const SectionText &Text, Section &Found) {
    std::vector<const CallExpr *> Calls = Text.Unlocks;
    Calls.insert(Calls.begin(), Lock.Call);
    for (const Gap &G : Text.Gaps)
      Calls.push_back(G.Lock);
    SmallPtrSet<const ValueDecl *, 4> Loaded;
    if (Lock.Wraps)
      Found.Loads = Lock.Wraps->Loads;
    bool Unknown = Lock.Wraps && Lock.Wraps->LoadsUnknown;
    collectLoaded(Lock.Statement ? Lock.Statement : Lock.Call, Loaded, Unknown);
    if (Unknown)
      against(Found, "lock-expression", "the lock operand reads memory that may change",
              Lock.Call->getExprLoc());
    SmallVector<const Expr *, 4> Operands;
    for (const CallExpr *Call : Calls)
      append_range(Operands, Call->arguments());
    for (size_t I = 0; I < Text.Waits.size(); ++I)
      if (const Expr *Mutex = waitMutex(Text, I))
        Operands.push_back(Mutex);
    for (const Expr *Argument : Operands)
      if (!callIn(Argument) && Argument->HasSideEffects(S.Context))
        against(Found, "lock-expression", "the operand has an effect of its own",
                Argument->getExprLoc());
    for (const Expr *Argument : Operands)
      if (const CallExpr *Inner = callIn(Argument))
        against(Found, "lock-expression",
                "the lock operand calls a function, at the lock and at "
                "the unlock",
                Inner->getExprLoc());
    std::vector<OperandLoad> Loads = Found.Loads;
    for (const ValueDecl *D : Loaded)
      Loads.push_back(operandLoad(D, S));
    for (const Stmt *Statement : Text.Statements)
      checkStores(Statement, Loads, Text, Found);
    recordLoads(Loaded, Found);
    if (Skips && !Found.Loads.empty())
      against(Found, "preprocessor",
              "text that is not compiled here may change what the lock operand reads",
              Text.Lock->getExprLoc());
  }

  static const CallExpr *callIn(const Stmt *E) {
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return Call;
    for (const Stmt *Child : E->children())
      if (const CallExpr *Found = Child ? callIn(Child) : nullptr)
        return Found;
    return nullptr;
  }

  void recordLoads(const SmallPtrSetImpl<const ValueDecl *> &Loaded, Section &Found) {
    for (const ValueDecl *D : Loaded) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!V || V->hasGlobalStorage()) {
        Found.Loads.push_back(operandLoad(D, S));
      } else if ((!Found.Calls.empty() || Found.StoresThroughPointer) &&
                 any_of(allMentions(), [&](const Mention &M) {
                   return M.Variable == V && M.How == Mention::AddressTaken;
                 })) {
        against(Found, "lock-expression",
                "'" + V->getName() + "' in the lock operand may change in a callee",
                V->getLocation());
      }
    }
    sort(Found.Loads, [](const OperandLoad &A, const OperandLoad &B) { return A.Node < B.Node; });
  }

  void checkStores(const Stmt *Statement, const std::vector<OperandLoad> &Loads,
                   const SectionText &Text, Section &Found) {
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
    Found.StoresThroughPointer |= Changed && (!D || Changed->getType()->isPointerType());
    QualType Whole = Changed && !isa<UnaryOperator>(Statement) ? Changed->getType() : QualType();
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Statement); // handed on as bytes
        Cast && Cast->getCastKind() == CK_BitCast && Cast->getType()->isVoidPointerType() &&
        !Cast->getType()->getPointeeType().isConstQualified())
      Whole = Cast->getSubExpr()->getType()->getPointeeType();
    for (const OperandLoad &Load : Loads)
      if ((D && nodeFor(D, S) == Load.Node) || isPartOf(Load.Record, Whole))
        against(Found, "lock-expression",
                "'" + Load.Name + "' in the lock operand changes in the section",
                Statement->getBeginLoc());
    for (const Stmt *Child : Statement->children())
      checkStores(Child, Loads, Text, Found);
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

  unsigned throughSemicolon(StringRef Text, unsigned End) const {
    unsigned At = Text.find_first_not_of(" \t\r\n", End);
    return At < Text.size() && Text[At] == ';' ? At + 1 : End;
  }

  bool placeText(const LockOperation &Lock, const SectionEnd &Ends, SectionText &Text,
                 const std::vector<EarlyExitText> &Exits, Extraction &Result, Section &Found) {
    std::optional<Source::Range> First, End;
    if (Ends.Guard) {
      placeGuard(*Ends.Guard, First, End);
    } else {
      First = S.range(Lock.Statement->getSourceRange());
      const Stmt *LastStatement = Ends.Unlock ? Ends.Unlock->Statement : Ends.Child;
      End = S.range(LastStatement->getSourceRange());
    }
    std::optional<Source::Range> Whole = S.range(F->getSourceRange());
    auto InMacro = [&](SourceLocation At) {
      against(Found, "macro-section", "part of the section stands in a macro", At);
      return false;
    };
    SourceLocation At = Lock.Call->getExprLoc();
    if (!First || !End || !Whole || First->File != End->File || Whole->File != First->File ||
        !S.editable(F->getBody()->getBeginLoc()) || F->getBody()->getBeginLoc().isMacroID())
      return InMacro(At);
    StringRef File = S.fileText(First->File);
    Result.File = S.filePath(First->File);
    Result.Whole = {First->Begin, throughSemicolon(File, End->End)};
    Result.Completes = Ends.Unlock;
    if (Text.Joins && File[End->End - 1] == '}')
      Result.Whole.End = End->End;
    Result.Body = {throughSemicolon(File, First->End), Text.Joins ? Result.Whole.End : End->Begin};
    unsigned Position = Result.Body.Begin;
    for (const Stmt *Statement : Text.Statements) {
      std::optional<Source::Range> R = S.range(Statement->getSourceRange());
      if (isa<NullStmt>(Statement) && R && R->Begin < Position)
        continue; // the `;` after a macro that brings its own
      if (!R || R->File != First->File || R->Begin < Position || R->End > Result.Body.End)
        return InMacro(Statement->getBeginLoc());
      Position = R->End;
    }
    if (Result.Body.End < Position || sharesText(Lock, Ends, Text, Result.Whole))
      return InMacro(At);
    for (const EarlyExitText &Exit : Exits)
      if (!placeExit(Exit, File, First->File, Result))
        return InMacro(Exit.Unlock ? Exit.Unlock->Call->getExprLoc() : Exit.Break->getBeginLoc());
    examineDroppedAround(Result, Text, Found);
    if (!conditionalBranches(File, Result.Whole)) {
      against(Found, "preprocessor", "a preprocessor directive stands in the section", At);
      return false;
    }
    // The text moves to before its function: what a directive changes on the way must not matter.
    unsigned Open = S.SM.getFileOffset(F->getBody()->getBeginLoc());
    StringRef Before = File.slice(Open, Result.Whole.Begin);
    if (hasDirective(File.slice(Whole->Begin, Open), "") || hasDirective(Before, "define") ||
        hasDirective(Before, "undef") || hasDirective(Before, "pragma")) {
      against(Found, "preprocessor",
              "a preprocessor directive stands between the function's begin and the section", At);
      return false;
    }
    layout(File, *Whole, Result);
    if (!Ends.Guard && !isa<CompoundStmt>(Parents.getParent(Lock.Statement)))
      Result.InBranch = true; // a declaration must not follow a label
    if (!Text.Hoisted.empty() && (Result.InBranch || !mixedDeclarations()) &&
        !placeHoistedFirst(blockOf(Lock.Statement), File, Result)) {
      against(Found, "declaration-outlives",
              "variables of the section are used after it, and its block begins in a macro", At);
      return false;
    }
    if (Ends.Guard) {
      Result.InBranch = !isa_and_nonnull<CompoundStmt>(Parents.getParent(Ends.Guard->Outer));
      Result.BodyIndent =
          firstIndent(File.slice(Result.Body.Begin, Result.Body.End), Result.Indent);
    }
    return true;
  }

  // Hoisted variables are declared behind the first declarations of the lock's block.
  bool placeHoistedFirst(const CompoundStmt *Block, StringRef File, Extraction &Result) const {
    std::optional<Source::Range> After = S.range(Block->getLBracLoc());
    bool Declares = isa<DeclStmt>(*Block->body_begin());
    for (const Stmt *Child : Block->body()) {
      if (!isa<DeclStmt>(Child))
        break;
      After = S.range(Child->getSourceRange());
    }
    if (!After || S.filePath(After->File) != Result.File || After->End > Result.Whole.Begin)
      return false;
    Result.HoistAt = Declares ? withComment(File, After->End) : After->End;
    return true;
  }

  // First: the heads of the loops, through the brace. End: the closing brace, or the end of a body
  // without braces. What a macro makes of the heads must be all that it makes.
  void placeGuard(const GuardLoop &Guard, std::optional<Source::Range> &First,
                  std::optional<Source::Range> &End) const {
    SourceLocation Begin = Guard.Outer->getBeginLoc(), Head = Guard.Inner->getRParenLoc();
    bool Exact = (Begin.isFileID() || Lexer::isAtStartOfMacroExpansion(Begin, S.SM, S.Language)) &&
                 (Head.isFileID() || Lexer::isAtEndOfMacroExpansion(Head, S.SM, S.Language));
    const Stmt *Body = Guard.Inner->getBody();
    if (!Exact || Body->getBeginLoc().isMacroID())
      return;
    if (const auto *Block = dyn_cast<CompoundStmt>(Body)) {
      if (Block->getRBracLoc().isMacroID())
        return;
      First = S.range({Begin, Block->getLBracLoc()});
      End = S.range(Block->getRBracLoc());
    } else if ((End = S.range(Body->getSourceRange()))) {
      First = S.range({Begin, Head});
      End->Begin = End->End = throughSemicolon(S.fileText(End->File), End->End);
    }
  }

  // The indentation of the first line that begins in the text.
  static std::string firstIndent(StringRef Text, StringRef Else) {
    for (StringRef Line : drop_begin(split(Text, '\n')))
      if (!Line.trim().empty())
        return Line.take_while([](char C) { return C == ' ' || C == '\t'; }).str();
    return Else.str();
  }

  // A jump that ends the section and has nothing to do behind it.
  bool placeEnd(const Stmt *Jump, StringRef Text, FileID File, Extraction &Result) const {
    std::optional<Source::Range> R = S.range(Jump->getSourceRange());
    if (!R || R->File != File || Jump->getBeginLoc().isMacroID())
      return false;
    EarlyExit Placed;
    Placed.Joins = true;
    Placed.Unlock = {R->Begin, throughSemicolon(Text, R->End)};
    Placed.Tail = {Placed.Unlock.End, Placed.Unlock.End};
    Result.Exits.push_back(Placed);
    return true;
  }

  // True if a macro brings an end of the section together with what stands beside it.
  bool sharesText(const LockOperation &Lock, const SectionEnd &Ends, const SectionText &Text,
                  Range Whole) const {
    const Stmt *Begin = Ends.Guard ? Ends.Guard->Outer : Lock.Statement;
    const CompoundStmt *Block = blockOf(Begin);
    const Stmt *First = Block ? childOf(Block, Begin) : nullptr;
    return Block && any_of(Block->body(), [&](const Stmt *Child) {
             if (Child == First || Child == Ends.Child || isa<NullStmt>(Child) ||
                 is_contained(Text.Statements, Child))
               return false;
             std::optional<Source::Range> R = S.range(Child->getSourceRange());
             return !R || (R->Begin < Whole.End && R->End > Whole.Begin);
           });
  }

  bool placeExit(const EarlyExitText &Exit, StringRef Text, FileID File, Extraction &Result) const {
    if (!Exit.Unlock)
      return placeEnd(Exit.Break, Text, File, Result);
    std::optional<Source::Range> Unlock = S.range(Exit.Unlock->Branch->getSourceRange());
    if (!Unlock || Unlock->File != File || Unlock->Begin < Result.Body.Begin)
      return false;
    EarlyExit Placed;
    Placed.Joins = Exit.Joins;
    Placed.Tail.Begin = Placed.Tail.End = throughSemicolon(Text, Unlock->End);
    if (!Exit.Tail.empty()) {
      std::optional<Source::Range> Tail =
          S.range(SourceRange(Exit.Tail.front()->getBeginLoc(), Exit.Tail.back()->getEndLoc()));
      if (!Tail || Tail->File != File || Unlock->End > Tail->Begin + 1)
        return false;
      Placed.Tail.End = withComment(Text, throughSemicolon(Text, Tail->End));
    }
    Placed.Declares = any_of(Exit.Tail, [](const Stmt *S) { return isa<DeclStmt>(S); });
    Placed.Unlock = {Unlock->Begin, Placed.Tail.End};
    if (Exit.Break) {
      std::optional<Source::Range> Break = S.range(Exit.Break->getSourceRange());
      if (!Break || Break->File != File || Break->Begin < Placed.Tail.End)
        return false;
      Placed.Tail.End = Break->Begin; // and the comments before it
      Placed.Unlock.End = throughSemicolon(Text, Break->End);
    }
    if (Exit.Relock) {
      std::optional<Source::Range> Relock = S.range(Exit.Relock->Statement->getSourceRange());
      if (!Relock || Relock->File != File || Relock->Begin < Placed.Tail.End)
        return false;
      Placed.Tail.End = Relock->Begin; // and the comments before it
      Placed.Unlock.End = throughSemicolon(Text, Relock->End);
      Placed.Returns = 1 + count_if(Result.Exits, [](const EarlyExit &E) { return E.Returns; });
    }
    Result.Exits.push_back(Placed);
    return Placed.Unlock.End <= Result.Body.End;
  }

  static bool hasDirective(StringRef Text, StringRef Name) {
    for (StringRef Line : split(Text, '\n')) {
      Line = Line.ltrim();
      if (Line.consume_front("#") && Line.ltrim().starts_with(Name))
        return true;
    }
    return false;
  }

  // A comment on the same line belongs to the statement before it.
  static unsigned withComment(StringRef File, unsigned End) {
    StringRef Line = File.substr(End).split('\n').first;
    StringRef Rest = Line.ltrim();
    bool Comment =
        Rest.starts_with("//") || (Rest.starts_with("/*") && Rest.rtrim().ends_with("*/"));
    return Comment ? End + Line.rtrim().size() : End;
  }

  void layout(StringRef File, const Source::Range &Function, Extraction &Result) {
    size_t LineBegin = File.rfind('\n', Result.Whole.Begin) + 1;
    Result.Indent = File.slice(LineBegin, Result.Whole.Begin).str();
    if (StringRef(Result.Indent).find_first_not_of(" \t") != StringRef::npos)
      Result.Indent = File.slice(LineBegin, File.find_first_not_of(" \t", LineBegin)).str();
    Result.BodyIndent = Result.Indent;
    const auto *Body = cast<CompoundStmt>(F->getBody());
    unsigned Open = S.SM.getFileOffset(Body->getLBracLoc());
    StringRef Before = File.take_front(Open);
    Result.BraceOnOwnLine = Before.rtrim(" \t").ends_with("\n");
    Result.IndentUnit = "    ";
    if (!Body->body_empty()) {
      unsigned FirstStatement =
          S.SM.getFileOffset(S.SM.getExpansionLoc((*Body->body_begin())->getBeginLoc()));
      size_t FirstLine = File.rfind('\n', FirstStatement) + 1;
      StringRef Unit = File.slice(FirstLine, FirstStatement);
      if (!Unit.empty() && Unit.find_first_not_of(" \t") == StringRef::npos)
        Result.IndentUnit = Unit.str();
    }
    Result.FunctionBegin = aboveComment(File, Function.Begin);
  }

  // The begin of the function's first line, or of the comment that stands directly above it.
  static unsigned aboveComment(StringRef File, unsigned FunctionBegin) {
    size_t Begin = File.rfind('\n', FunctionBegin) + 1;
    if (File.slice(Begin, FunctionBegin).ltrim().size())
      return FunctionBegin; // something else stands before it on the line
    for (;;) {
      if (Begin == 0)
        return 0;
      size_t Previous = File.rfind('\n', Begin - 1) + 1;
      StringRef Line = File.slice(Previous, Begin - 1).trim();
      if (Line.starts_with("//")) {
        Begin = Previous;
      } else if (Line.ends_with("*/")) {
        size_t Open = File.take_front(Begin).rfind("/*");
        if (Open == StringRef::npos)
          return Begin;
        size_t OpenLine = File.rfind('\n', Open) + 1;
        if (File.slice(OpenLine, Open).ltrim().size())
          return Begin; // the comment ends a line of code
        Begin = OpenLine;
      } else if (Line.empty() || Line.starts_with("#") || Line.ends_with(";") ||
                 Line.ends_with("}") || Line.ends_with("\\") || Line.ends_with("*/")) {
        return Begin;
      } else {
        Begin = Previous; // a part of the declaration that a macro hides
      }
    }
  }
};

class SectionVisitor : public RecursiveASTVisitor<SectionVisitor> {
public:
  SectionVisitor(CompilerInstance &CI, const UnitFacts &Facts, const Program &Linked,
                 UnitSections &Result)
      : S(CI.getASTContext(), &CI.getPreprocessor()), Facts(Facts), Linked(Linked), Result(Result) {
  }

  bool VisitVarDecl(VarDecl *V) {
    if (V->isFileVarDecl())
      VisibleGlobals.insert(nodeFor(V, S));
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !S.inSystemHeader(F->getLocation()))
      FunctionSections(F, S, Facts, Linked, VisibleGlobals, Result).run();
    return true;
  }

private:
  Source S;
  const UnitFacts &Facts;
  const Program &Linked;
  UnitSections &Result;
  StringSet<> VisibleGlobals; // declared so far
};

} // namespace

UnitSections findSections(const tooling::CompileCommand &Command, const UnitFacts &Facts,
                          const Program &Linked, const Overlay *Replaced) {
  UnitSections Result;
  UnitActions Actions;
  Actions.End = [&](CompilerInstance &CI) {
    SectionVisitor(CI, Facts, Linked, Result)
        .TraverseDecl(CI.getASTContext().getTranslationUnitDecl());
  };
  parseUnit(Command, Actions, Replaced);
  return Result;
}

} // namespace relock
