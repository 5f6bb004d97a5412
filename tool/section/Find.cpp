// SPDX-License-Identifier: MIT
//
// A section is delegated only if its text proves that it can be. It ends in the block of its lock:
// at an unlock, or behind a statement that no path gets through with the lock held (an `if` that
// unlocks in both arms). Every other unlock of it is directly followed by statements that leave the
// block or reach that end, or by statements and the same lock again, and nothing else enters or
// leaves the text between. The proof is by structure, so that it holds for every path without an
// analysis of paths. Whatever does not have this structure is classified for the user and held.
#include "section/Find.h"

#include "index/Cleanup.h"
#include "index/LockApi.h"
#include "index/Touched.h"
#include "section/Companions.h"
#include "section/Contents.h"
#include "section/Directives.h"
#include "section/Dropped.h"
#include "section/Flow.h"
#include "section/Hoist.h"
#include "section/LockOperand.h"
#include "section/MacroBody.h"
#include "section/Nest.h"
#include "section/Place.h"
#include "section/Pointers.h"
#include "section/Scope.h"
#include "section/Skipped.h"
#include "section/Tails.h"
#include "section/Waits.h"
#include "support/MacroText.h"
#include "support/Messages.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <utility>

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

class FunctionSections {
public:
  FunctionSections(FunctionDecl *F, const Source &S, const SiteIndex &Sites,
                   const ProgramView &Linked, const StringSet<> &VisibleGlobals,
                   StaticUses &Statics, UnitSections &Result)
      : F(F), S(S), Linked(Linked), VisibleGlobals(VisibleGlobals), Result(Result),
        Parents(F->getBody()), Locks(F, S, Sites, Linked, VisibleGlobals, Parents, Statics) {}

  void run() {
    for (const CallExpr *Call : Locks.Assertions)
      Result.Assertions.push_back(place(Call));
    if ((Operations.empty() && Locks.Others.empty()) || Linked.operatorOf(nodeFor(F, S)))
      return; // an operator's callers have the lock
    markEnds(F->getBody());
    collectJumps(F->getBody());
    std::string Function = nodeFor(F, S);
    followLocks(Function);
    bool InMacro = F->getBody()->getBeginLoc().isMacroID();
    for (const LockOperation &Op : Operations) {
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
      if (!Matched.contains(Op.Call) || ignoresError(Op))
        Result.Loose.push_back({Function, spelledName(), {Op.Node, Op.Part}, place(Op.Call)});
  }

private:
  FunctionDecl *F;
  const Source &S;
  const ProgramView &Linked;
  const StringSet<> &VisibleGlobals;
  UnitSections &Result;
  ParentMap Parents;
  LockOperations Locks;
  const std::vector<LockOperation> &Operations = Locks.All;
  std::vector<const GotoStmt *> Gotos;
  bool ComputedGoto = false, LocalTypes = false, CallsSetjmp = false;
  SmallPtrSet<const CallExpr *, 8> Matched; // the operations of simple sections
  // The locks with which a section goes on that has released its own, and that section.
  DenseMap<const CallExpr *, std::pair<Position, Shape>> Continued;
  std::optional<HeldLocks> Held;
  std::optional<CallLiveness> Liveness;
  std::optional<std::vector<Mention>> Mentions, Left;
  bool Skips = false; // the section has text that is not compiled

  // A macro may give the function another name in each configuration. `VERSIONED(open, "1.1",
  // int)`: what it makes the name of.
  std::string spelledName() const {
    const SourceLocation At = S.SM.getExpansionRange(F->getLocation()).getBegin();
    StringRef Spelled = Lexer::getSourceText(CharSourceRange::getTokenRange(At), S.SM, S.Language);
    if (F->getBody()->getBeginLoc().isMacroID() || !isValidAsciiIdentifier(Spelled))
      return F->getNameAsString();
    if (F->getName() != Spelled && S.macroAt(Spelled, At))
      for (const std::string &Argument : argumentsAt(At, S))
        if (isValidAsciiIdentifier(Argument) && F->getName().contains(Argument))
          return Argument;
    return Spelled.str();
  }

  Position place(const CallExpr *Call) const { return S.shown(Call->getExprLoc()); }

  // Tells clang, whose control-flow graphs are used, which callees never return.
  void markEnds(const Stmt *Statement) {
    const auto *Call = dyn_cast<CallExpr>(Statement);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (Callee && !Callee->isNoReturn() && !Callee->getBuiltinID() &&
        Linked.neverReturns(nodeFor(Callee, S)))
      for (FunctionDecl *D : Callee->getCanonicalDecl()->redecls())
        D->addAttr(NoReturnAttr::CreateImplicit(S.Context));
    for (const Stmt *Child : Statement->children())
      if (Child)
        markEnds(Child);
  }

  // --- Operations -------------------------------------------------------------------------

  void followLocks(const std::string &Function) {
    std::vector<HeldOperation> All = Locks.Others;
    std::optional<OtherLock> Operator = Linked.otherLock(F->getNameAsString());
    const OtherOperator *Relay = Linked.relayOfOtherLock(Function);
    for (const HeldOperation &Op : Locks.Others)
      if (acquires(Op.Kind) && !Relay && Op.Lock.Node != ConvertedMutex)
        Result.Others.push_back({Op.Lock.Node, place(Op.Call)});
    for (const HeldOperation &Op : Locks.Others)
      if (Op.Kind == Operation::Lock || Op.Kind == Operation::TimedLock) {
        // What a relay is given, it takes for its callers, who say which lock that is.
        if (!Relay || !Relay->ofArgument() || Relay->Expression != "$")
          Result.Takes.push_back({Function, spelledName(), Op.Lock, place(Op.Call)});
        // The library function, too: its address may be taken.
        std::string Callee = nodeFor(Op.Call->getDirectCallee(), S);
        if (!Linked.relayOfOtherLock(Callee))
          Result.Takes.push_back({Callee, "", Op.Lock, {}});
      }
    for (const LockOperation &Op : Operations) {
      HeldOperation Own = {
          Op.Call, Op.Kind, Op.Key, {Op.Node, Op.Part}, Op.ThroughWrapper && !Op.Pure};
      Own.Scope = Op.Scope;
      Own.Guard = Op.FixedGuard;
      Own.SucceedsNonzero = Op.result() != 0;
      Own.Repeats = false; // other locks may be recursive, or only read
      Own.Retries = Op.Uses || (!Op.Branch && !Locks.resultIgnored(Op.Call));
      All.push_back(Own);
      for (const CallExpr *Other : Op.Others) {
        Own.Call = Other;
        All.push_back(Own);
      }
      if (Op.Kind == Operation::Lock || Op.Kind == Operation::TimedLock)
        Result.Takes.push_back({Function, spelledName(), {Op.Node, Op.Part}, place(Op.Call)});
    }
    Held.emplace(F, std::move(All), Locks.never(), Locks.entrances());
    if (const HeldOperation *Op = Held->takenAgain(); Op && !releases(Op->Lock.Node))
      Result.TakenAgain.push_back({Function, spelledName(), Op->Lock, place(Op->Call)});
    const Wrapper *Own = Linked.wrapperOf(Function);
    Held->describe(S, Function, spelledName(),
                   Own && acquires(Own->Kind) ? Own->Node
                   : Relay                    ? Relay->Does.Type
                                              : "",
                   Operator, Result.Under);
    auto Kept =
        find_if(Locks.Others, [&](const HeldOperation &Op) { return Held->keeps(Op.Call); });
    if (Kept != Locks.Others.end() && !Operator && !Relay)
      Result.Keepers.push_back({Function, spelledName(), Kept->Lock, place(Kept->Call)});
  }

  // Of the lock's class; empty: it has none.
  std::string idOf(const std::string &LockNode) const {
    std::optional<ClassOfLock> Class = Linked.classOf(LockNode);
    return Class ? Class->Id : "";
  }

  // True if the function releases a lock of that class.
  bool releases(const std::string &Node) const {
    return any_of(Operations, [&](const LockOperation &Op) {
      return Op.Kind == Operation::Unlock && idOf(Op.Node) == idOf(Node);
    });
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
        CallsSetjmp |= (Callee->hasAttr<ReturnsTwiceAttr>() && !isOfCleanup(Call)) ||
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

  void analyse(const LockOperation &Lock, Section &Found) {
    SourceLocation At = Lock.Call->getExprLoc();
    if (Lock.Kind != Operation::Lock) {
      Found.Form = Shape::Try;
      return against(Found, "try", "the lock may not be taken", At);
    }
    if (Lock.Scope)
      return examineScope(Lock, Found);
    if (std::optional<GuardLoop> Guard = guardLoop(Lock))
      return examineGuard(Lock, *Guard, Found);
    if (const LockOperation *Pop = pushedBehind(Lock))
      return examine(
          Lock, {childOf(blockOf(Pop->Statement, Parents), Pop->Statement, Parents), Pop}, Found);
    if (const LockOperation *Unlock =
            Lock.Enters ? Locks.unlockEnding(*Lock.Enters, Lock) : nullptr)
      return examineEntered(Lock, *Unlock, Found);
    SectionEnd End = Lock.Statement ? sectionEnd(Lock) : SectionEnd();
    if (!End.Child)
      return classify(Lock, Found);
    examine(Lock, End, Found);
  }

  std::optional<GuardLoop> guardLoop(const LockOperation &Lock) const {
    auto Succeeds = [&](const CallExpr *Call) -> std::optional<int64_t> {
      const LockOperation *Op = Locks.at(Call);
      if (!Op || (Op->Kind != Operation::Lock && Op->Kind != Operation::Unlock))
        return std::nullopt;
      bool Succeeds = Locks.resultIgnored(Call) || Locks.cannotFail(*Op);
      return Op->Pure && Succeeds ? std::optional(Op->result()) : std::nullopt;
    };
    std::optional<GuardLoop> Guard = relock::guardLoop(Lock.Call, Parents, S.Context, Succeeds);
    const LockOperation *Unlock = Guard ? Locks.at(Guard->Unlock) : nullptr;
    bool Releases = Unlock && Unlock->Kind == Operation::Unlock && sameLock(*Unlock, Lock) &&
                    !Lock.hasRest() && !Unlock->hasRest();
    return Releases ? Guard : std::nullopt;
  }

  // The pop of a handler that is pushed directly behind the lock.
  const LockOperation *pushedBehind(const LockOperation &Lock) const {
    const CompoundStmt *Block =
        Lock.Statement && !Lock.hasHeldRest() ? blockOf(Lock.Statement, Parents) : nullptr;
    for (const LockOperation &Op : Operations)
      if (Block && Op.Push && sameLock(Op, Lock) && follows(Op.Push, Lock.last(), Block))
        return &Op;
    return nullptr;
  }

  // The first statement after the lock that unlocks, or that no path gets through with the lock
  // held; but if a goto passes over it to where the lock is released otherwise, the next such.
  SectionEnd sectionEnd(const LockOperation &Lock) const {
    const CompoundStmt *Block = blockOf(Lock.Statement, Parents);
    const Stmt *First = childOf(Block, Lock.Statement, Parents); // with its labels
    SectionEnd End;
    std::vector<const Stmt *> Passed;
    const Stmt *Resume = nullptr; // the label of such a goto
    bool After = false;
    for (const Stmt *Child : Block->body()) {
      if (is_contained(Lock.gone(), Child) && Child != First)
        continue;
      if (After && Child == Resume)
        Resume = nullptr;
      if (After && !Resume &&
          (endsAt(Child, Block, Lock, End) || goesNowhere(Child, Passed, Lock, End))) {
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
      if (Op.Statement && blockOf(Op.Statement, Parents) == Block &&
          childOf(Block, Op.Statement, Parents) == Child) {
        End = {Child, &Op};
        return true;
      }
      std::vector<const Stmt *> Between;
      if (Op.Branch && within({Child}, Op.Branch) &&
          !takenBehind(Op, Lock, Between, Operations, Parents))
        Unlocks.insert(Op.Branch);
    }
    if (Unlocks.empty() || completes(Child, [&](const Stmt *S) { return Unlocks.contains(S); }))
      return false;
    End = {Child, nullptr};
    return true;
  }

  // A worker's endless loop, which releases the lock for a while, or a call that never returns
  // behind the last way out.
  bool goesNowhere(const Stmt *Child, const std::vector<const Stmt *> &Passed,
                   const LockOperation &Lock, SectionEnd &End) const {
    const ScopeExits Ways = scopeExits({Child}, Parents);
    if (completes(Child, [](const Stmt *) { return false; }) || !Ways.Returns.empty() ||
        !Ways.Jumps.empty() || none_of(Operations, [&](const LockOperation &Op) {
          return Op.Kind == Operation::Unlock && sameLock(Op, Lock) &&
                 (within({Child}, Op.Call) || within(Passed, Op.Call));
        }))
      return false;
    End = {Child, nullptr};
    return true;
  }

  // The label behind End in its block to which a goto goes with the lock held.
  const Stmt *heldTarget(const std::vector<const Stmt *> &Passed, const Stmt *End,
                         const CompoundStmt *Block, const LockOperation &Lock) const {
    for (const GotoStmt *Goto : Gotos) {
      if ((!within(Passed, Goto) && !within({End}, Goto)) || released(Goto, Block, Lock))
        continue;
      const Stmt *Target = childOf(Block, Goto->getLabel()->getStmt(), Parents);
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
      const CompoundStmt *Block = blockOf(Op.Branch, Parents);
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
      Value &= !Lock.Branch && Used && soleCall(cast<Stmt>(Lock.Call)) == Lock.Call;
      const std::optional<ClassOfLock> Class = Linked.classOf(Lock.Node);
      if (Value && Class && !Class->ChecksErrors.empty() && (!Lock.Wraps || Lock.Wraps->Pure))
        return against(
            Found, "tested-result",
            "the result of the lock operation is used, and the mutex may check errors (" +
                Class->ChecksErrors + ")",
            At);
      if (Value && Lock.ThroughWrapper && !Lock.Pure)
        return against(Found, "wrapper-effects",
                       "the lock wrapper does more than to lock, and its result is used", At);
      if (Value)
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
    const LockOperation *Conditional = Backwards ? nullptr : unlockInBranch(Lock);
    for (const LockOperation *Op : {&Lock, Release})
      if (const Stmt *Whole = statementOfMacro(Op->Call, Parents, S);
          !Backwards && Whole && Whole != Op->Statement)
        return against(Found, "split", "stands in a macro that does more, and is not divided",
                       Op->Call->getExprLoc());
    against(Found, Backwards ? "loop-carried" : "split",
            Conditional ? "is unlocked under a condition, and what follows runs with or without "
                          "the lock"
                        : "no unlock follows in the block of the lock",
            (Conditional ? Conditional : Release)->Call->getExprLoc());
  }

  // An unlock in a branch of a statement behind the lock in its block.
  const LockOperation *unlockInBranch(const LockOperation &Lock) const {
    const CompoundStmt *Block = blockOf(Lock.Statement, Parents);
    auto Found = find_if(Operations, [&](const LockOperation &Op) {
      return Op.Kind == Operation::Unlock && sameLock(Op, Lock) &&
             isa_and_nonnull<IfStmt>(childOf(Block, Op.Call, Parents)) &&
             S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Lock.Call->getExprLoc()),
                                            S.SM.getExpansionLoc(Op.Call->getExprLoc()));
    });
    return Found == Operations.end() ? nullptr : &*Found;
  }

  void examine(const LockOperation &Lock, const SectionEnd &End, Section &Found) {
    const CompoundStmt *Block = blockOf(Lock.Statement, Parents);
    SectionText Text;
    Text.Lock = Lock.Call;
    bool After = false;
    auto AddRest = [&](const LockOperation *Op) {
      if (!Op || !Op->hasHeldRest())
        return;
      Text.Statements.push_back(Op->Statement);
      append_range(Text.Outside, Op->InMacro);
    };
    AddRest(&Lock);
    if (End.Unlock && End.Unlock->Push && blockOf(End.Unlock->Statement, Parents) != Block) {
      Block = blockOf(End.Unlock->Statement, Parents);
      After = true; // the lock stands before the push
    }
    if (End.Unlock) {
      Text.Unlocks.push_back(End.Unlock->Call);
      Text.Last = End.Unlock->Statement;
    } else {
      Text.Joins = End.Child;
    }
    for (const Stmt *Child : Block->body()) {
      if (After && (Child != End.Child || Text.Joins) && !is_contained(Lock.gone(), Child))
        Text.Statements.push_back(Child);
      if (Child == End.Child)
        break;
      After |= Child == childOf(Block, Lock.Statement, Parents);
    }
    AddRest(End.Unlock);
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
    if (End.Unlock)
      Matched.insert(End.Unlock->Call);
    against(Found, "empty", "there is nothing in it: it waits for others to leave",
            Lock.Call->getExprLoc());
    return true;
  }

  // A section that is the body of a loop whose head locks and unlocks.
  void examineGuard(const LockOperation &Lock, const GuardLoop &Guard, Section &Found) {
    SectionText Text;
    Text.Lock = Lock.Call;
    Text.Unlocks.push_back(Guard.Unlock);
    Text.Statements = Guard.Body;
    SectionEnd End = {Guard.Outer, Locks.at(Guard.Unlock), &Guard};
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
      Exits.push_back({nullptr, {}, nullptr, Jump, true});
    }
    Found.Form = !Text.Waits.empty() ? Shape::Waiting
                 : Exits.empty()     ? Shape::Straight
                                     : Shape::EarlyExit;
    examineText(Lock, End, Text, Exits, Found);
  }

  void examineEntered(const LockOperation &Lock, const LockOperation &Unlock, Section &Found) {
    SectionText Text;
    Text.Lock = Lock.Call;
    Text.Unlocks.push_back(Unlock.Call);
    Text.Last = Unlock.Statement;
    for (const Stmt *Child : Lock.Enters->Arm->body()) {
      if (Child == Unlock.Statement)
        break;
      Text.Statements.push_back(Child);
    }
    SectionEnd End = {Unlock.Statement, &Unlock, nullptr, nullptr, &*Lock.Enters};
    std::vector<EarlyExitText> Exits;
    if (endIfEmpty(Lock, End, Text, Found) || !examineOperations(Lock, Text, Exits, Found))
      return;
    Found.Form = Found.Inner.empty() ? Shape::Straight : Shape::Nested;
    examineText(Lock, End, Text, Exits, Found);
  }

  // A section that ends with the block of its lock.
  void examineScope(const LockOperation &Lock, Section &Found) {
    const auto *Block = cast<CompoundStmt>(Parents.getParent(Lock.Statement));
    SectionText Text;
    Text.Lock = Lock.Call;
    Text.InScope = true;
    Text.Statements = statementsUnder(Lock, Block);
    SectionEnd End = {Block->body_back(), nullptr, nullptr, Block};
    if (endIfEmpty(Lock, End, Text, Found))
      return;
    if (Block->getRBracLoc().isMacroID()) {
      Matched.insert(Lock.Call);
      return against(Found, "macro-section", "part of the section stands in a macro",
                     Lock.Call->getExprLoc());
    }
    std::vector<EarlyExitText> Exits;
    if (!examineOperations(Lock, Text, Exits, Found))
      return;
    if (!Exits.empty()) {
      Found.Form = Shape::Split;
      return against(Found, "split", "unlocks here, in a block whose end unlocks",
                     Exits.front().Unlock->Call->getExprLoc());
    }
    leaveScope(Block, Text, Exits);
    Found.Form = !Found.Inner.empty()  ? Shape::Nested
                 : !Text.Waits.empty() ? Shape::Waiting
                 : Exits.empty()       ? Shape::Straight
                                       : Shape::EarlyExit;
    examineText(Lock, End, Text, Exits, Found);
  }

  // The ways out of such a section: it returns what its function does, or its caller leaves.
  void leaveScope(const CompoundStmt *Block, SectionText &Text, std::vector<EarlyExitText> &Exits) {
    const ScopeExits Ways = scopeExits(Text.Statements, Parents);
    bool Ends = !completes(Block, [](const Stmt *) { return false; });
    Text.Leaves = Ways.Jumps.empty() && (Ends || Block == F->getBody());
    // By a macro of the program's it may be another type elsewhere.
    const SourceLocation Written = F->getReturnTypeSourceRange().getBegin();
    const bool Known = !Written.isMacroID() || S.SM.isInSystemMacro(Written);
    Text.ReturnsForFunction =
        Ends && Known && Ways.Jumps.empty() && !Ways.Returns.empty() && !Text.resumes() &&
        all_of(Ways.Returns, [&](const ReturnStmt *R) { return fitsInt(R, F, S.Context); });
    bool Void = F->getReturnType()->isVoidType(); // which `return f();` may have the value of
    Text.Returns = Text.ReturnsForFunction || any_of(Ways.Returns, [&](const ReturnStmt *R) {
                     return !Void && !isValueBehind(R, allMentions(), S.Context);
                   });
    for (const Stmt *Jump : Ways.Jumps)
      Exits.push_back({nullptr, {Jump}});
    for (const ReturnStmt *Return : Ways.Returns)
      if (Text.Returns && !Text.ReturnsForFunction)
        Exits.push_back({nullptr, {}, Return});
      else if (!Text.Returns && Block == F->getBody() && !Return->getRetValue())
        Exits.push_back({nullptr, {}, nullptr, Return, true}); // where the section ends anyway
      else if (!Text.Returns && !(Void && Return->getRetValue()))
        Exits.push_back({nullptr, {Return}});
    for (const EarlyExitText &Exit : Exits)
      if (!Exit.Value)
        Text.Outside.push_back(Exit.Break ? Exit.Break : Exit.Tail.front());
  }

  // The field for the values that the caller returns.
  void addResult(Extraction &Result) const {
    for (unsigned N = 1; Result.Result.empty(); ++N) {
      std::string Name = N == 1 ? "result" : "result_" + std::to_string(N);
      if (none_of(Result.Captures, [&](const Capture &C) { return C.Name == Name; }) &&
          !S.Context.Idents.get(Name).hasMacroDefinition())
        Result.Result = Name;
    }
    Capture C;
    C.Name = Result.Result;
    C.How = Travel::Kept;
    C.Field = declarationText(returnAsWritten(F, S), C.Name, F->getBeginLoc(), S);
    Result.Captures.push_back(std::move(C));
  }

  // What runs when variables of the section end, which it does before it unlocks.
  void examineCleanups(const SectionText &Text, Section &Found) {
    for (const Decl *D : F->decls()) {
      const auto *V = dyn_cast<VarDecl>(D);
      if (!Text.InScope || !V || !V->hasAttr<CleanupAttr>() || !declaredBy(Text, V) ||
          any_of(Operations, [&](const LockOperation &Op) { return Op.Scope == V; }))
        continue;
      std::vector<relock::Call> Cleanup;
      recordCleanup(V, S, Cleanup, Found.IndirectCalls);
      if (any_of(Cleanup, [&](const relock::Call &C) { return Linked.wrapperOf(C.Function); }))
        against(Found, "releases-lock",
                "'" + V->getName() + "' releases a lock at the end of its scope", V->getLocation());
      append_range(Found.Calls, Cleanup);
    }
  }

  // The program goes on where the lock fails; relock_execute() has no result that says so. The
  // unlock releases what a section around it has locked.
  bool ignoresError(const LockOperation &Lock) const {
    std::optional<ClassOfLock> Class = Linked.classOf(Lock.Node);
    return Class && !Class->ChecksErrors.empty() && Lock.Kind == Operation::Lock && !Lock.Tests;
  }

  void checkIgnoredError(const LockOperation &Lock, Section &Found) {
    if (ignoresError(Lock))
      against(Found, "ignored-error",
              "takes a mutex here that may check errors (" +
                  Linked.classOf(Lock.Node)->ChecksErrors + "), and goes on where that fails",
              Lock.Call->getExprLoc());
  }

  // What a delegated section does not do any more.
  void collectTests(const SectionText &Text, Section &Found) {
    bool Prints = false;
    auto Add = [&](const CallExpr *Call) {
      const LockOperation *Op = Locks.at(Call);
      if (Op && Op->Prints && !std::exchange(Prints, true))
        against(Found, "lock-message", "prints a message about the lock operation",
                Call->getExprLoc());
      if (Op && Op->Wraps && Op->Wraps->Tests)
        Found.Tests.insert({Op->Wraps->Begin, Linked.nameOf(Op->Wrapper)});
      else if (Op && Op->Tests &&
               (Op->Kind != Operation::Wait || (Op->Checked && soleCall(Op->Checked) != Call)))
        Found.Tests.insert(testAt(Call->getExprLoc()));
    };
    Add(Text.Lock);
    for_each(Text.Unlocks, Add);
    for_each(Text.Waits, Add);
    for (const Gap &G : Text.Gaps)
      Add(G.Lock);
  }

  ResultTest testAt(SourceLocation At) const {
    if (S.inFile(At))
      return {S.shown(At), ""};
    while (S.SM.isMacroArgExpansion(At))
      At = S.SM.getImmediateSpellingLoc(At);
    return {S.spelled(At), Lexer::getImmediateMacroName(At, S.SM, S.Language).str()};
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
    checkIgnoredError(Lock, Found);
    collectTests(Text, Found);
    if (auto Body = End.Unlock && Lock.Statement
                        ? macroBody(Lock.Statement, End.Unlock->Statement, S)
                        : std::nullopt;
        Body && Linked.evaluatesBefore(Body->Name))
      append_range(Text.Outside, argumentsBefore(*Body, Text, F, allMentions(), Parents, S));
    dropMentions(Text);
    Found.Touched = touchedLines(Text.Statements, S, [&](const Stmt *Statement) {
      return is_contained(Text.Outside, Statement);
    });
    examineContents(Text, F, LocalTypes, Parents, S, Found);
    examineHandlers(Text, Found);
    examineCleanups(Text, Found);
    examineLabels(Text, End, Found);
    examineDeclarations(Text, Found);
    if (ComputedGoto)
      against(Found, "computed-goto", "the function has a computed goto", F->getLocation());
    if (CallsSetjmp)
      against(Found, "jumps", "the function calls setjmp", F->getLocation());
    std::optional<Companion> Through = companionOf(Lock, Text);
    const bool Around = Through && Through->Around;
    if (!Through || Through->Configuration.empty())
      for (const LockOperation &Op : Operations)
        if (Op.Wraps && varies(*Op.Wraps, F, S) &&
            (Op.Call == Text.Lock || is_contained(Text.Unlocks, Op.Call)))
          Found.Varying.insert({Op.Wraps->Begin, Linked.nameOf(Op.Wrapper)});
    if (Lock.ThroughWrapper && !Lock.Pure && !Around)
      against(Found, "wrapper-effects",
              "the lock wrapper does more than to lock, or its lock cannot be named here",
              Lock.Call->getExprLoc());
    for (const LockOperation &Op : Operations)
      if (is_contained(Text.Unlocks, Op.Call) && Op.ThroughWrapper && !Op.Pure && !Around)
        against(Found, "wrapper-effects", "the unlock wrapper does more than to unlock",
                Op.Call->getExprLoc());
    if (!Lock.Visible && !Through)
      against(Found, "lock-not-visible",
              "'" + StringRef(Lock.Lock).ltrim('&') + "' cannot be named in this file",
              Lock.Call->getExprLoc());
    if (Around)
      for (const Wrapper *W : {&Through->Facts, Through->Unlock ? &*Through->Unlock : nullptr})
        if (W) {
          append_range(Found.Calls, W->Body->Calls);
          if (W->Body->Tests)
            Found.Tests.insert({W->Begin, W == &Through->Facts
                                              ? Through->Name
                                              : Linked.nameOf(Through->UnlockNode)});
        }
    extract(Lock, std::move(Through), End, Text, Exits, Found);
    Left.reset();
  }

  // The operations of a section that is delegated; the last unlock first, where there is one.
  std::vector<const LockOperation *> operationsOf(const SectionText &Text) const {
    std::vector<const LockOperation *> Own = {Locks.at(Text.Lock)};
    for (const CallExpr *Unlock : Text.Unlocks)
      Own.push_back(Locks.at(Unlock));
    for (const Gap &G : Text.Gaps)
      Own.push_back(Locks.at(G.Lock));
    return Own;
  }

  // Leaves out the mentions of variables that go with the operations.
  void dropMentions(SectionText &Text) {
    Left.reset();
    std::vector<const Stmt *> Go;
    std::vector<const Stmt *> Stay;
    for (const LockOperation *Op : operationsOf(Text)) {
      append_range(Go, Op->gone());
      if (Op->Uses && Op->Uses->Target && !Op->Uses->Returns && !Op->Instead.empty())
        Stay.push_back(Op->Uses->Target->IgnoreParens());
    }
    if (Go.empty())
      return;
    std::vector<Mention> Others;
    for (const Mention &M : allMentions())
      if (within(Go, M.Ref) && !is_contained(Stay, M.Ref))
        ++Text.Gone[M.Variable];
      else
        Others.push_back(M);
    Left = std::move(Others);
    for (const LockOperation *Op : operationsOf(Text))
      if (const VarDecl *Own = Op->Uses ? Op->Uses->Declared : nullptr;
          Own && none_of(*Left, [&](const Mention &M) { return M.Variable == Own; }))
        Text.GoneWhole.insert(Own);
  }

  // The variables that may have gone with the uses of results.
  void examineUses(const SectionText &Text, Extraction &Result, Section &Found) {
    for (const LockOperation *Op : operationsOf(Text))
      if (Op->Orphan && !Text.GoneWhole.count(Op->Orphan) &&
          (Op->Uses->Declared || !declaratorOf(Op->Orphan, F, Result.File, S)))
        against(Found, "tested-result",
                "the result of the lock operation is used, in a variable that is for nothing else",
                Op->Call->getExprLoc());
    auto DeclaredThere = [&](const VarDecl *V) {
      return any_of(operationsOf(Text), [&](const LockOperation *Op) {
        return any_of(Op->gone(), [&](const Stmt *Gone) { return declares(Gone, V, S); });
      });
    };
    for (const auto &[V, Count] : Text.Gone)
      if (DeclaredThere(V))
        continue;
      else if (std::optional<Declarator> D = declaratorOf(V, F, Result.File, S)) {
        D->Mentions = count_if(*Mentions, [&](const Mention &M) { return M.Variable == V; });
        Result.Gone.push_back({std::move(*D), Count});
      }
  }

  // `__func__` is another name in another function. A macro of that name, around it, says what it
  // was, unless a function's name depends on the configuration, or the section stands in a macro.
  void keepFunctionName(Extraction &Result, Section &Found) {
    if (Found.AsksForName.empty())
      return;
    bool Differs = Linked.acceptsFunctionName() || !Result.Macro.empty() ||
                   Result.FunctionName != F->getNameAsString();
    for (const auto &[Name, At] : Found.AsksForName)
      if (Differs) {
        Found.Against.push_back(
            {"function-name", "uses the name of its function (" + Name + ")", At});
        return;
      } else {
        Result.FunctionNames.insert(Name);
      }
  }

  // The companion of the lock's wrapper that the section runs through, if it has to and can.
  std::optional<Companion> companionOf(const LockOperation &Lock, const SectionText &Text) const {
    std::vector<const LockOperation *> Unlocks;
    for (const CallExpr *Unlock : Text.Unlocks)
      Unlocks.push_back(Locks.at(Unlock));
    std::optional<Companion> Result = companionFor(Lock, Unlocks, F, Locks, Linked, S);
    if (Result && Result->Around && (!Text.Gaps.empty() || !Text.Waits.empty()))
      return std::nullopt; // it locks in another way there
    return Result;
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

  bool within(ArrayRef<const Stmt *> Statements, const Stmt *Inner) const {
    return relock::within(Statements, Inner, Parents);
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
      if (!Op.Branch || !findTail(Lock, Text, Operations, Parents, Exit)) {
        const LockOperation *Other = TakenAgain();
        return Other ? Again(*Other) : Is(Shape::Split, "split", "unlocks here, and goes on", Op);
      }
      Text.Unlocks.push_back(Op.Call);
      append_range(Text.Outside, Op.own());
      append_range(Text.Outside, Op.gone());
      append_range(Text.Outside, Exit.Tail);
      if (Exit.Break)
        Text.Outside.push_back(Exit.Break);
      if (Exit.Relock) {
        append_range(Text.Outside, Exit.Relock->own());
        append_range(Text.Outside, Exit.Relock->gone());
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
      Text.WaitStatements.push_back(Op.Checked);
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

  // What a wrapper of a wait gives to it must have a name here, too, and no effect of its own.
  bool operandsVisible(const LockOperation &Op) const {
    auto Visible = [&](const std::optional<WrapperOperand> &Operand) {
      return !Operand || Operand->Parameter >= 0 ||
             (VisibleGlobals.contains(Operand->Variable) && !Locks.hidden(Operand->Expression));
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
      if (acquires(Op->Kind) && !Op->Scope && !Operates(false, *Op))
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
    for (const HeldOperation &Op : Locks.Others)
      if (Op.Kind != Operation::Wait && // a call that may block, as which it holds the section
          within(Text.Statements, Op.Call) && !within(Text.Outside, Op.Call)) {
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

  // Handlers that the section pushes, and that release a lock which it does not take behind that.
  void examineHandlers(const SectionText &Text, Section &Found) {
    for (const Cleanup &C : Locks.Cleanups) {
      bool Inside = within(Text.Statements, C.All) && !within(Text.Outside, C.All);
      bool Known = any_of(Operations, [&](const LockOperation &Op) { return Op.Push == C.All; });
      const auto *Ref = dyn_cast<DeclRefExpr>(C.Routine->IgnoreParenCasts());
      const auto *Handler = Ref ? dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
      if (!Inside || Known || !Handler || !Handler->getIdentifier())
        continue;
      std::string Node = nodeFor(Handler, S);
      if (lockFunction(Handler->getName()) || Linked.wrapperOf(Node) ||
          !Linked.releasedBy(Node).first.empty())
        against(Found, "releases-lock",
                "pushes the handler '" + Handler->getName() + "', which releases a lock",
                C.All->getBeginLoc());
    }
  }

  // --- Labels and declarations ----------------------------------------------------------------

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
      return any_of(G.Between, [&](const Stmt *Between) { return declares(Between, V, S); });
    });
  }

  void hoist(const VarDecl *V, StringRef Use, SectionText &Text, Section &Found) {
    if (!hoist(V, Text))
      against(Found, "declaration-outlives",
              "'" + V->getName() + "' is declared in the section and " + Use, V->getLocation());
  }

  bool hoist(const VarDecl *V, SectionText &Text) {
    const DeclStmt *D = hoistable(V, Text, F, allMentions(), Parents, S);
    if (D && !is_contained(Text.Hoisted, D))
      Text.Hoisted.push_back(D);
    return D;
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

  // Variables and literals of the section that are pointed to when it has ended. A variable can
  // live in the context, if that does as long as the block, or be declared before the lock.
  void examinePointers(const Extraction &Placed, const LockOperation &Lock, const SectionEnd &End,
                       SectionText &Text, Section &Found) {
    bool InMacro = Placed.File.empty();
    bool ContextStays = Text.resumes() && !InMacro && mixesDeclarations(F, S) &&
                        standsInBlock(End.around() ? End.around() : Lock.Statement);
    std::vector<DroppedName> Dropped;
    if (!InMacro)
      Dropped = droppedNames(Placed, F, allMentions(), S);
    for (const OutlivingPointer &P : outlivingPointers(Text, Dropped, F, allMentions(), liveness(),
                                                       Parents, Linked, S, Found.Trusts)) {
      if (!P.Variable)
        against(Found, "address-outlives",
                "the address of a literal is kept, which lives as long as the block", P.At);
      else if (ContextStays)
        Text.Escaping.push_back(P.Variable);
      else if (InMacro || !hoist(P.Variable, Text))
        against(Found, "address-outlives",
                "the address of '" + P.Variable->getName() +
                    "' may be kept, which lives longer than the section",
                P.At);
    }
    sortHoisted(Text, Found);
  }

  bool standsInBlock(const Stmt *Statement) const {
    return isa_and_nonnull<CompoundStmt>(Parents.getParent(Statement));
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
    if (mixesDeclarations(F, S))
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

  bool declaredBy(const SectionText &Text, const VarDecl *V) const {
    auto Declares = [&](const Stmt *Statement) { return declares(Statement, V, S); };
    return any_of(Text.Statements,
                  [&](const Stmt *Statement) {
                    return Declares(Statement) && !within(Text.Outside, Statement);
                  }) &&
           none_of(Text.Outside, Declares);
  }

  // Without those that go with the operations of the section that is looked at.
  const std::vector<Mention> &allMentions() {
    if (!Mentions)
      Mentions = mentions(F->getBody(), Parents);
    return Left ? *Left : *Mentions;
  }

  const CallLiveness &liveness() {
    if (!Liveness) {
      Liveness.emplace(F);
      for (const LockOperation &Op : Operations)
        Liveness->join(Op.Call, Op.Others);
    }
    return *Liveness;
  }

  // --- Extraction ---------------------------------------------------------------------------

  void extract(const LockOperation &Lock, std::optional<Companion> Through, const SectionEnd &End,
               SectionText &Text, const std::vector<EarlyExitText> &Exits, Section &Found) {
    Skips = false;
    Extraction Result;
    Result.FunctionName = Found.FunctionName;
    Result.Lock = Lock.Lock;
    Result.Through = std::move(Through);
    if (std::optional<MacroBody> Body = End.Unlock && !End.around() && !End.Unlock->Push
                                            ? macroBody(Lock.Statement, End.Unlock->Statement, S)
                                            : std::nullopt) {
      extractFromBody(*Body, Lock, End, Text, Exits, Result, Found);
    } else if (!place(Lock, End, Text, Exits, Result, Found)) {
      return;
    } else {
      captureAll(Text, Result, Found);
    }
    std::stable_partition(Result.Captures.begin(), Result.Captures.end(),
                          [](const Capture &C) { return C.How != Travel::Kept; });
    if (Text.Returns && !Text.ReturnsForFunction)
      addResult(Result);
    if (End.Unlock && isa<LabelStmt>(End.Child) && Text.resumes())
      Result.LastLabel = S.range(End.Child->getSourceRange())->Begin;
    if (Result.Through && !Text.Waits.empty())
      against(Found, "lock-not-visible",
              "'" + StringRef(Lock.Lock).ltrim('&') +
                  "' cannot be named in this file, and the section waits",
              Lock.Call->getExprLoc());
    if (Left)
      examineUses(Text, Result, Found);
    for (const LockOperation *Op : operationsOf(Text))
      append_range(Result.Rests, Op->Rests);
    if (Lock.Guard)
      Result.Guard = S.expressionText(Lock.Guard);
    if (Lock.Guard && (Text.resumes() || !Result.Macro.empty()))
      against(Found, "conditional",
              Text.resumes() ? "is locked under a condition, and releases its lock for a while"
                             : "is locked under a condition, in a macro",
              Lock.Call->getExprLoc());
    if (Result.Macro.empty())
      checkConditions(Result, Text, Found);
    keepFunctionName(Result, Found);
    checkLockOperand(Lock, Text, allMentions(), Skips, S, Found);
    if (!all_of(Found.Against, [](const Reason &R) { return isAcceptable(R.Code); }))
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
      Result.Wrappers.push_back(Locks.at(G.Lock)->Wrapper);
    for (const CallExpr *Wait : Text.Waits)
      Result.Wrappers.push_back(Locks.at(Wait)->Wrapper);
    if (Lock.Scope) {
      Result.Wrappers.push_back(cleanupCall(Lock.Scope, S).Function);
      if (Lock.Scope->getLocation().isMacroID())
        Result.Cleanup = Result.Wrappers.back();
    }
    erase_if(Result.Wrappers, [](const std::string &Node) { return Node.empty(); });
    Result.Returns = Text.ReturnsForFunction;
    Result.Inline |= F->isInlineSpecified() && F->getStorageClass() == SC_Static;
    Result.C99 = S.Language.C99;
    Result.MixedDeclarations = mixesDeclarations(F, S);
    Result.OwnStatics = any_of(F->decls(), [&](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->isStaticLocal() && declaredBy(Text, V);
    });
    Found.Extract = std::move(Result);
  }

  bool place(const LockOperation &Lock, const SectionEnd &End, SectionText &Text,
             const std::vector<EarlyExitText> &Exits, Extraction &Result, Section &Found) {
    SectionPlacer Placer(F, Lock, End, Text, Parents, S, Result, Found.Against);
    if (!Placer.placeStatements(Exits))
      return false;
    examineDroppedAround(Result, Text, Found);
    examinePointers(Result, Lock, End, Text, Found);
    return Placer.placeSurroundings();
  }

  // The text that moves may be other text where other conditions of the preprocessor hold.
  void checkConditions(const Extraction &Result, const SectionText &Text, Section &Found) {
    StringRef File = S.fileText(S.SM.getFileID(F->getBody()->getBeginLoc()));
    std::vector<Range> Branches = *conditionalBranches(File, Result.Groups);
    erase_if(Branches, [&](const Range &Branch) { return staysOutside(Branch, Result); });
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
    if (Text.resumes())
      findWaits(Text, F, allMentions(), liveness(), Parents, S, Result, Found.Against);
    placeHoisted(Text, F, S, Result);
    Text.Dropped = droppedNames(Result, F, allMentions(), S);
    findCaptures(Text, F, allMentions(), liveness(), Parents, S, Result, Found.Against);
  }

  void extractFromBody(const MacroBody &Body, const LockOperation &Lock, const SectionEnd &End,
                       SectionText &Text, const std::vector<EarlyExitText> &Exits,
                       Extraction &Result, Section &Found) {
    SourceLocation At = Lock.Call->getExprLoc();
    examinePointers(Result, Lock, End, Text, Found);
    bool Uses =
        any_of(operationsOf(Text), [](const LockOperation *Op) { return Op->Uses.has_value(); });
    if (Uses || !Exits.empty() || !Text.Waits.empty() || !Text.Hoisted.empty())
      return against(Found, "macro-section",
                     "stands in the body of a macro, and is not a straight one", At);
    if (Result.Through && Result.Through->Around)
      return against(Found, "macro-section",
                     "stands in the body of a macro, and its wrapper does more than to lock", At);
    EarlyArguments Early = {Linked.evaluatesBefore(Body.Name)};
    extractFromMacro(Body, Lock, End.Unlock->Statement, Text, F, allMentions(), Parents, S, Early,
                     Result, Found.Against);
    if (Early.Needed)
      Found.NeedsEarly = Body.Name;
    if (Result.Macro.empty())
      return;
    unsigned Begin = Result.FunctionBegin;
    StringRef File = S.fileText(S.SM.getFileID(Body.Macro->getDefinitionLoc()));
    layout(File, Result.Whole.Begin, F, S, Result);
    Result.FunctionBegin = aboveComment(File, Begin, "");
  }
};

class SectionVisitor : public RecursiveASTVisitor<SectionVisitor> {
public:
  SectionVisitor(CompilerInstance &CI, const UnitFacts &Facts, const ProgramView &Linked,
                 UnitSections &Result)
      : S(CI.getASTContext(), &CI.getPreprocessor()), Linked(Linked), Statics(S, Linked),
        Result(Result) {
    for (const Site &Known : Facts.Sites)
      Sites[{Known.At, Known.Spelled}] = &Known;
  }

  bool VisitVarDecl(VarDecl *V) {
    if (V->isFileVarDecl())
      VisibleGlobals.insert(nodeFor(V, S));
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !S.inSystemHeader(F->getLocation()))
      FunctionSections(F, S, Sites, Linked, VisibleGlobals, Statics, Result).run();
    return true;
  }

private:
  Source S;
  SiteIndex Sites;
  const ProgramView &Linked;
  StaticUses Statics;
  UnitSections &Result;
  StringSet<> VisibleGlobals; // declared so far
};

} // namespace

UnitSections findSections(const tooling::CompileCommand &Command, const UnitFacts &Facts,
                          const ProgramView &Linked) {
  UnitSections Result;
  UnitActions Actions;
  Actions.End = [&](CompilerInstance &CI) {
    SectionVisitor(CI, Facts, Linked, Result)
        .TraverseDecl(CI.getASTContext().getTranslationUnitDecl());
  };
  parseUnit(Command, Actions);
  sort(Result.Under); // they are in the order of the compiler's pointers
  return Result;
}

} // namespace relock
