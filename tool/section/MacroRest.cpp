// SPDX-License-Identifier: MIT
#include "section/MacroRest.h"

#include "section/Flow.h"
#include "support/MacroText.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>

using namespace clang;
using namespace llvm;

namespace relock {

static std::string withoutBlanks(StringRef Text) {
  std::string Result;
  copy_if(Text, std::back_inserter(Result), [](char C) { return !isWhitespace(C) && C != '\\'; });
  return Result;
}

// True if the body of a macro is nothing but the operation.
static bool isOnly(StringRef Body, StringRef Operation) {
  std::string Text = withoutBlanks(Body);
  StringRef Rest = Text;
  if (Rest.consume_front("do{") && !Rest.consume_back("}while(0)"))
    return false;
  Rest.consume_back(";");
  return Rest == withoutBlanks(Operation);
}

// True if the body of a macro does nothing.
static bool isNothing(StringRef Body) {
  const std::string Text = withoutBlanks(Body);
  return Text.empty() || Text == "do{}while(0)" || Text == "((void)0)" || Text == "(void)0";
}

// The text that goes with an operation: its lines as a whole, unless something comes in its place.
static Range withItsLines(Range Operation, StringRef File, Range Definition, bool IsReplaced) {
  unsigned Begin = Operation.Begin, End = Operation.End;
  StringRef Behind = File.slice(End, Definition.End);
  if (Behind.ltrim(" \t").starts_with(";"))
    End = Behind.ltrim(" \t").data() + 1 - File.data();
  size_t Line = File.take_front(Begin).rfind('\n') + 1;
  if (IsReplaced)
    return {Begin, End};
  StringRef After = File.slice(End, Definition.End).ltrim(" \t");
  if (Line > Definition.Begin && File.slice(Line, Begin).trim().empty() &&
      After.consume_front("\\") && (After.consume_front("\n") || After.consume_front("\r\n")))
    Begin = Line;
  End = After.data() - File.data();
  return {Begin, End};
}

namespace {

class Divider {
public:
  Divider(SourceRange Whole, bool Locks, bool Held, const Source &S)
      : Whole(Whole), Use(S.SM.getExpansionLoc(Whole.getBegin())), Locks(Locks), Held(Held), S(S) {}

  // Takes a statement out of the innermost macro of which it is not all, and calls the macros
  // around that by their other names. IsArm: it stands where there has to be a statement.
  bool remove(SourceRange Statement, bool IsArm) {
    SourceLocation Begin = Statement.getBegin(), End = Statement.getEnd();
    for (;;) {
      if (!meet(Begin, End))
        return false;
      std::optional<Level> Found = levelOf(Begin);
      const Token *First = Found ? tokenAt(*Found, Begin) : nullptr;
      const Token *Last = Found ? tokenAt(*Found, End) : nullptr;
      if (!First || !Last)
        return false;
      const unsigned Gone = S.SM.getFileOffset(Last->getLocation()) + Last->getLength();
      while (Last != &Found->Macro->tokens().back() && Last[1].is(tok::semi))
        ++Last;
      CharSourceRange Around = S.SM.getImmediateExpansionRange(Begin);
      Begin = Around.getBegin();
      if (First != Found->Macro->tokens_begin() || Last != &Found->Macro->tokens().back()) {
        if (!canDivide(*Found))
          return false;
        known(*Found).Goes[S.SM.getFileOffset(First->getLocation())] = {Gone, IsArm};
        return rename(Begin, Around.getEnd());
      }
      End = Around.getEnd();
      if (Begin.isFileID())
        return false; // the macro is no more than that
    }
  }

  std::optional<MacroRest> divide() {
    auto Outermost = find_if(Levels, [&](const Level &L) { return L.Use == Use; });
    std::optional<Source::Range> Written = S.range(Whole);
    if (Outermost == Levels.end() || !Written)
      return std::nullopt;
    MacroRest Rest;
    Rest.Macro = Outermost->Name;
    for (const Level &L : Levels)
      if (!define(L, Rest))
        return std::nullopt;
    Range Replaced = {Written->Begin, unsigned(Written->Begin + Outermost->Name.size())};
    std::string Text = nameOf(Outermost->Name);
    if (!usesParameters(*Outermost)) {
      Replaced.End = Written->End;
      Text += emptyParameters(*Outermost);
    }
    if (Held) {
      Rest.Use = Replaced;
      Rest.Text = Text;
    } else {
      StringRef File = S.fileText(Written->File);
      Rest.Text = Text + File.slice(Replaced.End, Written->End).str() + ";";
    }
    return Rest;
  }

private:
  struct InnerUse {
    StringRef Name;
    unsigned End; // behind its arguments
  };
  // A macro, and what changes in its rest. All its uses bring the same text.
  struct Level {
    SourceLocation Use; // in a file, or in the body of the macro around it
    StringRef Name;
    const MacroInfo *Macro;
    struct Gone {
      unsigned End;
      bool IsArm;
    };
    std::map<unsigned, Gone> Goes;        // where operations begin in its definition
    std::map<unsigned, InnerUse> Renamed; // and inner macros
  };

  const SourceRange Whole;
  const SourceLocation Use;
  const bool Locks, Held;
  const Source &S;
  std::deque<Level> Levels;

  // LOCK_ZONE → LOCK_ZONE_HELD, lock_zone → lock_zone_held.
  std::string nameOf(StringRef Macro) const {
    StringRef Ending = Held ? "_held" : Locks ? "_before" : "_after";
    return Macro.str() + (any_of(Macro, isLowercase) ? Ending.str() : Ending.upper());
  }

  const Token *tokenAt(const Level &L, SourceLocation At) const {
    auto Found = find_if(L.Macro->tokens(), [&](const Token &T) {
      return T.getLocation() == S.SM.getSpellingLoc(At);
    });
    return Found == L.Macro->tokens_end() ? nullptr : &*Found;
  }

  // The tokens of the innermost macro that has all of a range, in which an inner one is whole.
  bool meet(SourceLocation &Begin, SourceLocation &End) const {
    SmallPtrSet<const void *, 4> Around;
    auto Id = [&](SourceLocation At) {
      return reinterpret_cast<const void *>(uintptr_t(S.SM.getFileID(At).getHashValue()));
    };
    for (SourceLocation At = End; At.isMacroID(); At = S.SM.getImmediateExpansionRange(At).getEnd())
      Around.insert(Id(At));
    for (; Begin.isMacroID() && !Around.contains(Id(Begin));
         Begin = S.SM.getImmediateExpansionRange(Begin).getBegin())
      if (S.SM.isMacroArgExpansion(Begin) || !S.SM.isAtStartOfImmediateMacroExpansion(Begin))
        return false;
    for (; End.isMacroID() && S.SM.getFileID(End) != S.SM.getFileID(Begin);
         End = S.SM.getImmediateExpansionRange(End).getEnd())
      if (S.SM.isMacroArgExpansion(End) ||
          !S.SM.isAtEndOfImmediateMacroExpansion(End.getLocWithOffset(S.tokenLength(End))))
        return false;
    return Begin.isMacroID() && End.isMacroID() && !S.SM.isMacroArgExpansion(Begin) &&
           !S.SM.isMacroArgExpansion(End);
  }

  // The macro that brings a token.
  std::optional<Level> levelOf(SourceLocation Inside) const {
    const SourceLocation At = S.SM.getImmediateExpansionRange(Inside).getBegin();
    if (S.SM.isMacroArgExpansion(At))
      return std::nullopt;
    Token Named;
    if (Lexer::getRawToken(S.SM.getSpellingLoc(At), Named, S.SM, S.Language) ||
        Named.isNot(tok::raw_identifier))
      return std::nullopt;
    const MacroInfo *Macro = S.macroAt(Named.getRawIdentifier(), Use);
    if (!Macro || Macro->isBuiltinMacro() || Macro->tokens_empty())
      return std::nullopt;
    return Level{At, Named.getRawIdentifier(), Macro, {}, {}};
  }

  bool canDivide(const Level &L) const {
    const SourceLocation At = L.Macro->getDefinitionLoc();
    return !L.Macro->isVariadic() && S.editable(At) && !S.inSystemHeader(At);
  }

  // A macro that has a rest.
  Level &known(const Level &L) {
    auto Found = find_if(Levels, [&](const Level &Other) { return Other.Macro == L.Macro; });
    return Found != Levels.end() ? *Found : Levels.emplace_back(L);
  }

  // The use of a macro that has a rest, in the macros around it.
  bool rename(SourceLocation At, SourceLocation End) {
    while (At.isMacroID()) {
      std::optional<Level> L = S.SM.isMacroArgExpansion(At) ? std::nullopt : levelOf(At);
      const Token *Name = L ? tokenAt(*L, At) : nullptr;
      const Token *Last = L ? tokenAt(*L, End) : nullptr;
      if (!Name || !Last || !canDivide(*L) || S.SM.isMacroArgExpansion(End))
        return false;
      known(*L).Renamed[S.SM.getFileOffset(Name->getLocation())] = {
          Name->getIdentifierInfo()->getName(),
          S.SM.getFileOffset(Last->getLocation()) + Last->getLength()};
      CharSourceRange Around = S.SM.getImmediateExpansionRange(At);
      At = Around.getBegin();
      End = Around.getEnd();
    }
    return At == Use;
  }

  // The use of an inner macro that has a rest: its other name, with the arguments that this needs.
  std::pair<unsigned, std::string> otherUse(unsigned At, const InnerUse &Inner) const {
    const Level &L = *find_if(Levels, [&](const Level &I) { return I.Name == Inner.Name; });
    if (usesParameters(L))
      return {unsigned(At + Inner.Name.size()), nameOf(L.Name)};
    return {Inner.End, (nameOf(L.Name) + emptyParameters(L)).str()};
  }

  bool isGone(const Level &L, unsigned At) const {
    return any_of(L.Goes, [&](const auto &R) { return At >= R.first && At < R.second.End; }) ||
           any_of(L.Renamed, [&](const auto &R) {
             return At >= R.first && At < otherUse(R.first, R.second).first;
           });
  }

  // True if what is left of the macro names a parameter.
  bool usesParameters(const Level &L) const {
    return any_of(L.Macro->tokens(), [&](const Token &T) {
      const IdentifierInfo *Word = T.getIdentifierInfo();
      return Word && L.Macro->getParameterNum(Word) >= 0 &&
             !isGone(L, S.SM.getFileOffset(T.getLocation()));
    });
  }

  static StringRef emptyParameters(const Level &L) { return L.Macro->isFunctionLike() ? "()" : ""; }

  // A second text of these would not change with the class.
  bool namesLocks(const Level &L) const {
    return any_of(L.Macro->tokens(), [&](const Token &T) {
      const IdentifierInfo *Word = T.getIdentifierInfo();
      return Word && !isGone(L, S.SM.getFileOffset(T.getLocation())) &&
             (Word->getName().starts_with("pthread_") || Word->getName().starts_with("PTHREAD_"));
    });
  }

  // Makes the other macro of each definition of one.
  bool define(const Level &L, MacroRest &Rest) const {
    const FileID Id = S.SM.getFileID(L.Macro->getDefinitionLoc());
    StringRef File = S.fileText(Id);
    auto All = definitionsOf(L.Name, File);
    if (!All || namesLocks(L))
      return false;
    auto Own = find_if(*All, [&](const WrittenMacro &D) {
      return D.Name == S.SM.getFileOffset(L.Macro->getDefinitionLoc());
    });
    if (Own == All->end())
      return false;
    const std::string Other = nameOf(L.Name);
    const bool Parameters = usesParameters(L);
    std::vector<MacroRest::Definition> Made;
    for (const WrittenMacro &D : *All) {
      const std::string Head =
          (Other + (Parameters ? D.Head.drop_front(L.Name.size()) : emptyParameters(L))).str();
      std::string Text;
      if (D.Body == Own->Body && D.Head == Own->Head)
        Text = without(L, D, int(D.Name) - int(Own->Name), File, Head);
      else if (isNothing(D.Body))
        Text = (File.slice(D.Begin, D.Name) + Head + D.Body).str();
      else if (isAlone(L, D, File))
        Text = (File.slice(D.Begin, D.Name) + Head).str();
      else if (D.Body.contains("pthread_") || mentions(L, D.Body, File))
        return false;
      else {
        Rest.Macro.clear(); // there is none
        continue;
      }
      Made.push_back({S.position(Id, D.End), "\n" + Text});
    }
    if (S.macroAt(Other, Use)) { // it may be there already, from an earlier run
      if (!all_of(Made, [&](const auto &D) { return File.contains(D.Text); }))
        return false;
    } else if (File.contains(Other) || S.beginsMacro(Other) ||
               !S.Context.getTranslationUnitDecl()->lookup(&S.Context.Idents.get(Other)).empty()) {
      return false;
    } else {
      append_range(Rest.Definitions, Made);
    }
    return true;
  }

  // True if the body of a definition is nothing but the operation that this macro has.
  bool isAlone(const Level &L, const WrittenMacro &D, StringRef File) const {
    return L.Goes.size() == 1 && L.Renamed.empty() &&
           isOnly(D.Body, File.slice(L.Goes.begin()->first, L.Goes.begin()->second.End));
  }

  // True if a body names what one of the operations calls, or a macro that has one.
  static bool mentions(const Level &L, StringRef Body, StringRef File) {
    auto Has = [&](const auto &R) { return Body.contains(R.second.Name); };
    return any_of(L.Renamed, Has) || any_of(L.Goes, [&](const auto &R) {
             StringRef Operation = File.slice(R.first, R.second.End);
             return Body.contains(
                 Operation.take_while([](char C) { return isAsciiIdentifierContinue(C); }));
           });
  }

  // The text of a definition under its other name. It is that of the one that is compiled, Moved
  // from there.
  std::string without(const Level &L, const WrittenMacro &D, int Moved, StringRef File,
                      StringRef Head) const {
    std::map<unsigned, std::pair<unsigned, std::string>> Changes; // where, to where, to what
    for (auto [Begin, Gone] : L.Goes) {
      Range R = withItsLines({Begin + Moved, Gone.End + Moved}, File, {D.Begin, D.End}, Gone.IsArm);
      Changes[R.Begin] = {R.End, Gone.IsArm ? "{ }" : ""};
    }
    for (const auto &[At, Inner] : L.Renamed) {
      auto [End, Text] = otherUse(At, Inner);
      Changes[At + Moved] = {End + Moved, Text};
    }
    const unsigned HeadEnd = D.Name + D.Head.size();
    unsigned At = Changes.empty() ? D.End : Changes.begin()->first;
    StringRef Between = File.slice(HeadEnd, At);
    if (Head.size() > D.Head.size())
      Between = behindLongerHead(Between, Head.size() - D.Head.size());
    std::string Text = (File.slice(D.Begin, D.Name) + Head + Between).str();
    for (const auto &[Begin, Change] : Changes) {
      Text += File.slice(At, Begin);
      Text += Change.second;
      At = Change.first;
    }
    return Text + File.slice(At, D.End).str();
  }
};

} // namespace

// True if a statement may go on elsewhere than behind itself.
static bool jumps(const Stmt *Statement) {
  return Statement &&
         (isa<BreakStmt>(Statement) || isa<ContinueStmt>(Statement) || isa<GotoStmt>(Statement) ||
          isa<IndirectGotoStmt>(Statement) || isa<ReturnStmt>(Statement) ||
          isa<LabelStmt>(Statement) || any_of(Statement->children(), jumps));
}

static bool has(const Stmt *S, ArrayRef<const Stmt *> Operations) {
  return S && (is_contained(Operations, S) ||
               any_of(S->children(), [&](const Stmt *Child) { return has(Child, Operations); }));
}

static bool runsOnce(const DoStmt *Do, const ASTContext &Context) {
  Expr::EvalResult Again;
  return Do->getCond()->EvaluateAsInt(Again, Context) && Again.Val.getInt() == 0;
}

static std::optional<StatementRest> besides(const Stmt *Whole, ArrayRef<const Stmt *> Operations,
                                            ArrayRef<const Stmt *> With,
                                            const ASTContext &Context) {
  if (is_contained(Operations, Whole))
    return StatementRest();
  auto Inside = [&](const Stmt *Part) { return besides(Part, Operations, With, Context); };
  if (const auto *Block = dyn_cast<CompoundStmt>(Whole)) {
    std::optional<StatementRest> Found;
    std::vector<const Stmt *> Before, Behind;
    for (const Stmt *Part : Block->body()) {
      if (has(Part, Operations)) {
        if (Found || !(Found = Inside(Part)))
          return std::nullopt;
      } else if (!isa<NullStmt>(Part) && !is_contained(With, Part)) {
        (Found ? Behind : Before).push_back(Part);
      }
    }
    if (Found) {
      append_range(Found->Before, Before);
      append_range(Found->Behind, Behind);
    }
    return Found;
  }
  if (const auto *If = dyn_cast<IfStmt>(Whole)) {
    // The condition is looked at with the rest: a moment before, or under the lock.
    if (!If->getElse() || If->getInit() || If->getConditionVariable() ||
        If->getCond()->HasSideEffects(Context) || calls(If->getCond()))
      return std::nullopt;
    auto Then = Inside(If->getThen()), Else = Inside(If->getElse());
    if (!Then || !Else)
      return std::nullopt;
    append_range(Then->Before, Else->Before);
    append_range(Then->Behind, Else->Behind);
    // It would be looked at twice.
    return Then->Before.empty() || Then->Behind.empty() ? Then : std::nullopt;
  }
  if (const auto *Do = dyn_cast<DoStmt>(Whole))
    return runsOnce(Do, Context) ? Inside(Do->getBody()) : std::nullopt;
  if (const auto *Paren = dyn_cast<ParenExpr>(Whole))
    return Inside(Paren->getSubExpr());
  // The value, which nobody uses, stays the one of what is behind.
  if (const auto *Value = dyn_cast<StmtExpr>(Whole)) {
    auto Found = Inside(Value->getSubStmt());
    return Found && !Found->Before.empty() ? std::nullopt : Found;
  }
  return std::nullopt;
}

std::optional<StatementRest> restOf(const Stmt *Whole, ArrayRef<const Stmt *> Operations,
                                    ArrayRef<const Stmt *> With, const ASTContext &Context) {
  return jumps(Whole) ? std::nullopt : besides(Whole, Operations, With, Context);
}

const Stmt *statementOfMacro(const Stmt *Inner, const ParentMap &Parents, const Source &S) {
  const Stmt *Whole = nullptr;
  for (const Stmt *Up = Inner; Up && Up->getBeginLoc().isMacroID(); Up = Parents.getParent(Up))
    if (S.SM.getExpansionLoc(Up->getBeginLoc()) == S.SM.getExpansionLoc(Inner->getBeginLoc()))
      Whole = Up;
  return Whole && blockOf(Whole, Parents) ? Whole : nullptr;
}

static void collectDeclared(const Stmt *S, SmallPtrSetImpl<const Decl *> &Declared) {
  if (const auto *D = dyn_cast<DeclStmt>(S))
    Declared.insert(D->decl_begin(), D->decl_end());
  for (const Stmt *Child : S->children())
    if (Child)
      collectDeclared(Child, Declared);
}

static bool names(const Stmt *S, const SmallPtrSetImpl<const Decl *> &Declared,
                  ArrayRef<const Stmt *> Without) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(S);
  return S && !is_contained(Without, S) &&
         ((Ref && Declared.contains(Ref->getDecl())) ||
          any_of(S->children(),
                 [&](const Stmt *Child) { return names(Child, Declared, Without); }));
}

std::optional<MacroRest> divideMacro(const Stmt *Whole, ArrayRef<const Stmt *> Go, bool Locks,
                                     bool Held, const ParentMap &Parents, const Source &S) {
  std::optional<SourceRange> All = tokensInMacro(Whole->getSourceRange(), S);
  const MacroInfo *Macro = macroUsedAt(S.SM.getExpansionLoc(Whole->getBeginLoc()), S);
  if (!All || !Macro || Macro->tokens().front().getLocation() != All->getBegin() ||
      Macro->tokens().back().getLocation() != All->getEnd())
    return std::nullopt;
  SmallPtrSet<const Decl *, 4> Declared;
  for (const Stmt *Gone : Go)
    collectDeclared(Gone, Declared);
  if (names(Whole, Declared, Go))
    return std::nullopt;
  Divider Parts(Whole->getSourceRange(), Locks, Held, S);
  if (!all_of(Go, [&](const Stmt *Gone) {
        const bool IsArm = !blockOf(Gone, Parents);
        return Parts.remove(Gone->getSourceRange(), IsArm);
      }))
    return std::nullopt;
  return Parts.divide();
}

} // namespace relock
