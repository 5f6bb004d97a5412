// SPDX-License-Identifier: MIT
#include "section/Place.h"

#include "index/Words.h"
#include "section/Flow.h"
#include "section/Hoist.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

static unsigned throughSemicolon(StringRef Text, unsigned End) {
  unsigned At = Text.find_first_not_of(" \t\r\n", End);
  return At < Text.size() && Text[At] == ';' ? At + 1 : End;
}

// The indentation of the first line that begins in the text with a statement: neither blank nor a
// directive, a label or a part of a comment, as far as a line says that by itself.
static std::string firstIndent(StringRef Text, StringRef Else) {
  for (StringRef Line : drop_begin(split(Text, '\n'))) {
    StringRef Words = Line.trim();
    StringRef Behind = Words.drop_while([](char C) { return isAlnum(C) || C == '_'; }).ltrim();
    bool Label = Behind.starts_with(":") || Words.starts_with("case ");
    bool Comment = any_of(ArrayRef<StringRef>{"//", "/*", "*/", "* "},
                          [&](StringRef Mark) { return Words.starts_with(Mark); });
    if (!Words.empty() && !Label && !Comment && Words != "*" && !Words.starts_with("#"))
      return Line.take_while([](char C) { return C == ' ' || C == '\t'; }).str();
  }
  return Else.str();
}

static bool hasDirective(StringRef Text, StringRef Name) {
  for (StringRef Line : split(Text, '\n')) {
    Line = Line.ltrim();
    if (Line.consume_front("#") && Line.ltrim().starts_with(Name))
      return true;
  }
  return false;
}

// The identifiers of a text; all of it is read, comments as well.
static std::vector<StringRef> identifiersIn(StringRef Text) {
  std::vector<StringRef> Names;
  for (StringRef Name; !Text.empty(); Text = Text.drop_front(std::max<size_t>(Name.size(), 1))) {
    Name = Text.take_while([](char C) { return isAsciiIdentifierContinue(C); });
    if (!Name.empty())
      Names.push_back(Name);
  }
  return Names;
}

// True for a comment that says that its statement unlocks, and no more.
static bool tellsOfUnlock(StringRef Comment) {
  StringRef Word =
      Comment.ltrim("/*! \t\r\n").take_while([](char C) { return isAsciiIdentifierContinue(C); });
  bool Short = Comment.count('\n') == 0 && Comment.size() <= 60;
  return Short && (Word.starts_with_insensitive("unlock") ||
                   Word.starts_with_insensitive("releas") || Word.equals_insensitive("leave"));
}

// Where an unlock ends, with the comment on its line that says so.
static unsigned throughUnlock(StringRef File, unsigned End) {
  End = throughSemicolon(File, End);
  unsigned Comment = withComment(File, End);
  return tellsOfUnlock(File.slice(End, Comment)) ? Comment : End;
}

// Where an unlock begins, with the comment on the line above it that says so.
static unsigned fromUnlock(StringRef File, unsigned Begin) {
  StringRef Above = File.take_front(Begin).rtrim();
  StringRef Line = Above.substr(Above.rfind('\n') + 1).ltrim();
  bool Comment =
      Line.starts_with("//") || (Line.starts_with("/*") && Line.find("*/") == Line.size() - 2);
  bool Next = File.slice(Above.size(), Begin).count('\n') == 1;
  return Comment && Next && tellsOfUnlock(Line) ? Line.data() - File.data() : Begin;
}

bool SectionPlacer::refuse(StringRef Code, StringRef Message, SourceLocation At) {
  Against.push_back({Code.str(), Message.str(), S.shown(At)});
  return false;
}

bool SectionPlacer::refuseMacro(SourceLocation At) {
  return refuse("macro-section", "part of the section stands in a macro", At);
}

// The group in which the operation stands. Other text may be before the lock and behind the last
// unlock.
std::optional<OperationGroup> SectionPlacer::groupOf(const LockOperation &Op) const {
  PlacedRange R = S.range(Op.Statement->getSourceRange());
  std::optional<Source::Range> Function = S.range(F->getBody()->getSourceRange());
  if (!R || !Function || R->File != Function->File || !extend(R, Op) || !insteadOf(Op).empty())
    return std::nullopt;
  StringRef File = S.fileText(R->File);
  unsigned Begin = &Op == &Lock ? R->Begin : fromUnlock(File, R->Begin);
  auto Group =
      groupAround(File, {Begin, throughUnlock(File, R->End)}, {Function->Begin, Function->End});
  bool Other = Group && ((Group->Before && &Op != &Lock) || (Group->Behind && &Op != End.Unlock));
  return Other ? std::nullopt : Group;
}

// Where the same directive is around each operation, the section is the same without it.
void SectionPlacer::placeDirective(const std::vector<EarlyExitText> &Exits) {
  if (End.around() || End.Scope || Lock.Guard || Lock.hasRest() || Text.resumes() || Text.Joins)
    return;
  std::optional<OperationGroup> Group = groupOf(Lock);
  if (!Group)
    return;
  std::vector<const LockOperation *> Unlocks;
  if (End.Unlock)
    Unlocks.push_back(End.Unlock);
  for (const EarlyExitText &Exit : Exits)
    if (Exit.Unlock)
      Unlocks.push_back(Exit.Unlock);
  if (all_of(Unlocks, [&](const LockOperation *Unlock) {
        std::optional<OperationGroup> Other = groupOf(*Unlock);
        return Other && !Unlock->Push && !Unlock->hasRest() &&
               StringRef(Other->Directive).ltrim() == StringRef(Group->Directive).ltrim();
      }))
    Result.Directive = Group->Directive;
}

// Adds the lines of the directives around an operation to its range, as far as they are its own.
void SectionPlacer::widen(Source::Range &R, const LockOperation &Op) {
  if (Result.Directive.empty())
    return;
  OperationGroup Group = *groupOf(Op);
  StringRef File = S.fileText(R.File);
  if (&Op == &Lock)
    Result.Groups.Begin = Group.Lines.Begin, Result.TextBefore = Group.Before;
  if (&Op == End.Unlock)
    Result.Groups.End = Group.Lines.End, Result.TextBehind = Group.Behind;
  R.Begin = Group.Before ? File.rfind('\n', R.Begin) + 1 : Group.Lines.Begin;
  R.End = Group.Behind ? throughUnlock(File, R.End) : Group.Lines.End;
}

// True for the `;` after a block, or after a macro that brings its own, where it went with those.
bool SectionPlacer::isInFront(const Stmt *Statement, unsigned Position) const {
  std::optional<Source::Range> R = S.range(Statement->getSourceRange());
  return isa<NullStmt>(Statement) && R && R->Begin < Position;
}

bool SectionPlacer::placeStatements(const std::vector<EarlyExitText> &Exits) {
  placeDirective(Exits);
  PlacedRange First, Last;
  if (End.Guard) {
    placeGuard(First, Last);
  } else if (End.Scope) {
    placeScope(First, Last);
  } else if (End.Entered) {
    placeEntered(First, Last);
    Result.Before = insteadOf(Lock);
  } else {
    First = S.range(Lock.Statement->getSourceRange());
    if (End.Unlock && End.Unlock->Push && !placePush(First))
      return refuseMacro(Lock.Call->getExprLoc());
    const Stmt *LastStatement = End.Unlock ? End.Unlock->Statement : End.Child;
    Last = S.range(LastStatement->getSourceRange());
    if (!extend(First, Lock))
      return refuseMacro(Lock.Call->getExprLoc());
    Result.Before = insteadOf(Lock);
    if (End.Unlock && !End.Unlock->Push)
      Result.Behind = insteadOf(*End.Unlock);
  }
  PlacedRange Through = Last;
  if (End.Unlock && !extend(Through, *End.Unlock))
    return refuseMacro(End.Unlock->Call->getExprLoc());
  std::optional<Source::Range> Whole = S.range(F->getSourceRange());
  SourceLocation At = Lock.Call->getExprLoc();
  if (!First || !Last || !Whole || First->File != Last->File || Whole->File != First->File ||
      !S.editable(F->getBody()->getBeginLoc()) || F->getBody()->getBeginLoc().isMacroID())
    return refuseMacro(At);
  StringRef File = S.fileText(First->File);
  widen(*First, Lock);
  if (End.Unlock) {
    widen(*Last, *End.Unlock);
    widen(*Through, *End.Unlock);
  }
  Result.File = S.filePath(First->File);
  Result.Whole = {First->Begin, End.Entered  ? S.range(End.Entered->If->getSourceRange())->End
                                : End.Unlock ? throughUnlock(File, Through->End)
                                : End.Scope  ? Through->End
                                             : throughSemicolon(File, Through->End)};
  if (End.Entered && !goesWhole(*First, throughUnlock(File, Through->End)))
    return refuse("tested-result",
                  "the result of the lock operation is used, and text that goes with the test may "
                  "do more",
                  At);
  Result.Completes =
      End.Scope ? completes(End.Scope, [](const Stmt *) { return false; }) : End.Unlock != nullptr;
  if (Text.Joins && File[Last->End - 1] == '}')
    Result.Whole.End = Last->End;
  if (Result.Directive.empty())
    Result.Groups = Result.Whole;
  else if (!End.Unlock)
    Result.Groups.End = Result.Whole.End;
  Result.Body = {Lock.hasHeldRest() ? First->Begin : throughSemicolon(File, First->End),
                 Text.Joins || End.Scope     ? Result.Whole.End
                 : End.Unlock->hasHeldRest() ? throughSemicolon(File, Last->End)
                                             : fromUnlock(File, Last->Begin)};
  unsigned Position = Result.Body.Begin;
  for (const Stmt *Statement : Text.Statements) {
    std::optional<Source::Range> R = S.range(Statement->getSourceRange());
    if (isInFront(Statement, Position))
      continue;
    if (!R || R->File != First->File || R->Begin < Position || R->End > Result.Body.End)
      return refuseMacro(Statement->getBeginLoc());
    Position = R->End;
  }
  if (Result.Body.End < Position || sharesText())
    return refuseMacro(At);
  for (const EarlyExitText &Exit : Exits)
    if (!placeExit(Exit, File, First->File))
      return refuseMacro(Exit.Unlock  ? Exit.Unlock->Call->getExprLoc()
                         : Exit.Value ? Exit.Value->getBeginLoc()
                         : Exit.Break ? Exit.Break->getBeginLoc()
                                      : Exit.Tail.front()->getBeginLoc());
  return true;
}

// What stays of the use of an operation's result.
std::string SectionPlacer::insteadOf(const LockOperation &Op) const {
  return Op.Uses && Text.GoneWhole.count(Op.Uses->Declared) ? "" : Op.Instead;
}

// Adds the statements that an operation's result decides to its range.
bool SectionPlacer::extend(PlacedRange &R, const LockOperation &Op) const {
  if (Op.last() == Op.Branch || !R)
    return true;
  PlacedRange Last = S.range(Op.last()->getSourceRange());
  if (!Last || Last->File != R->File || Last->Begin < R->End)
    return false;
  R->End = Last->End;
  return true;
}

// A pop without work takes the place of the one that releases the lock. A push behind the lock goes
// before the call.
bool SectionPlacer::placePush(PlacedRange &First) {
  PlacedRange Pop = S.range(End.Unlock->Statement->getSourceRange());
  PlacedRange Push = S.range(End.Unlock->Push->getBeginLoc());
  if (!First || !Pop || !Push || First->File != Pop->File || First->File != Push->File)
    return false;
  StringRef File = S.fileText(First->File);
  if (!File.substr(Push->Begin).starts_with("pthread_cleanup_push") ||
      !File.substr(Pop->Begin).starts_with("pthread_cleanup_pop"))
    return false; // another macro does that, and perhaps more
  Result.Behind = "pthread_cleanup_pop(0);";
  if (Push->Begin > First->Begin) {
    Result.Push = {Push->Begin, throughSemicolon(File, Push->End)};
    First->End = Push->End;
  }
  return true;
}

// A name of the text that moves to before its function, or of a macro in it, which may mean
// something else there: directives on the way define it, or a macro that pastes names, as that may
// make any. Empty: there is none.
StringRef SectionPlacer::otherMacro(FileID File, const std::set<std::string> &Redefined,
                                    StringRef Conditions) const {
  const SourceLocation Here = Lock.Call->getExprLoc();
  auto Changes = [&](StringRef Name) {
    const MacroInfo *Macro = S.macroAt(Name, Here);
    return Redefined.count(Name.str()) || !S.isSameMacro(Name, Here, F->getBeginLoc()) ||
           (Macro && S.makesText(Name, Here));
  };
  std::vector<StringRef> Names = identifiersIn(Conditions);
  for (const Word &W : wordsOf(S, File, Result.Groups.Begin, Result.Groups.End))
    if (!W.Name.empty())
      Names.push_back(W.Name);
  StringSet<> Seen;
  for (StringRef Name : Names)
    if (StringRef Other = S.nameReached(Name, Here, Changes, Seen); !Other.empty())
      return Other;
  return "";
}

bool SectionPlacer::placeSurroundings() {
  SourceLocation At = Lock.Call->getExprLoc();
  StringRef File = S.fileText(S.SM.getFileID(F->getBody()->getBeginLoc()));
  std::optional<Source::Range> Whole = S.range(F->getSourceRange());
  if (!conditionalBranches(File, Result.Groups))
    return refuse("preprocessor", "a preprocessor directive stands in the section", At);
  // The text moves to before its function: what a directive changes on the way must not matter.
  unsigned Open = S.SM.getFileOffset(F->getBody()->getBeginLoc());
  StringRef Before = File.slice(Open, Result.Whole.Begin);
  std::optional<std::set<std::string>> Redefined = redefinedIn(Before);
  if (!beginOfHead(File, {Whole->Begin, Open}, {Open, Whole->End}) ||
      hasDirective(Before, "pragma") || !Redefined)
    return refuse("preprocessor",
                  "a preprocessor directive stands between the function's begin and the section",
                  At);
  std::optional<OpenConditions> Around = openConditions(File, {Open, Result.Groups.Begin});
  if (!Around)
    return refuse("preprocessor", "stands under a condition that goes on in the next line", At);
  if (!Redefined->empty() || hasDirective(Before, "include"))
    if (StringRef Other = otherMacro(Whole->File, *Redefined, Around->Lines); !Other.empty())
      return refuse(
          "preprocessor",
          ("uses '" + Other + "', which may be another macro where its function begins").str(), At);
  Result.Conditions = Around->Lines;
  Result.ConditionGroups = Around->Groups;
  layout(File,
         Result.Directive.empty() ? Result.Whole.Begin
                                  : S.range(Lock.Statement->getSourceRange())->Begin,
         F, S, Result);
  // A declaration must not follow a label.
  const Stmt *First = End.around() ? End.around() : Lock.Statement;
  if (!isa_and_nonnull<CompoundStmt>(Parents.getParent(First)))
    Result.InBranch = true;
  if (!Text.Hoisted.empty() && (Result.InBranch || !mixesDeclarations(F, S)) &&
      !placeHoistedFirst(File))
    return refuse("declaration-outlives",
                  "variables of the section are used after it, and its block begins in a macro",
                  At);
  std::string Inner = firstIndent(File.slice(Result.Body.Begin, Result.Body.End), Result.Indent);
  if (End.around() || !StringRef(Inner).starts_with(Result.Indent)) // the lock stands further right
    Result.BodyIndent = Inner;
  return true;
}

// Hoisted variables are declared behind the first declarations of the lock's block.
bool SectionPlacer::placeHoistedFirst(StringRef File) {
  const CompoundStmt *Block = blockOf(End.around() ? End.around() : Lock.Statement, Parents);
  if (!Block)
    return false;
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

// First: the heads of the loops, through the brace. Last: the closing brace, or the end of a body
// without braces. What a macro makes of the heads must be all that it makes.
void SectionPlacer::placeGuard(PlacedRange &First, PlacedRange &Last) const {
  const GuardLoop &Guard = *End.Guard;
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
    Last = S.range(Block->getRBracLoc());
  } else if ((Last = S.range(Body->getSourceRange()))) {
    First = S.range({Begin, Head});
    Last->Begin = Last->End = throughSemicolon(S.fileText(Last->File), Last->End);
  }
}

// First: through the block's opening brace. Last: the unlock.
void SectionPlacer::placeEntered(PlacedRange &First, PlacedRange &Last) const {
  const CompoundStmt *Block = End.Entered->Arm;
  const Stmt *Begins = Lock.Statement ? Lock.Statement : End.Entered->If;
  if (Begins->getBeginLoc().isMacroID() || End.Entered->If->getBeginLoc().isMacroID() ||
      End.Entered->If->getEndLoc().isMacroID() || Block->getLBracLoc().isMacroID() ||
      Block->getRBracLoc().isMacroID())
    return;
  First = S.range({Begins->getBeginLoc(), Block->getLBracLoc()});
  Last = S.range(End.Unlock->Statement->getSourceRange());
}

// True if the text of an entrance that goes is only what is known of it: nothing stands behind the
// unlock in its arm, and no other configuration has other text there.
bool SectionPlacer::goesWhole(const Source::Range &First, unsigned UnlockEnd) const {
  StringRef File = S.fileText(First.File);
  std::optional<Source::Range> Arm = S.range(End.Entered->Arm->getRBracLoc());
  auto HasDirective = [](StringRef Text) {
    return any_of(split(Text, '\n'), [](StringRef Line) { return Line.ltrim().starts_with("#"); });
  };
  return Arm && UnlockEnd <= Arm->Begin && File.slice(UnlockEnd, Arm->Begin).trim().empty() &&
         !HasDirective(File.slice(First.Begin, First.End)) &&
         !HasDirective(File.slice(Arm->End, Result.Whole.End));
}

// A jump that ends the section and has nothing to do behind it.
bool SectionPlacer::placeEnd(const Stmt *Jump, StringRef File, FileID Id) {
  std::optional<Source::Range> R = S.range(Jump->getSourceRange());
  if (!R || R->File != Id || Jump->getBeginLoc().isMacroID())
    return false;
  EarlyExit Placed;
  Placed.Joins = true;
  Placed.Unlock = {R->Begin, throughSemicolon(File, R->End)};
  Placed.Tail = {Placed.Unlock.End, Placed.Unlock.End};
  Result.Exits.push_back(Placed);
  return true;
}

// From the variable or the lock to before the block's closing brace. What a macro makes of the two
// must be all that it makes.
void SectionPlacer::placeScope(PlacedRange &First, PlacedRange &Last) const {
  const Stmt *Begins = Lock.ScopeStatement, *Ends = Lock.Statement;
  if (S.SM.isBeforeInTranslationUnit(Ends->getBeginLoc(), Begins->getBeginLoc()))
    std::swap(Begins, Ends);
  SourceLocation Begin = Begins->getBeginLoc(), Through = Ends->getEndLoc();
  bool Exact = (Begin.isFileID() || Lexer::isAtStartOfMacroExpansion(Begin, S.SM, S.Language)) &&
               (Through.isFileID() || Lexer::isAtEndOfMacroExpansion(Through, S.SM, S.Language));
  if (!Exact || End.Scope->getRBracLoc().isMacroID())
    return;
  First = S.range({Begin, Through});
  Last = S.range(End.Scope->getRBracLoc());
  if (First && Last)
    Last->Begin = Last->End = S.fileText(Last->File).take_front(Last->Begin).rtrim().size();
}

// `return value;` in a block whose end unlocks: two statements.
bool SectionPlacer::placeValue(const ReturnStmt *Return, StringRef File, FileID Id) {
  std::optional<Source::Range> R = S.range(Return->getSourceRange());
  std::optional<Source::Range> Value = S.range(Return->getRetValue()->getSourceRange());
  if (!R || !Value || R->File != Id || Value->File != Id || Return->getBeginLoc().isMacroID())
    return false;
  EarlyExit Placed;
  Placed.Value = {Value->Begin, Value->End};
  Placed.Unlock = {R->Begin, throughSemicolon(File, R->End)};
  Placed.Tail = {Placed.Unlock.End, Placed.Unlock.End};
  Placed.Braces = !isa_and_nonnull<CompoundStmt>(Parents.getParent(Return));
  StringRef Before = File.take_front(R->Begin).rtrim();
  Result.Exits.push_back(Placed);
  // A brace goes behind that, and not into a comment.
  return !Placed.Braces || Before.ends_with(")") || Before.ends_with("else");
}

// A jump out of a block whose end unlocks: the caller jumps.
bool SectionPlacer::placeJump(const Stmt *Jump, StringRef File, FileID Id) {
  std::optional<Source::Range> R = S.range(Jump->getSourceRange());
  if (!R || R->File != Id || Jump->getBeginLoc().isMacroID())
    return false;
  EarlyExit Placed;
  Placed.Tail = {R->Begin, withComment(File, throughSemicolon(File, R->End))};
  Placed.Unlock = Placed.Tail;
  Result.Exits.push_back(Placed);
  return Placed.Unlock.End <= Result.Body.End;
}

// True if a macro brings an end of the section together with what stands beside it.
bool SectionPlacer::sharesText() const {
  const Stmt *Begin = End.around() ? End.around() : Lock.Statement;
  const CompoundStmt *Block = blockOf(Begin, Parents);
  const Stmt *First = Block ? childOf(Block, Begin, Parents) : nullptr;
  return Block && any_of(Block->body(), [&](const Stmt *Child) {
           if (Child == First || Child == End.Child || Child == Lock.ScopeStatement ||
               isa<NullStmt>(Child) || (End.Unlock && Child == End.Unlock->Push) ||
               is_contained(Text.Statements, Child))
             return false;
           if (is_contained(Lock.gone(), Child) ||
               (End.Unlock && is_contained(End.Unlock->gone(), Child)))
             return false;
           std::optional<Source::Range> R = S.range(Child->getSourceRange());
           return !R || (R->Begin < Result.Whole.End && R->End > Result.Whole.Begin);
         });
}

bool SectionPlacer::placeExit(const EarlyExitText &Exit, StringRef File, FileID Id) {
  if (Exit.Value)
    return placeValue(Exit.Value, File, Id);
  if (!Exit.Unlock)
    return Exit.Break ? placeEnd(Exit.Break, File, Id) : placeJump(Exit.Tail.front(), File, Id);
  std::optional<Source::Range> Unlock = S.range(Exit.Unlock->Branch->getSourceRange());
  if (!Unlock || Unlock->File != Id || Unlock->Begin < Result.Body.Begin ||
      !extend(Unlock, *Exit.Unlock))
    return false;
  EarlyExit Placed;
  if (!Result.Directive.empty()) {
    size_t Line = File.rfind('\n', Unlock->Begin) + 1;
    Placed.Indent = File.slice(Line, Unlock->Begin).str();
    widen(*Unlock, *Exit.Unlock);
  }
  Placed.Joins = Exit.Joins;
  Placed.InBlock = blockOf(Exit.Unlock->Branch, Parents) != nullptr;
  Placed.Before = insteadOf(*Exit.Unlock);
  Placed.Tail.Begin = Placed.Tail.End = throughUnlock(File, Unlock->End);
  ArrayRef<const Stmt *> Statements = Exit.Tail;
  while (!Statements.empty() && isInFront(Statements.front(), Placed.Tail.Begin))
    Statements = Statements.drop_front();
  if (!Statements.empty()) {
    std::optional<Source::Range> Tail =
        S.range(SourceRange(Statements.front()->getBeginLoc(), Statements.back()->getEndLoc()));
    if (!Tail || Tail->File != Id || Unlock->End > Tail->Begin + 1 ||
        Placed.Tail.Begin > Tail->Begin)
      return false;
    Placed.Tail.End = withComment(File, throughSemicolon(File, Tail->End));
  }
  Placed.Declares = any_of(Exit.Tail, [](const Stmt *S) { return isa<DeclStmt>(S); });
  Placed.Unlock = {std::max(fromUnlock(File, Unlock->Begin), Result.Body.Begin), Placed.Tail.End};
  if (Exit.Unlock->hasHeldRest()) { // the section uses the macro
    Placed.Unlock.Begin = Placed.Tail.Begin = throughSemicolon(File, Unlock->End);
    size_t Line = File.rfind('\n', Unlock->Begin) + 1;
    Placed.Indent = "\n" + File.slice(Line, File.find_first_not_of(" \t", Line)).str();
  }
  if (Exit.Break) {
    std::optional<Source::Range> Break = S.range(Exit.Break->getSourceRange());
    if (!Break || Break->File != Id || Break->Begin < Placed.Tail.End)
      return false;
    Placed.Tail.End = Break->Begin; // and the comments before it
    Placed.Unlock.End = throughSemicolon(File, Break->End);
  }
  if (Exit.Relock) {
    std::optional<Source::Range> Relock = S.range(Exit.Relock->Statement->getSourceRange());
    if (!Relock || Relock->File != Id || Relock->Begin < Placed.Tail.End ||
        !extend(Relock, *Exit.Relock))
      return false;
    Placed.Tail.End = Relock->Begin; // and the comments before it
    Placed.Behind = insteadOf(*Exit.Relock);
    Placed.Unlock.End = Exit.Relock->hasHeldRest()
                            ? unsigned(File.take_front(Relock->Begin).rtrim().size())
                            : throughSemicolon(File, Relock->End);
    Placed.Returns = 1 + count_if(Result.Exits, [](const EarlyExit &E) { return E.Returns; });
  }
  Result.Exits.push_back(Placed);
  return Placed.Unlock.End <= Result.Body.End;
}

void layout(StringRef File, unsigned Begin, const FunctionDecl *F, const Source &S,
            Extraction &Result) {
  size_t LineBegin = File.rfind('\n', Begin) + 1;
  Result.Indent = File.slice(LineBegin, Begin).str();
  if (StringRef(Result.Indent).find_first_not_of(" \t") != StringRef::npos)
    Result.Indent = File.slice(LineBegin, File.find_first_not_of(" \t", LineBegin)).str();
  Result.BodyIndent = Result.Indent;
  const auto *Body = cast<CompoundStmt>(F->getBody());
  // Of a section in a macro, the function may stand in another file.
  StringRef Own = S.fileText(S.SM.getFileID(S.SM.getExpansionLoc(Body->getLBracLoc())));
  unsigned Open = S.SM.getFileOffset(Body->getLBracLoc());
  StringRef Before = Own.take_front(Open);
  Result.BraceOnOwnLine = Before.rtrim(" \t").ends_with("\n");
  Result.IndentUnit = "    ";
  if (!Body->body_empty()) {
    unsigned FirstStatement =
        S.SM.getFileOffset(S.SM.getExpansionLoc((*Body->body_begin())->getBeginLoc()));
    size_t FirstLine = Own.rfind('\n', FirstStatement) + 1;
    StringRef Unit = Own.slice(FirstLine, FirstStatement);
    if (!Unit.empty() && Unit.find_first_not_of('\t') == StringRef::npos)
      Result.IndentUnit = "\t"; // a first statement further right, in a block that is commented out
    else if (!Unit.empty() && Unit.find_first_not_of(" \t") == StringRef::npos)
      Result.IndentUnit = Unit.str();
  }
  const Source::Range All = *S.range(F->getSourceRange());
  const unsigned Head = beginOfHead(Own, {All.Begin, Open}, {Open, All.End}).value_or(All.Begin);
  Result.FunctionBegin = aboveComment(Own, Head, F->getName());
}

// Where the comment begins that a blank line sets apart, and that names the function.
static std::optional<unsigned> commentApart(StringRef File, unsigned Begin, StringRef Function) {
  StringRef Above = File.take_front(Begin).rtrim();
  bool Apart = File.slice(Above.size(), Begin).count('\n') == 2;
  size_t Open = Above.rfind("/*");
  if (!Apart || !Above.ends_with("*/") || Open == StringRef::npos || Function.empty())
    return std::nullopt;
  size_t Line = File.rfind('\n', Open) + 1;
  StringRef Comment = Above.substr(Open);
  bool Whole = File.slice(Line, Open).trim().empty() && Comment.find("*/") == Comment.size() - 2;
  std::string Lower = Comment.lower(), Name = Function.lower();
  for (size_t At = Lower.find(Name); At != std::string::npos; At = Lower.find(Name, At + 1)) {
    char Before = Lower[At - 1], Behind = Lower[At + Name.size()];
    if (Whole && !isAsciiIdentifierContinue(Before) && !isAsciiIdentifierContinue(Behind))
      return Line;
  }
  return std::nullopt;
}

unsigned aboveComment(StringRef File, unsigned FunctionBegin, StringRef Function) {
  size_t Begin = File.rfind('\n', FunctionBegin) + 1;
  // Words before it on its line are of the declaration, too: macros that are nothing here.
  StringRef Words = File.slice(Begin, FunctionBegin);
  StringRef Other = Words;
  while (!Other.empty() && (isAsciiIdentifierContinue(Other.back()) ||
                            StringRef("()[], \t\"").contains(Other.back())))
    Other = Other.drop_back();
  Words = Words.drop_front(Other.size()).ltrim();
  Other = Other.ltrim();
  const bool OwnComment = Other.starts_with("/*") && Other.find("*/") == Other.size() - 2;
  if (!Other.empty() && !OwnComment)
    return Words.empty() ? FunctionBegin : Words.data() - File.data();
  for (;;) {
    if (Begin == 0)
      return 0;
    size_t Previous = File.rfind('\n', Begin - 1) + 1;
    StringRef Line = File.slice(Previous, Begin - 1).trim();
    if (File.take_front(Previous).drop_back(Previous > 0).rtrim(" \t\r").ends_with("\\"))
      return Begin; // the last line of a directive
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
    } else if (Line.empty()) {
      return commentApart(File, Begin, Function).value_or(Begin);
    } else if (Line.starts_with("#") || Line.ends_with(";") || Line.ends_with("}")) {
      return Begin;
    } else {
      Begin = Previous; // a part of the declaration that a macro hides
    }
  }
}

} // namespace relock
