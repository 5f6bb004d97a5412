// SPDX-License-Identifier: MIT
#include "section/Companions.h"

#include "index/Operand.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace relock {

bool varies(const Wrapper &W, const FunctionDecl *F, const Source &S) {
  if (!varies(W) || !W.Alternative)
    return varies(W);
  std::optional<Source::Range> Whole = S.range(F->getSourceRange());
  return !Whole || S.filePath(Whole->File) != W.Begin.File.str() || Whole->Begin < W.Begin.Offset ||
         Whole->Begin >= W.Behind.Offset;
}

namespace {

class CompanionFinder {
public:
  CompanionFinder(const LockOperation &Lock, const FunctionDecl *F, const LockOperations &Locks,
                  const ProgramView &Linked, const Source &S)
      : Lock(Lock), F(F), Locks(Locks), Linked(Linked), S(S) {}

  std::optional<Companion> find(ArrayRef<const LockOperation *> Unlocks) {
    const bool Varies = (Lock.Wraps && relock::varies(*Lock.Wraps, F, S)) ||
                        any_of(Unlocks, [&](const LockOperation *Op) {
                          return Op->Wraps && relock::varies(*Op->Wraps, F, S);
                        });
    const bool UnlocksOnly = !Varies && all_of(Unlocks, [](const LockOperation *Op) {
      return !Op->ThroughWrapper || Op->Pure;
    });
    if (!Lock.Wraps || (Lock.Pure && UnlocksOnly && Lock.Visible) ||
        !Linked.canExecuteThrough(Lock.Wrapper))
      return std::nullopt;
    const Wrapper &W = *Lock.Wraps;
    // Of a layer each use has a text of its own.
    if (Varies && (Unlocks.empty() || W.Unclear || Linked.operatorOf(Lock.Wrapper)))
      return std::nullopt;
    Companion Result;
    Result.Node = Lock.Wrapper;
    Result.Name = Linked.nameOf(Lock.Wrapper);
    Result.Facts = W;
    Result.Prototypes = Linked.prototypesOf(Lock.Wrapper);
    Result.Around = !Lock.Pure || !UnlocksOnly || (!W.Computed && W.Parameter >= 0);
    if (Result.Around && !canDo(Lock))
      return std::nullopt;
    if (Result.Around && UnlocksOnly && !W.Body->Guards.empty())
      return std::nullopt; // they unlock whatever that is
    const LockOperation *Unlock = UnlocksOnly ? nullptr : Unlocks.front();
    if (Unlock) {
      if (any_of(Unlocks, [&](const LockOperation *Op) { return !isPair(*Op, *Unlock); }))
        return std::nullopt;
      Result.UnlockNode = Unlock->Wrapper;
      Result.UnlockName = Linked.nameOf(Unlock->Wrapper);
      Result.Unlock = *Unlock->Wraps;
      Result.Configuration = bothHold(W.Configuration, Unlock->Wraps->Configuration);
    }
    if (!isDeclared(Result, Unlock))
      return std::nullopt;
    for (unsigned I : W.Parameters)
      Result.Arguments.push_back(Locks.operandText(Lock.Call->getArg(I)));
    return Result;
  }

private:
  const LockOperation &Lock;
  const FunctionDecl *F;
  const LockOperations &Locks;
  const ProgramView &Linked;
  const Source &S;

  bool canDo(const LockOperation &Op) const {
    if (!Op.Wraps || !Op.Wraps->Body)
      return false;
    const bool Ignored = Op.Wraps->Pure || Op.Call->getType()->isVoidType() ||
                         (Op.Branch && soleCall(Op.Branch) == Op.Call);
    return Ignored && (!Op.Wraps->Body->Tests || Locks.cannotFail(Op));
  }

  static std::string bothHold(const std::string &A, const std::string &B) {
    return A == B || B.empty() ? A : A.empty() ? B : A + " && " + B;
  }

  // True if the unlock is one by the wrapper of the other, which the companion can do.
  bool isPair(const LockOperation &Unlock, const LockOperation &Other) const {
    return Unlock.Wrapper == Other.Wrapper && canDo(Unlock) && !Unlock.Wraps->Unclear &&
           Unlock.Wraps->End.File == Lock.Wraps->End.File &&
           Linked.canExecuteThrough(Unlock.Wrapper) && givesTheSame(Unlock) &&
           sameGuards(*Lock.Wraps->Body, *Unlock.Wraps->Body) &&
           !hides(*Lock.Wraps->Body, *Unlock.Wraps->Body) &&
           !clash(*Lock.Wraps->Body, *Unlock.Wraps->Body) &&
           !clash(*Unlock.Wraps->Body, *Lock.Wraps->Body);
  }

  // True if the two leave their operations out under the same conditions, which what they do under
  // the lock does not change.
  static bool sameGuards(const WrapperBody &A, const WrapperBody &B) {
    return A.Guards.size() == B.Guards.size() &&
           all_of(zip(A.Guards, B.Guards), [&](const auto &Pair) {
             const auto &[Own, Other] = Pair;
             return Own.Key == Other.Key && (!Own.Loads || (A.Under.empty() && B.Under.empty()));
           });
  }

  static bool mentions(StringRef Text, StringRef Name) {
    for (size_t At = Text.find(Name); At != StringRef::npos; At = Text.find(Name, At + 1)) {
      StringRef Before = Text.take_front(At), Behind = Text.substr(At + Name.size());
      if ((Before.empty() || !isAsciiIdentifierContinue(Before.back())) &&
          (Behind.empty() || !isAsciiIdentifierContinue(Behind.front())))
        return true;
    }
    return false;
  }

  // True if what the unlock wrapper does names something that is a parameter of the lock wrapper,
  // and so of the companion, but not its own.
  static bool hides(const WrapperBody &Lock, const WrapperBody &Unlock) {
    std::string Text = Unlock.Outside;
    for (const WrapperBody::Guard &G : Unlock.Guards)
      Text += G.Condition + "\n" + G.Instead;
    return any_of(Lock.Parameters, [&](const WrapperBody::Parameter &P) {
      return none_of(Unlock.Parameters,
                     [&](const WrapperBody::Parameter &Q) { return Q.Name == P.Name; }) &&
             mentions(Text, P.Name);
    });
  }

  // True if the two wrappers mean different things by one name.
  static bool clash(const WrapperBody &A, const WrapperBody &B) {
    return any_of(A.Aliases, [&](const WrapperBody::Alias &Own) {
      return any_of(B.Aliases,
                    [&](const WrapperBody::Alias &Other) {
                      return Own.Name == Other.Name && Own.Text != Other.Text;
                    }) ||
             any_of(B.Parameters,
                    [&](const WrapperBody::Parameter &P) { return P.Name == Own.Name; });
    });
  }

  // True if the lock wrapper's parameters, and what it is given for them, serve the unlock wrapper.
  bool givesTheSame(const LockOperation &Unlock) const {
    const std::vector<WrapperBody::Parameter> &Given = Lock.Wraps->Body->Parameters,
                                              &Wanted = Unlock.Wraps->Body->Parameters;
    for (size_t I = 0; I < Wanted.size(); ++I) {
      auto Found = find_if(Given, [&](const WrapperBody::Parameter &P) {
        return P.Name == Wanted[I].Name && P.Text == Wanted[I].Text;
      });
      const size_t At = Found - Given.begin();
      if (Found == Given.end() || At >= Lock.Call->getNumArgs() || I >= Unlock.Call->getNumArgs() ||
          exactKey(Lock.Call->getArg(At), nullptr, S) !=
              exactKey(Unlock.Call->getArg(I), nullptr, S))
        return false;
    }
    return true;
  }

  bool isBefore(const FunctionDecl *Declared) const {
    return S.SM.isBeforeInTranslationUnit(S.SM.getExpansionLoc(Declared->getLocation()),
                                          S.SM.getExpansionLoc(F->getBeginLoc()));
  }

  // True if the companion is declared, or defined, before the function.
  bool isDeclared(const Companion &C, const LockOperation *Unlock) const {
    const FunctionDecl *Behind =
        Unlock ? Unlock->Call->getDirectCallee()->getDefinition() : nullptr;
    std::optional<Source::Range> Own = S.range(F->getSourceRange());
    const bool Defined =
        (!C.Unlock || (Behind && isBefore(Behind))) && Own &&
        (S.filePath(Own->File) != C.end().File.str() || C.end().Offset <= Own->Begin);
    return any_of(Lock.Call->getDirectCallee()->redecls(), [&](const FunctionDecl *Declared) {
      if (!isBefore(Declared) || (Declared->doesThisDeclarationHaveABody() && !Defined))
        return false;
      std::optional<Source::Range> R = S.range(Declared->getSourceRange());
      if (!R)
        return false;
      const unsigned End = Declared->doesThisDeclarationHaveABody()
                               ? C.Facts.Behind.Offset
                               : behindDeclaration(*R, S).value_or(R->End);
      return any_of(C.Prototypes, [&](const Prototype &P) {
        return P.At.File == S.filePath(R->File) && P.At.Offset == End;
      });
    });
  }
};

} // namespace

std::optional<Companion> companionFor(const LockOperation &Lock,
                                      ArrayRef<const LockOperation *> Unlocks,
                                      const FunctionDecl *F, const LockOperations &Locks,
                                      const ProgramView &Linked, const Source &S) {
  return CompanionFinder(Lock, F, Locks, Linked, S).find(Unlocks);
}

} // namespace relock
