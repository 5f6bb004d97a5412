// SPDX-License-Identifier: MIT
#include "program/Decide.h"

#include "index/Dying.h"
#include "index/LockApi.h"
#include "program/Effects.h"
#include "program/Lifted.h"
#include "program/LockOrder.h"
#include "program/SharedLines.h"
#include "section/Nest.h"
#include "section/SectionsFile.h"
#include "support/Messages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <mutex>

using namespace llvm;

namespace relock {
namespace {

// The names of a variable need not be the same where its text stays as it is, as a local of the
// extracted function: one configuration makes text of a name that the other one drops. That local
// must be used in both.
bool sameCapture(const Capture &C, const Capture &D) {
  bool Stays = C.InMacro || D.InMacro, Copied = C.Copied || D.Copied;
  if (Copied && (C.Local != D.Local || C.Assigned != D.Assigned || C.Stored != D.Stored))
    return false;
  return C.Name == D.Name && C.How == D.How && C.Field == D.Field &&
         (Stays || Copied ? !C.Dropped && !D.Dropped : C.References.size() == D.References.size());
}

// Two configurations of one file, or two units with one header, must agree on a section before
// its text can be moved.
bool sameExtraction(const Section &A, const Section &B) {
  if (A.Against != B.Against || bool(A.Extract) != bool(B.Extract) || A.Continues != B.Continues)
    return false;
  if (!A.Extract)
    return true;
  const Extraction &X = *A.Extract, &Y = *B.Extract;
  auto Arguments = [](const Extraction &E) {
    return E.Through ? E.Through->Arguments : std::vector<std::string>();
  };
  return bool(X.Through) == bool(Y.Through) && Arguments(X) == Arguments(Y) &&
         X.Whole.Begin == Y.Whole.Begin && X.Whole.End == Y.Whole.End && X.Lock == Y.Lock &&
         X.Directive == Y.Directive && X.Returns == Y.Returns && X.Exits.size() == Y.Exits.size() &&
         X.Waits.size() == Y.Waits.size() &&
         std::equal(X.Captures.begin(), X.Captures.end(), Y.Captures.begin(), Y.Captures.end(),
                    sameCapture);
}

// What is right for a capture in both configurations.
void joinExtractions(Extraction &Known, const Extraction &Other) {
  Known.FunctionNames.insert(Other.FunctionNames.begin(), Other.FunctionNames.end());
  for (auto [C, D] : zip_equal(Known.Captures, Other.Captures)) {
    C.InMacro |= D.InMacro;
    C.Dropped |= D.Dropped;
    C.Copied |= D.Copied;
    for (Reference &R : C.References)
      for (const Reference &Other : D.References)
        if (R.At.End == Other.At.End && R.Kind == Reference::Bare)
          R.Kind = Other.Kind;
    if (C.Dropped || C.Copied)
      C.Parameter.clear();
  }
}

// What the program does as far as certain declarations say.
struct Behaviour {
  EffectTable Table;
  LockOrder Order;

  Behaviour(const Program &Linked, const ProjectFile &Project, const std::vector<UnderLock> &Under,
            const std::vector<LockUse> &Takes, const std::set<std::string> &Tried)
      : Table(Linked, Project), Order(Linked, Table, Under, Takes, Tried) {}
  Behaviour(const Behaviour &) = delete;
};

std::vector<size_t> unitsWithLocks(const IndexResult &Index, const Program &Linked) {
  DenseSet<const Function *> Users;
  for (const auto &F : distinct(Index.Units, &UnitFacts::Functions))
    if (any_of(F->Calls, [&](const Call &C) {
          return Linked.wrapperOf(C.Function) || Linked.otherOperator(C);
        }))
      Users.insert(F.get());
  std::vector<size_t> Result;
  for (size_t I = 0; I < Index.Units.size(); ++I)
    if (const UnitFacts &Unit = Index.Units[I];
        !Unit.Sites.empty() ||
        any_of(Unit.Functions, [&](const Function &F) { return Users.contains(&F); }))
      Result.push_back(I);
  return Result;
}

// Several threads look for the sections of that part of the units; Use is called for one unit at a
// time, in their order.
void inEachUnit(const IndexResult &Index, const Program &Linked, unsigned Jobs, Part Of,
                function_ref<void(UnitSections)> Use) {
  std::vector<size_t> Users;
  for (size_t I : unitsWithLocks(Index, Linked))
    if (I % Of.Count == Of.Number - 1)
      Users.push_back(I);
  std::vector<std::optional<UnitSections>> Found(Users.size());
  std::mutex Access;
  size_t Next = 0;
  Progress Shown("looking for sections,", Users.size());
  DefaultThreadPool Pool(hardware_concurrency(Jobs));
  for (size_t I = 0; I < Users.size(); ++I)
    Pool.async([&, I] {
      UnitSections Here = sectionsOf(Index, Users[I], Linked);
      std::lock_guard<std::mutex> Lock(Access);
      Found[I] = std::move(Here);
      for (; Next < Found.size() && Found[Next]; ++Next) {
        Use(std::move(*Found[Next]));
        Found[Next].reset();
      }
      Shown.step();
    });
  Pool.wait();
}

} // namespace

class Decider::Known {
public:
  Known(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs, bool AcceptUncovered)
      : Index(Index), Linked(Index, AcceptUncovered, Project), Table(Linked, Project),
        ReachKernelOwned(Table.reach(Linked.TakesKernelOwned)) {
    for (const auto &[Node, F] : Linked.Functions)
      for (const std::string &Stored : F.Stores)
        Storing[Stored][Node];
    findAll(Jobs);
    keepSemaphores();
  }

  Decision decide(const Restrictions &But, Extras Wanted) {
    Decision Result;
    Result.Uncovered = Linked.Uncovered;
    Result.LeftOperations = Linked.LeftOperations;
    if (Wanted.Merges)
      Result.Merges = accidentalMerges(Index.Units, Linked);
    for (const CutFlow &Cut : Index.Cuts)
      if (const LockClass *Class = Linked.classOf(Cut.From);
          Class == Linked.classOf(Cut.To) && Class)
        Result.IdleCuts.push_back(Cut);
    Result.Edits = Linked.Edits;
    for (const UnitFacts &Unit : Index.Units)
      for (const Site &S : Unit.Sites)
        if (acquires(S.Kind) && Linked.operatorOf(S.Function))
          Result.InOperators.emplace(S.At, S.FunctionName);
    std::set<std::string> Named;
    for (const UnitFacts &Unit : Index.Units)
      for (const Declaration &D : Unit.Declarations)
        if (std::string Layer = Linked.layerOfType(D.Node);
            D.Kind == DeclarationKind::Typedef && !Layer.empty() && Named.insert(D.Node).second)
          Result.LayerNames.push_back({D.Name, Layer, D.Condition});
    Result.StaticWrappers = staticWrappers();
    std::map<std::string, CheckedClass *> ById;
    for (const LockClass &Class : Linked.Classes)
      if (!Class.Layer)
        Result.Classes.push_back({Class, {}, {}});
    for (CheckedClass &Checked : Result.Classes)
      ignore(But, Checked.Class.Kept);
    keepRestricted(But, Result);
    for (CheckedClass &Checked : Result.Classes)
      ById[Checked.Class.Id] = &Checked;
    for (auto &[Key, Found] : Sections)
      if (const LockClass *Class = Linked.classOf(Found.Node)) {
        CheckedClass &Checked = *ById[Class->Id];
        Checked.Sections.push_back(decideSection(Found, Checked.Class, Table, *Order, But));
        holdRestricted(But, Key, Checked.Sections.back());
      }
    holdUnfitting(Result);
    agreeOnMacros(Result);
    decideContinued(Result);
    Result.LeftHeld = leftHeld();
    if (!Linked.Project.Path.empty() || !Linked.Project.Libraries.empty())
      findTrust(Result);
    Result.Unmatched = unmatchedEntries(Linked);
    findMacroTrust(Result);
    if (Wanted.Suggestions) {
      findHolding(Result);
      findHoldingOwn(Result);
      findAcceptable(Result);
      findEarly(Result);
      findHoldingPanics(Result);
      Result.Operators = proposeOperators(Index.Units, Linked);
      Result.Libraries = proposeLibraries(Linked);
    }
    if (Wanted.SharedLines)
      estimateSharedLines(Linked, Result);
    if (Wanted.LockOrder) {
      Result.Order = Order->edges();
      Result.OrderUnseen = Order->unseen();
      Result.Cycles = lockCycles(Result.Order);
    }
    for (const auto &[Type, Places] : Others)
      Result.OtherLocks[Type] = Places.size();
    Result.Assertions = std::move(Assertions);
    return Result;
  }

private:
  const IndexResult &Index;
  Program Linked;
  EffectTable Table;
  std::map<SectionKey, Section> Sections;
  std::map<SectionKey, unsigned> SeenIn;  // by how many units
  std::map<std::string, WayEnds> Storing; // functions by the variable, field or record
  // The functions that can reach those of Storing; those that take, release or wait with locks of
  // a class on their own terms, by the class and LockPart::Part; those that take such locks; and
  // those that keep some.
  std::map<std::string, Reach> ReachStoring;
  std::map<std::string, std::map<std::string, Reach>> ReachLoose;
  Reach ReachKernelOwned;
  std::optional<Reach> ReachKeepers;
  std::map<std::string, std::set<Position>> Others; // acquisitions of other locks, by type
  std::set<Position> Assertions;
  std::vector<UnderLock> Under;
  std::vector<LockUse> Takes, TakenAgain;
  std::set<std::string> Tried; // lock classes with trylocks
  std::optional<LockOrder> Order;

  void findAll(unsigned Jobs) {
    WayEnds Keepers;
    std::map<std::string, std::map<std::string, WayEnds>> Loose; // as ReachLoose
    std::set<UnderLock> AllUnder; // functions of headers are in many units
    std::set<LockUse> AllTakes, AllTakenAgain;
    inEachUnit(Index, Linked, Jobs, {}, [&](UnitSections Unit) {
      std::set<SectionKey> Here;
      AllUnder.insert(Unit.Under.begin(), Unit.Under.end());
      AllTakes.insert(Unit.Takes.begin(), Unit.Takes.end());
      AllTakenAgain.insert(Unit.TakenAgain.begin(), Unit.TakenAgain.end());
      for (const LockUse &Use : Unit.Keepers)
        Keepers.try_emplace(
            Use.Function,
            std::vector<Step>{{"'" + Use.Name + "' takes a lock that it may keep", Use.At}});
      for (auto &[Type, At] : Unit.Others)
        Others[Type].insert(At);
      Assertions.insert(Unit.Assertions.begin(), Unit.Assertions.end());
      for (const LockUse &Use : Unit.Loose)
        if (const LockClass *Class = Linked.classOf(Use.Lock.Node))
          Loose[Class->Id][Use.Lock.Part].try_emplace(
              Use.Function,
              std::vector<Step>{{"'" + Use.Name + "' takes, releases or waits with '" +
                                     Class->Name + "', in no simple section of its own",
                                 Use.At}});
      for (Section &Found : Unit.Sections) {
        followPointers(Found);
        merge(std::move(Found), Here);
      }
    });
    Under.assign(AllUnder.begin(), AllUnder.end());
    Takes.assign(AllTakes.begin(), AllTakes.end());
    TakenAgain.assign(AllTakenAgain.begin(), AllTakenAgain.end());
    for (auto &[Class, Parts] : Loose)
      for (auto &[Part, Functions] : Parts)
        ReachLoose[Class].emplace(Part, Table.reach(std::move(Functions)));
    for (UnderLock &Fact : Under)
      Fact.Surely &= !mayBeReleasedBelow(Fact);
    for (const UnitFacts &Unit : Index.Units)
      for (const Site &S : Unit.Sites)
        if (S.Kind == Operation::TryLock)
          if (const LockClass *Class = Linked.classOf(S.Node))
            Tried.insert(Class->Id);
    Order.emplace(Linked, Table, Under, Takes, Tried);
    ReachKeepers.emplace(
        Table.calls().reach(std::move(Keepers), /*ThroughWrappers=*/false, neverReturning()));
    // Every unit that compiles the function must have found the section in it.
    std::map<Position, unsigned> Definers;
    for (const UnitFacts &Unit : Index.Units)
      for (const Function &F : Unit.Functions)
        Definers[F.At] += F.Defined && !F.Alias;
    for (auto &[Key, Found] : Sections)
      if (Definers[Found.FunctionAt] != SeenIn[Key])
        differs(Found);
  }

  // A thread that takes a normal mutex again waits for another one to release it, unless it calls
  // something that does: the mutex is no lock but a binary semaphore.
  void keepSemaphores() {
    for (const LockUse &Use : TakenAgain) {
      const LockClass *Class = Linked.classOf(Use.Lock.Node);
      auto F = Linked.Functions.find(Use.Function);
      if (!Class || !Class->Plain || F == Linked.Functions.end() ||
          any_of(Class->Kept, [](const Reason &R) { return R.Code == "semaphore"; }))
        continue;
      if (F->second.IndirectCalls.empty() && none_of(F->second.Calls, [&](const Call &C) {
            return looseBelow({Use.Lock.Node, ""}, C) != nullptr;
          }))
        Linked.keep(Class->Id,
                    {"semaphore",
                     "is taken again here by a thread that has not released it, and so waits for "
                     "another one to release it",
                     Use.At});
    }
  }

  std::set<std::string> neverReturning() const {
    std::set<std::string> Result;
    for (const auto &[Node, F] : Linked.Functions)
      if (F.NeverReturns || Linked.endsProcess(Node))
        Result.insert(Node);
    return Result;
  }

  // A callee may release the lock before the function comes to the place of the fact.
  bool mayBeReleasedBelow(const UnderLock &Fact) const {
    auto F = Linked.Functions.find(Fact.Function);
    return F != Linked.Functions.end() && any_of(F->second.Calls, [&](const Call &C) {
             return !Linked.wrapperOf(C.Function) && looseBelow(Fact.Held, C);
           });
  }

  // How what is called may take, release or wait with that lock on its own terms; null: it does
  // not.
  const Reach *looseBelow(const LockPart &Lock, const Call &C) const {
    const LockClass *Class = Linked.classOf(Lock.Node);
    auto Parts = ReachLoose.find(Class ? Class->Id : "");
    if (Parts == ReachLoose.end())
      return nullptr;
    for (const auto &[Part, Reaching] : Parts->second)
      if ((Part.empty() || Lock.Part.empty() || Part == Lock.Part) && Reaching.has(C.Function))
        return &Reaching;
    return nullptr;
  }

  void followPointers(Section &Found) const {
    erase_if(Found.IndirectCalls, [&](const IndirectCall &C) {
      std::string Any = Linked.calledThrough(C);
      if (!Any.empty())
        Found.Calls.push_back({Any, Linked.Functions.at(Any).Name, C.At});
      return !Any.empty();
    });
  }

  static void ignore(const Restrictions &But, std::vector<Reason> &Reasons) {
    erase_if(Reasons, [&](const Reason &R) { return But.Ignored.count(R.Code) != 0; });
  }

  // Classes that share text with one that stays stay, too.
  static void keepRestricted(const Restrictions &But, Decision &Result) {
    std::map<std::string, std::pair<const LockClass *, const Reason *>> Groups;
    for (CheckedClass &Checked : Result.Classes)
      if (auto Found = But.Kept.find(Checked.Class.Id); Found != But.Kept.end()) {
        Checked.Class.Kept.push_back(Found->second);
        Groups.try_emplace(Checked.Class.Group, &Checked.Class, &Found->second);
      }
    for (CheckedClass &Checked : Result.Classes)
      if (auto Found = Groups.find(Checked.Class.Group);
          Found != Groups.end() && Checked.Class.Kept.empty())
        Checked.Class.Kept.push_back(sharesTextWithKept(*Found->second.first));
  }

  static void holdRestricted(const Restrictions &But, const SectionKey &Key, CheckedSection &S) {
    auto Found = But.Held.find(Key);
    // What goes on with another section depends on that.
    bool Others = But.Only && !But.Only->count(Key) && !S.Facts.Continues;
    if (S.Outcome != Verdict::Delegate || (Found == But.Held.end() && !But.HoldOnly && !Others))
      return;
    S.Outcome = Verdict::Hold;
    if (Found != But.Held.end())
      S.Reasons.push_back(Found->second);
  }

  // The text of a macro's section changes for all uses of the macro, or for none.
  void agreeOnMacros(Decision &Result) const {
    std::map<Position, std::vector<CheckedSection *>> Uses; // by the begin of the text
    for (CheckedClass &Checked : Result.Classes)
      for (CheckedSection &S : Checked.Sections)
        if (inMacro(S))
          Uses[{S.Facts.Extract->File, S.Facts.Extract->Whole.Begin}].push_back(&S);
    for (auto &[Begin, Same] : Uses) {
      agreeOnCaptures(Same);
      const CheckedSection &Common = mostCommon(Same);
      const Extraction &Text = *Common.Facts.Extract;
      size_t Count = 0;
      std::vector<const CheckedSection *> Others;
      for (const CheckedClass &Checked : Result.Classes)
        for (const CheckedSection &S : Checked.Sections)
          if (usesText(S, Text)) {
            ++Count;
            if (S.Outcome != Verdict::Delegate || !inMacro(S) || !haveOneText(S, Common))
              Others.push_back(&S);
          }
      for (CheckedSection *S : Same)
        if (!Others.empty() || (S->Facts.At.File == Text.File && !seenEverywhere(*S))) {
          const std::string Why = Others.empty() ? "another configuration compiles without this use"
                                                 : "would need another text or lock at " +
                                                       std::to_string(Others.size()) + " of its " +
                                                       std::to_string(Count) + " uses";
          S->Reasons.push_back({"macro-section", "stands in '" + Text.Macro + "', which " + Why,
                                Others.empty() ? S->Facts.At : Others.front()->Facts.At});
          S->Outcome = S->Outcome == Verdict::Keep ? Verdict::Keep : Verdict::Hold;
        }
    }
  }

  // True if the text of one use serves the other.
  bool haveOneText(const CheckedSection &A, const CheckedSection &B) const {
    return Linked.classOf(A.Facts.Node) == Linked.classOf(B.Facts.Node) &&
           sameExtraction(A.Facts, B.Facts);
  }

  // The use whose text serves most of the others.
  const CheckedSection &mostCommon(const std::vector<CheckedSection *> &Uses) const {
    std::vector<std::pair<const CheckedSection *, size_t>> Kinds;
    for (const CheckedSection *S : Uses) {
      auto Known = find_if(Kinds, [&](auto &Kind) { return haveOneText(*S, *Kind.first); });
      if (Known != Kinds.end())
        ++Known->second;
      else if (S->Outcome == Verdict::Delegate)
        Kinds.push_back({S, 1});
    }
    auto Most = max_element(Kinds, [](auto &A, auto &B) { return A.second < B.second; });
    return Most == Kinds.end() ? *Uses.front() : *Most->first;
  }

  // What is an argument's value at one use may have to be its address at another: then all travel
  // by address that can.
  static void agreeOnCaptures(const std::vector<CheckedSection *> &Uses) {
    auto CapturesOf = [](CheckedSection *S) -> auto & { return S->Facts.Extract->Captures; };
    const size_t Count = CapturesOf(Uses.front()).size();
    if (any_of(Uses, [&](CheckedSection *S) { return CapturesOf(S).size() != Count; }))
      return;
    for (size_t I = 0; I < Count; ++I) {
      if (any_of(Uses, [&](CheckedSection *S) { return CapturesOf(S)[I].How == Travel::Pointer; }))
        for (CheckedSection *S : Uses)
          if (Capture &C = CapturesOf(S)[I]; C.How == Travel::Value && !C.AddressField.empty()) {
            C.How = Travel::Pointer;
            C.Field = C.Local = C.AddressField;
            C.Canonical = C.AddressCanonical;
            C.Argument = "&" + C.Argument;
          }
      agreeOnType(Uses, I);
    }
  }

  // One type of the field serves all uses that give operands of the same type, by whatever name, or
  // integers of which it can hold each.
  static void agreeOnType(const std::vector<CheckedSection *> &Uses, size_t I) {
    auto CaptureOf = [&](CheckedSection *S) -> Capture & { return S->Facts.Extract->Captures[I]; };
    const Capture &First = CaptureOf(Uses.front());
    const Capture *Widest = &First;
    std::map<std::string, size_t> Spellings;
    bool Same = !First.Canonical.empty(), Integers = true;
    for (CheckedSection *S : Uses) {
      const Capture &C = CaptureOf(S);
      ++Spellings[C.Field];
      Same &= C.Canonical == First.Canonical && C.How == First.How;
      Integers &= C.Bits && C.How == Travel::Value;
      if (C.Bits > Widest->Bits)
        Widest = &C;
    }
    if (!Same && !Integers)
      return;
    const std::string Field =
        !Same ? Widest->WideField
              : max_element(Spellings, [](auto &A, auto &B) { return A.second < B.second; })->first;
    for (CheckedSection *S : Uses) {
      Capture &C = CaptureOf(S);
      C.Field = C.Local = Field;
      if (!C.Parameter.empty())
        C.Parameter = Field;
    }
  }

  static bool inMacro(const CheckedSection &S) {
    return S.Facts.Extract && !S.Facts.Extract->Macro.empty();
  }

  static bool usesText(const CheckedSection &S, const Extraction &Text) {
    return any_of(S.Facts.MacroPlaces, [&](const Position &At) {
      return At.File == Text.File && At.Offset >= Text.Whole.Begin && At.Offset < Text.Whole.End;
    });
  }

  // True if every unit that compiles the macro's file has this use of it.
  bool seenEverywhere(const CheckedSection &S) const {
    size_t Units = count_if(Index.Units, [&](const UnitFacts &Unit) {
      return any_of(Unit.Dependencies,
                    [&](const Dependency &D) { return D.File == S.Facts.Extract->File; });
    });
    auto Seen = SeenIn.find(keyOf(S.Facts));
    return Seen != SeenIn.end() && Seen->second == Units;
  }

  std::vector<StaticWrapper> staticWrappers() const {
    std::map<std::string, std::set<Position>> Calls;
    for (const auto &[Node, F] : Linked.Functions)
      for (const Call &C : F.Calls)
        if (Linked.wrapperOf(C.Function) || Linked.operatorOf(C.Function))
          Calls[C.Function].insert(C.At);
    std::map<std::string, std::set<std::string>> Users; // groups, by operator
    for (const UnitFacts &Unit : Index.Units)
      for (const LockCall &C : Unit.LockCalls)
        if (Linked.operatorOf(C.Callee))
          Users[C.Callee].insert(Linked.groupGiven(C)); // a call without a lock stays as it is
    std::vector<StaticWrapper> Result;
    for (const auto &[Node, F] : Linked.Functions) {
      const Layers::Operator *Does = Linked.operatorOf(Node);
      const WrapperPlace *Place = F.Wraps ? &*F.Wraps : nullptr;
      if (Does)
        Place = &*F.Forwards;
      if (!Place || Place->Exported || F.AddressTaken)
        continue;
      StaticWrapper W = {Node, F.Name, *Place, F.Wraps ? F.Wraps->Through : "", Calls[Node].size(),
                         {}};
      if (Does)
        W.Layer = {Does->Kind == Operation::Init, Linked.layerOf(Node), Users[Node]};
      Result.push_back(std::move(W));
    }
    return Result;
  }

  std::vector<HeldAtReturn> leftHeld() const {
    std::set<std::string> Releasing;
    for (const UnitFacts &Unit : Index.Units)
      for (const Site &S : Unit.Sites)
        if (S.Kind == Operation::Unlock)
          Releasing.insert(S.Function);
    std::map<Position, std::string> Nodes; // functions, each of their definitions
    for (const UnitFacts &Unit : Index.Units)
      for (const Function &F : Unit.Functions)
        if (F.Defined)
          Nodes.emplace(F.At, F.Node);
    std::map<std::string, Position> Holding; // where they take the lock
    for (const auto &[Key, Found] : Sections)
      if (auto Of = Nodes.find(Found.FunctionAt); Of != Nodes.end())
        if (Found.Form == Shape::CrossFunction ||
            (Found.Form == Shape::Try && !Releasing.count(Of->second)))
          Holding.emplace(Of->second, Found.At);
    std::map<std::string, std::set<Position>> Calls;
    for (bool Again = true; Again;) { // who calls one, and nothing that releases, is one as well
      Again = false;
      Calls.clear();
      for (const auto &[Node, F] : Linked.Functions) {
        bool Releases = Releasing.count(Node);
        std::optional<Position> Takes;
        for (const Call &C : F.Calls) {
          Releases |= Releasing.count(C.Function) != 0;
          if (C.Function != Node && !C.At.File.empty() && Holding.count(C.Function) &&
              !Linked.wrapperOf(C.Function)) {
            Calls[C.Function].insert(C.At);
            Takes = C.At;
          }
        }
        if (Takes && !Releases && !Linked.wrapperOf(Node))
          Again |= Holding.emplace(Node, *Takes).second;
      }
    }
    std::vector<HeldAtReturn> Result;
    for (const auto &[Node, At] : Holding) {
      auto F = Linked.Functions.find(Node);
      const size_t Number = Calls[Node].size();
      if (F != Linked.Functions.end() && (Number || F->second.AddressTaken))
        Result.push_back({F->second.Name, At, Number, F->second.AddressTaken});
    }
    sort(Result, [](const HeldAtReturn &A, const HeldAtReturn &B) { return A.At < B.At; });
    return Result;
  }

  static void differs(Section &Known) {
    Known.Extract.reset();
    Known.Against.push_back({"configurations-differ",
                             "differs between the configurations or units that compile it",
                             Known.At});
    sort(Known.Against);
    Known.Against.erase(std::unique(Known.Against.begin(), Known.Against.end()),
                        Known.Against.end());
  }

  void merge(Section Found, std::set<SectionKey> &Here) {
    SectionKey Key = keyOf(Found);
    SeenIn[Key] += Here.insert(Key).second;
    auto [It, New] = Sections.try_emplace(Key, Found);
    if (New)
      return;
    Section &Known = It->second;
    if (!sameExtraction(Known, Found)) {
      append_range(Known.Against, Found.Against);
      differs(Known);
    } else if (Known.Extract) {
      joinExtractions(*Known.Extract, *Found.Extract);
    }
    addFacts(Known, Found);
  }

  // What a section does is what it does in any configuration or unit.
  static void addFacts(Section &Known, const Section &Found) {
    auto Add = [](auto &To, const auto &From, auto Same) {
      for (const auto &New : From)
        if (none_of(To, [&](const auto &Old) { return Same(Old, New); }))
          To.push_back(New);
    };
    Add(Known.Calls, Found.Calls,
        [](const Call &A, const Call &B) { return A.Function == B.Function && A.At == B.At; });
    Add(Known.IndirectCalls, Found.IndirectCalls,
        [](const IndirectCall &A, const IndirectCall &B) { return A.At == B.At; });
    Add(Known.IdentityUses, Found.IdentityUses,
        [](const IdentityUse &A, const IdentityUse &B) { return A.At == B.At; });
    Add(Known.Loads, Found.Loads, [](const OperandLoad &A, const OperandLoad &B) {
      return A.Node == B.Node && A.OfCondition == B.OfCondition;
    });
    Add(Known.OperandChanges, Found.OperandChanges,
        [](const Reason &A, const Reason &B) { return A == B; });
    Known.Relocks |= Found.Relocks;
    if (Found.Touched && Known.Touched)
      append_range(*Known.Touched, *Found.Touched);
    else if (Found.Touched)
      Known.Touched = Found.Touched;
    Known.Trusts.insert(Found.Trusts.begin(), Found.Trusts.end());
    if (Known.NeedsEarly.empty())
      Known.NeedsEarly = Found.NeedsEarly;
    Known.StoresThroughPointer |= Found.StoresThroughPointer;
    Known.UsesFloat |= Found.UsesFloat;
  }

  CheckedSection decideSection(const Section &Found, const LockClass &Class,
                               const EffectTable &Table, const LockOrder &Order,
                               const Restrictions &But = {}) {
    CheckedSection Checked;
    Checked.Facts = Found;
    if (Found.Extract)
      for (auto &[Name, Node] : Checked.Facts.Extract->LockNodes)
        if (const LockClass *Its = Linked.classOf(Node))
          Node = Its->Id;
    if (!Class.Kept.empty()) {
      Checked.Outcome = Verdict::Keep;
      Checked.Reasons = {{"class-kept",
                          "'" + Class.Name + "' is kept: it " + Class.Kept.front().Message + " [" +
                              Class.Kept.front().Code + "]",
                          Class.Kept.front().At}};
      return Checked;
    }
    Checked.Reasons = Found.Against;
    Checked.AnyThread = Found.IdentityUses.empty() && Class.Plain;
    addEffects(Found, Class, Table, Order, Checked);
    checkLanguage(Found, Checked);
    checkCancellation(Found, Table, Checked);
    keepFirst(Checked.Reasons);
    ignore(But, Checked.Reasons);
    auto IsAccepted = [&](const Reason &R) { return Linked.Project.Accepted.count(R.Code) != 0; };
    copy_if(Checked.Reasons, std::back_inserter(Checked.Accepted), IsAccepted);
    erase_if(Checked.Reasons, IsAccepted);
    bool Delegate = Checked.Reasons.empty() && Found.Extract;
    Checked.Outcome = Delegate ? Verdict::Delegate : Verdict::Hold;
    return Checked;
  }

  // An extracted function makes a pointer to its context of a void *, which is no C++.
  void checkLanguage(const Section &Found, CheckedSection &Checked) const {
    if (!Found.Extract)
      return;
    for (const ForeignFile &Foreign : Index.NotC)
      if (Foreign.Includes.count(Found.Extract->File)) {
        Checked.Reasons.push_back({"not-c",
                                   "stands in text that this file includes, which is not C",
                                   {Foreign.File, 0, 1, 1}});
        return;
      }
  }

  // Where a section takes its lock again, what becomes of the section decides.
  static void decideContinued(Decision &Result) {
    for (CheckedClass &Checked : Result.Classes)
      for (CheckedSection &S : Checked.Sections) {
        if (!S.Facts.Continues || S.Outcome == Verdict::Keep)
          continue;
        const CheckedSection &Begin = begunBy(Checked, S);
        if (S.Reasons.empty() && &Begin != &S && Begin.Outcome == Verdict::Delegate) {
          S.Outcome = Verdict::Delegate;
          S.AnyThread = Begin.AnyThread;
        } else if (S.Reasons.empty()) {
          S.Reasons.push_back({"continued",
                               "goes on with the section that is begun here, which holds",
                               *S.Facts.Continues});
        }
      }
  }

  // A section within another one that is delegated becomes a call there, or holds.
  static void holdUnfitting(Decision &Result) {
    std::map<std::string, std::vector<CheckedSection *>> ByFile;
    for (CheckedClass &Checked : Result.Classes)
      for (CheckedSection &S : Checked.Sections)
        if (S.Outcome == Verdict::Delegate && !inMacro(S)) // all uses of a macro stand in its body
          ByFile[S.Facts.Extract->File].push_back(&S);
    for (auto &[File, Sections] : ByFile) {
      sort(Sections, [](const CheckedSection *A, const CheckedSection *B) {
        return A->Facts.Extract->Whole.Begin < B->Facts.Extract->Whole.Begin;
      });
      std::vector<const Extraction *> Around;
      for (CheckedSection *S : Sections) {
        const Extraction &Own = *S->Facts.Extract;
        while (!Around.empty() && Around.back()->Whole.End <= Own.Whole.Begin)
          Around.pop_back();
        if (all_of(Around, [&](const Extraction *E) { return fitsWithin(Own, *E); })) {
          Around.push_back(&Own);
          continue;
        }
        S->Outcome = Verdict::Hold;
        S->Reasons.push_back({"nested",
                              "stands across an edge of the section around it, or where "
                              "that one's own text changes",
                              S->Facts.At});
      }
    }
  }

  // A reason that comes back at each of many calls is told once.
  static void keepFirst(std::vector<Reason> &Reasons) {
    std::set<std::pair<std::string, std::string>> Told;
    erase_if(Reasons, [&](const Reason &R) { return !Told.insert({R.Code, R.Message}).second; });
  }

  bool reachesStore(const std::string &Stored, const std::string &Function) {
    auto Known = ReachStoring.find(Stored);
    if (Known == ReachStoring.end())
      Known = ReachStoring.emplace(Stored, Table.calls().reach(Storing[Stored])).first;
    return Known->second.has(Function);
  }

  // False for a call that ends the process: what is changed there matters to no unlock.
  bool mayReturn(const Call &C) const {
    return !C.Ends && !relock::endsProcess(C.Name) && !Linked.endsProcess(C.Function);
  }

  // Empty where the section's own text changes it, or may do so through a pointer.
  std::vector<Step> wayToStore(const Section &Found, const OperandLoad &Load) {
    for (const Call &C : Found.Calls)
      for (const std::string &Stored : {Load.Node, Load.Record})
        if (mayReturn(C) && reachesStore(Stored, C.Function)) {
          WayEnds Ends = Storing[Stored];
          for (auto &[Node, Steps] : Ends) {
            const Function &F = Linked.Functions.at(Node);
            Steps = {{"'" + F.Name + "' may change '" + Load.Name + "'", F.At}};
          }
          return Table.calls().reach(std::move(Ends)).way(C);
        }
    return {};
  }

  // What the lock operand reads must be the same at the lock and at the unlock.
  void checkOperand(const Section &Found, const LockOrder &Order, CheckedSection &Checked) {
    if (Found.Loads.empty() && Found.OperandChanges.empty())
      return;
    const bool Alone = !Found.Relocks && Order.isAlone(Found.Lock);
    if (!Alone)
      append_range(Checked.Reasons, Found.OperandChanges);
    for (const OperandLoad &Load : Found.Loads) {
      if (Alone && !Load.OfCondition)
        continue;
      bool Indirectly = Found.StoresThroughPointer ||
                        any_of(Found.Calls, [&](const Call &C) { return mayReturn(C); });
      bool Changes =
          (Indirectly && (!Linked.AddressesKnown || Linked.AddressesTaken.count(Load.Node))) ||
          any_of(Found.Calls, [&](auto &C) {
            return mayReturn(C) &&
                   (reachesStore(Load.Node, C.Function) || reachesStore(Load.Record, C.Function));
          });
      if (Changes)
        Checked.Reasons.push_back({"lock-expression",
                                   "'" + Load.Name + "' in the lock operand may change in a callee",
                                   Found.At, wayToStore(Found, Load)});
    }
  }

  // The locks that the section takes in its own text.
  void checkInner(const Section &Found, const LockOrder &Order, CheckedSection &Checked) {
    for (const InnerLock &Inner : Found.Inner) {
      Checked.AnyThread = false; // it may be recursive, or stay a pthread mutex
      if (std::optional<Reason> Conflict = Order.conflict(Found.Lock, Inner))
        Checked.Reasons.push_back(std::move(*Conflict));
      const LockClass *Class = Linked.classOf(Inner.Lock.Node);
      if (!Class || any_of(Class->Kept, [](const Reason &R) {
            return R.Code == "priority" || R.Code == "robust";
          }))
        Checked.Reasons.push_back(
            {"kernel-thread", "takes a mutex here whose owner the kernel may know", Inner.At});
    }
    for (const InnerLock &Inner : Found.OtherInner)
      if (std::optional<Reason> Conflict = Order.conflict(Found.Lock, Inner))
        Checked.Reasons.push_back(std::move(*Conflict));
  }

  // True for the call that takes one of the locks that checkInner looks at.
  static bool takesInner(const Section &Found, const Call &C) {
    return any_of(Found.OtherInner, [&](const InnerLock &Inner) { return Inner.At == C.At; });
  }

  // A cancelled thread does not end within a section that another one runs for it: the request
  // stays pending. Who may not count on a point cannot tell that from a request that came later.
  // What waits, or is not known, is a reason of its own.
  void checkCancellation(const Section &Found, const EffectTable &Table, CheckedSection &Checked) {
    auto Point = find_if(Found.Calls, [&](const Call &C) { return Table.of(C).Cancels; });
    if (Linked.CancelsThreads && Point != Found.Calls.end())
      Checked.Reasons.push_back({"cancellation",
                                 "calls '" + Point->Name +
                                     "', which is or reaches a cancellation point, and the program "
                                     "cancels threads",
                                 Point->At});
  }

  void addEffects(const Section &Found, const LockClass &Class, const EffectTable &Table,
                  const LockOrder &Order, CheckedSection &Checked) {
    if (Linked.SetsFloatEnvironment &&
        (Found.UsesFloat || any_of(Found.Calls, [&](const Call &C) { return Table.of(C).Float; })))
      Checked.Reasons.push_back({"floating-point",
                                 "may compute in floating point, and the program sets its "
                                 "environment, which is its thread's",
                                 Found.At});
    for (const IndirectCall &C : Found.IndirectCalls)
      Checked.Reasons.push_back(
          {"indirect-call", "calls through a pointer, which is not followed", C.At});
    checkOperand(Found, Order, Checked);
    checkInner(Found, Order, Checked);
    for (const Call &C : Found.Calls) {
      std::optional<Reason> Conflict;
      if (!takesInner(Found, C) && (Conflict = Order.conflict(Found.Lock, C)))
        Checked.Reasons.push_back(std::move(*Conflict));
      Effects E = Table.of(C);
      Checked.AnyThread &= !E.Identity;
      if (E.Refuse)
        Checked.Reasons.push_back({E.Refuse->Code, E.Refuse->Message, C.At, Table.wayToRefusal(C)});
      if (ReachKernelOwned.has(C.Function))
        Checked.Reasons.push_back(
            {"kernel-thread",
             "calls '" + C.Name + "', which may take a mutex whose owner the kernel knows", C.At,
             ReachKernelOwned.way(C)});
      if (ReachKeepers->has(C.Function))
        Checked.Reasons.push_back({"kernel-thread",
                                   "calls '" + C.Name +
                                       "', which may return holding a readers-writer lock, "
                                       "spinlock or the like, whose owner is a thread",
                                   C.At, ReachKeepers->way(C)});
      if (const Reach *Loose = looseBelow(Found.Lock, C))
        Checked.Reasons.push_back({"releases-lock",
                                   "calls '" + C.Name +
                                       "', which may take, release or wait with '" + Class.Name +
                                       "' on its own terms",
                                   C.At, Loose->way(C)});
    }
  }

  // What the holders of the locks call at whose places the order of locks is broken.
  std::vector<Call> calledUnder(const std::vector<Reason> &Reasons) const {
    std::set<const LockClass *> Held;
    for (const UnderLock &Fact : Under)
      if (any_of(Reasons,
                 [&](const Reason &R) { return R.Code == "lock-order" && R.At == Fact.At; }))
        Held.insert(Linked.classOf(Fact.Held.Node));
    std::vector<Call> Result;
    for (const UnderLock &Fact : Under) {
      if (!Held.count(Linked.classOf(Fact.Held.Node)))
        continue;
      if (Fact.Does == UnderLock::Calls)
        Result.push_back(Fact.Callee);
      if (Fact.Does != UnderLock::CallsThrough)
        continue;
      if (std::string Any = Linked.calledThrough(Fact.pointer()); !Any.empty())
        Result.push_back({Any, "", Fact.At});
    }
    return Result;
  }

  // The functions by which a verdict of Wide, which delegates, differs from that of Narrow.
  void collectLifted(const LiftedFunctions &Lifted, const CheckedSection &Wide,
                     const CheckedSection &Narrow, std::set<std::string> &Names) const {
    Lifted.collect(Wide.Facts.Calls, Wide.AnyThread && !Narrow.AnyThread, Names);
    Lifted.collect(calledUnder(Narrow.Reasons), false, Names);
  }

  // Which sections would not be delegated as they are without the project file.
  void findTrust(Decision &Result) {
    const ProjectFile None;
    Behaviour Without(Linked, None, Under, Takes, Tried);
    LiftedFunctions Lifted(Linked, Without.Table, Table);
    for (CheckedClass &Checked : Result.Classes)
      for (CheckedSection &S : Checked.Sections) {
        if (S.Outcome != Verdict::Delegate)
          continue;
        S.RestsOn = S.Facts.Trusts;
        S.RestsOn.insert(Checked.Class.Trusts.begin(), Checked.Class.Trusts.end());
        CheckedSection Alone = decideSection(S.Facts, Checked.Class, Without.Table, Without.Order);
        if (Alone.Outcome != Verdict::Delegate || Alone.AnyThread != S.AnyThread)
          collectLifted(Lifted, S, Alone, S.RestsOn);
      }
  }

  // Which sections would be delegated if it did not matter what functions do that end the process.
  void findHoldingPanics(Decision &Result) {
    const ProjectFile Assumed = assumePanics(Linked);
    if (Assumed.Functions.size() == Linked.Project.Functions.size())
      return;
    Behaviour With(Linked, Assumed, Under, Takes, Tried);
    for (const CheckedClass &Checked : Result.Classes)
      for (const CheckedSection &S : Checked.Sections) {
        if (S.Outcome != Verdict::Hold ||
            decideSection(S.Facts, Checked.Class, With.Table, With.Order).Outcome !=
                Verdict::Delegate)
          continue;
        ++Result.HeldByPanics;
        std::vector<Call> Open = S.Facts.Calls;
        append_range(Open, calledUnder(S.Reasons));
        std::set<std::string> Seen;
        while (!Open.empty()) {
          const Call C = Open.back();
          Open.pop_back();
          auto F = Linked.Functions.find(C.Function);
          if (F == Linked.Functions.end() || !Seen.insert(C.Function).second)
            continue;
          if (Assumed.named(F->second.Name) && !Linked.Project.named(F->second.Name))
            Result.Panics.insert(F->second.Name);
          else
            append_range(Open, F->second.Calls);
        }
      }
  }

  // The functions of the program below these calls of which something is not known, or speaks
  // against delegating whoever calls them. Not those that wait on condition variables.
  std::set<const Function *> refusedBelow(std::vector<Call> Open, const Reach &Waiting) const {
    std::set<const Function *> Result;
    while (!Open.empty()) {
      const Call C = Open.back();
      Open.pop_back();
      auto F = Linked.Functions.find(C.Function);
      if (F == Linked.Functions.end() || !F->second.Defined || Table.isDeclared(C.Function) ||
          !Table.itself(C).Refuse || !Result.insert(&F->second).second)
        continue;
      append_range(Open, F->second.Calls);
    }
    for (auto At = Result.begin(); At != Result.end();)
      At = Waiting.has((*At)->Node) ? Result.erase(At) : std::next(At);
    return Result;
  }

  // Which sections would be delegated if one function did not matter: it only writes a log, say,
  // with the number of its thread. Those that the most sections call are tried.
  void findHoldingOwn(Decision &Result) {
    constexpr size_t Tries = 12, Proposals = 5;
    WayEnds Waits;
    for (const auto &[Node, F] : Linked.Functions)
      if (F.Waits)
        Waits[Node];
    const Reach Waiting = Table.reach(std::move(Waits), /*ThroughWrappers=*/true);
    auto OfCalls = [](const Reason &R) {
      return is_contained({"kernel-thread", "may-block", "jumps", "unknown-callee", "indirect-call",
                           "lock-order", "cancellation"},
                          R.Code);
    };
    std::vector<std::pair<const CheckedClass *, const CheckedSection *>> Held;
    std::map<const Function *, size_t> Callers;
    for (const CheckedClass &Checked : Result.Classes)
      for (const CheckedSection &S : Checked.Sections) {
        if (S.Outcome != Verdict::Hold || !S.Facts.Extract || !all_of(S.Reasons, OfCalls))
          continue;
        Held.push_back({&Checked, &S});
        std::vector<Call> Open = S.Facts.Calls;
        append_range(Open, calledUnder(S.Reasons));
        for (const Function *F : refusedBelow(std::move(Open), Waiting))
          ++Callers[F];
      }
    std::vector<std::pair<const Function *, size_t>> Ranked(Callers.begin(), Callers.end());
    sort(Ranked, [](const auto &A, const auto &B) {
      return std::tie(B.second, A.first->Name, A.first->Node) <
             std::tie(A.second, B.first->Name, B.first->Node);
    });
    struct Freed {
      HoldingOwn Function;
      std::set<size_t> Sections;
    };
    std::vector<Freed> All;
    for (const auto &[F, Count] : ArrayRef(Ranked).take_front(Tries)) {
      ProjectFile Assumed = Linked.Project;
      Assumed.Functions[F->Name].Effect = FunctionEffect::Identity;
      Behaviour With(Linked, Assumed, Under, Takes, Tried);
      Freed Found = {{F->Name, 0, *Table.itself({F->Node, F->Name, F->At}).Refuse}, {}};
      for (const auto &[I, S] : enumerate(Held))
        if (decideSection(S.second->Facts, S.first->Class, With.Table, With.Order).Outcome ==
            Verdict::Delegate)
          Found.Sections.insert(I);
      Found.Function.Sections = Found.Sections.size();
      All.push_back(std::move(Found));
    }
    stable_sort(All, [](const Freed &A, const Freed &B) {
      return A.Function.Sections > B.Function.Sections;
    });
    // Whoever only calls one of the others would free no more.
    for (auto At = All.begin(); At != All.end() && Result.Own.size() < Proposals; ++At)
      if (none_of(make_range(All.begin(), At),
                  [&](const Freed &Other) {
                    return std::includes(Other.Sections.begin(), Other.Sections.end(),
                                         At->Sections.begin(), At->Sections.end());
                  }) &&
          !At->Sections.empty())
        Result.Own.push_back(std::move(At->Function));
  }

  // All uses of a macro rest on what the project file says of it if one does.
  void findMacroTrust(Decision &Result) const {
    std::set<StringRef> Needed;
    forEachSection(Result, [&](CheckedSection &S) { Needed.insert(S.Facts.NeedsEarly); });
    for (const auto &[Name, Declared] : Linked.Project.Macros)
      if (!Needed.count(Name))
        Result.UnmatchedMacros[Name] = Declared.At;
    forEachSection(Result, [&](CheckedSection &S) {
      if (S.Outcome == Verdict::Delegate && inMacro(S) && Needed.count(S.Facts.Extract->Macro))
        S.RestsOnMacro = S.Facts.Extract->Macro;
    });
  }

  // Macros that hold sections for nothing but when their arguments are evaluated, and so the other
  // uses, which would have to give another text; not where a use holds for something else.
  void findEarly(Decision &Result) const {
    std::set<StringRef> HoldOtherwise;
    forEachSection(Result, [&](CheckedSection &S) {
      if (S.Outcome != Verdict::Hold || Linked.Project.Macros.count(S.Facts.NeedsEarly))
        return;
      const bool ByMacro =
          any_of(S.Reasons, [](const Reason &R) { return R.Code == "macro-section"; });
      if (!S.Facts.NeedsEarly.empty())
        ++Result.Early[S.Facts.NeedsEarly];
      else if (inMacro(S) && ByMacro)
        ++Result.Early[S.Facts.Extract->Macro];
      else if (inMacro(S))
        HoldOtherwise.insert(S.Facts.Extract->Macro);
    });
    std::set<StringRef> Needed;
    forEachSection(Result, [&](CheckedSection &S) { Needed.insert(S.Facts.NeedsEarly); });
    std::erase_if(Result.Early, [&](const auto &Macro) {
      return !Needed.count(Macro.first) || HoldOtherwise.count(Macro.first);
    });
  }

  static void forEachSection(Decision &Result, function_ref<void(CheckedSection &)> Do) {
    for (CheckedClass &Checked : Result.Classes)
      for_each(Checked.Sections, Do);
  }

  static void findAcceptable(Decision &Result) {
    for (const CheckedClass &Checked : Result.Classes)
      for (const CheckedSection &S : Checked.Sections)
        if (S.Outcome == Verdict::Hold && S.Facts.Extract && !S.Reasons.empty() &&
            all_of(S.Reasons, [&](const Reason &R) {
              return isAcceptable(R.Code) && R.Code == S.Reasons.front().Code;
            }))
          ++Result.Acceptable[S.Reasons.front().Code];
  }

  // Which sections would be delegated if all functions were known.
  void findHolding(Decision &Result) {
    auto Waits = [](const CheckedSection &S) {
      return S.Outcome == Verdict::Hold && any_of(S.Reasons, [](const Reason &R) {
               return R.Code == "unknown-callee" || R.Code == "indirect-call" ||
                      R.Code == "lock-order";
             });
    };
    if (none_of(Result.Classes, [&](auto &Checked) { return any_of(Checked.Sections, Waits); }))
      return;
    const ProjectFile Assumed = assumeUnknown(Linked, Table);
    Behaviour With(Linked, Assumed, Under, Takes, Tried);
    LiftedFunctions Lifted(Linked, Table, With.Table);
    std::map<std::string, HoldingFunction> Holding;
    for (const CheckedClass &Checked : Result.Classes)
      for (const CheckedSection &S : make_filter_range(Checked.Sections, Waits)) {
        CheckedSection Free = decideSection(S.Facts, Checked.Class, With.Table, With.Order);
        // What is left may be a matter of taste.
        bool OnlyTaste = Free.Outcome == Verdict::Hold && Free.Facts.Extract &&
                         all_of(Free.Reasons, [](auto &R) { return isAcceptable(R.Code); });
        if (Free.Outcome != Verdict::Delegate && !OnlyTaste)
          continue;
        std::set<std::string> Names, Codes;
        for (const Reason &R : Free.Reasons)
          Codes.insert(R.Code);
        collectLifted(Lifted, Free, S, Names);
        for (const std::string &Name : Names)
          ++(!Codes.empty()      ? Holding[Name].Accepting[join(Codes, ", ")]
             : Names.size() == 1 ? Holding[Name].Alone
                                 : Holding[Name].Together);
      }
    for (const auto &[Node, F] : Linked.Functions)
      if (auto Found = Holding.find(F.Name);
          Found != Holding.end() && F.Defined && !F.IndirectCalls.empty())
        Found->second.Pointer = F.IndirectCalls.front().At;
    for (auto &[Name, Function] : Holding) {
      Function.Name = Name;
      Result.Holding.push_back(std::move(Function));
    }
    stable_sort(Result.Holding, [](const HoldingFunction &A, const HoldingFunction &B) {
      auto Rank = [](const HoldingFunction &F) {
        size_t Accepting = 0;
        for (const auto &[Codes, Sections] : F.Accepting)
          Accepting += Sections;
        return std::make_tuple(F.Alone, F.Together, Accepting);
      };
      return Rank(A) > Rank(B);
    });
  }
};

Decider::Decider(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs,
                 bool AcceptUncovered)
    : Facts(std::make_unique<Known>(Index, Project, Jobs, AcceptUncovered)) {}

Decider::~Decider() = default;

const CheckedSection &begunBy(const CheckedClass &Class, const CheckedSection &S) {
  if (!S.Facts.Continues)
    return S;
  auto Begin = find_if(Class.Sections, [&](const CheckedSection &Other) {
    return Other.Facts.At == *S.Facts.Continues && Other.Facts.Extract;
  });
  return Begin == Class.Sections.end() ? S : *Begin;
}

Decision Decider::decide(const Restrictions &But, Extras Wanted) {
  return Facts->decide(But, Wanted);
}

Decision decide(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs,
                bool AcceptUncovered, Extras Wanted) {
  return Decider(Index, Project, Jobs, AcceptUncovered).decide({}, Wanted);
}

size_t keepSections(const IndexResult &Index, const ProjectFile &Project, unsigned Jobs, Part Of) {
  const Program Linked(Index, /*AcceptUncovered=*/false, Project);
  size_t Units = 0;
  inEachUnit(Index, Linked, Jobs, Of, [&](UnitSections) { ++Units; });
  return Units;
}

} // namespace relock
