// SPDX-License-Identifier: MIT
#include "section/MacroRest.h"

#include "section/Flow.h"
#include "support/MacroText.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/StringExtras.h"

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

// The text of the definition for another name, without the operation: its lines go as a whole.
static std::string withoutOperation(const WrittenMacro &D, StringRef File, StringRef Head,
                                    Range Operation) {
  unsigned Begin = Operation.Begin, End = Operation.End;
  StringRef Behind = File.slice(End, D.End);
  if (Behind.ltrim(" \t").starts_with(";"))
    End = Behind.ltrim(" \t").data() + 1 - File.data();
  size_t Line = File.take_front(Begin).rfind('\n') + 1;
  StringRef After = File.slice(End, D.End).ltrim(" \t");
  if (Line > D.Begin && File.slice(Line, Begin).trim().empty() && After.consume_front("\\") &&
      (After.consume_front("\n") || After.consume_front("\r\n"))) {
    Begin = Line;
    End = After.data() - File.data();
  } else {
    End = After.data() - File.data();
  }
  const unsigned HeadEnd = D.Name + D.Head.size();
  StringRef Between = File.slice(HeadEnd, Begin);
  if (Head.size() > D.Head.size())
    Between = behindLongerHead(Between, Head.size() - D.Head.size());
  return (File.slice(D.Begin, D.Name) + Head + Between + File.slice(End, D.End)).str();
}

// LOCK_ZONE → LOCK_ZONE_HELD, lock_zone → lock_zone_held.
static std::string nameOfRest(StringRef Macro) {
  return (Macro + (any_of(Macro, isLowercase) ? "_held" : "_HELD")).str();
}

namespace {

class Divider {
public:
  // Whole: all that the macro stands for. Operation: its tokens in the definition.
  Divider(SourceRange Whole, SourceRange Operation, const Source &S)
      : Whole(Whole), Use(S.SM.getExpansionLoc(Whole.getBegin())), Operation(Operation), S(S) {}

  std::optional<MacroRest> divide() {
    Macro = macroUsedAt(Use, S);
    if (!Macro || !S.editable(Macro->getDefinitionLoc()) ||
        S.inSystemHeader(Macro->getDefinitionLoc()))
      return std::nullopt;
    const FileID Id = S.SM.getFileID(Macro->getDefinitionLoc());
    File = S.fileText(Id);
    Goes = {S.SM.getFileOffset(Operation.getBegin()),
            S.SM.getFileOffset(Operation.getEnd()) + S.tokenLength(Operation.getEnd())};
    if (!readTokens())
      return std::nullopt;
    auto All = definitionsOf(Name, File);
    if (!All)
      return std::nullopt;
    MacroRest Rest;
    Rest.Macro = Name;
    const std::string Other = nameOfRest(Name);
    for (const WrittenMacro &D : *All) {
      const std::string Head =
          Other + (UsesParameters ? D.Head.drop_front(Name.size()).str() : Empty);
      std::string Text;
      if (D.Name == S.SM.getFileOffset(Macro->getDefinitionLoc()))
        Text = withoutOperation(D, File, Head, Goes);
      else if (isOnly(D.Body, File.slice(Goes.Begin, Goes.End)))
        Text = (File.slice(D.Begin, D.Name) + Head).str();
      else
        return std::nullopt;
      Rest.Definitions.push_back({S.position(Id, D.End), "\n" + Text});
    }
    if (!place(Other, Rest))
      return std::nullopt;
    return Rest;
  }

private:
  const SourceRange Whole;
  const SourceLocation Use;
  const SourceRange Operation;
  const Source &S;
  const MacroInfo *Macro = nullptr;
  StringRef Name, File;
  Range Goes;
  bool UsesParameters = false; // in what is left
  std::string Empty;           // parameters that there are none of

  bool readTokens() {
    Token Used;
    Lexer::getRawToken(Use, Used, S.SM, S.Language);
    Name = Used.getRawIdentifier();
    Empty = Macro->isFunctionLike() ? "()" : "";
    for (const Token &T : Macro->tokens()) {
      const unsigned At = S.SM.getFileOffset(T.getLocation());
      const IdentifierInfo *Word = T.getIdentifierInfo();
      if (!Word || (At >= Goes.Begin && At < Goes.End))
        continue;
      UsesParameters |= Macro->getParameterNum(Word) >= 0;
      // A second text of that would not change with the class.
      if (Word->getName().starts_with("pthread_") || Word->getName().starts_with("PTHREAD_"))
        return false;
    }
    return true;
  }

  // Where the other macro is used. It may be there already, from an earlier run.
  bool place(const std::string &Other, MacroRest &Rest) const {
    if (S.macroAt(Other, Use)) {
      if (!all_of(Rest.Definitions, [&](const auto &D) { return File.contains(D.Text); }))
        return false;
      Rest.Definitions.clear();
    } else if (File.contains(Other) || S.beginsMacro(Other) ||
               !S.Context.getTranslationUnitDecl()->lookup(&S.Context.Idents.get(Other)).empty()) {
      return false;
    }
    std::optional<Source::Range> Written = S.range(Whole);
    if (!Written)
      return false;
    Rest.Use = {Written->Begin, unsigned(Written->Begin + Name.size())};
    Rest.Text = Other;
    if (!UsesParameters) {
      Rest.Use.End = Written->End;
      Rest.Text += Empty;
    }
    return true;
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

std::optional<LockMacro> lockMacroAround(const Stmt *Operation, bool First,
                                         const ParentMap &Parents, const Source &S) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Parents.getParent(Operation));
  if (!Block || !Block->getLBracLoc().isMacroID())
    return std::nullopt;
  std::vector<const Stmt *> Parts;
  copy_if(Block->body(), std::back_inserter(Parts),
          [](const Stmt *P) { return !isa<NullStmt>(P); });
  if (Parts.size() < 2 || (First ? Parts.front() : Parts.back()) != Operation || jumps(Block))
    return std::nullopt;
  const Stmt *Whole = Block, *Around = Parents.getParent(Block);
  Expr::EvalResult Again;
  if (const auto *Do = dyn_cast_or_null<DoStmt>(Around))
    if (Do->getCond()->EvaluateAsInt(Again, S.Context) && Again.Val.getInt() == 0)
      Whole = Do;
  // A value that nobody uses stays the same one; before an unlock it would be another.
  for (; (First && isa_and_nonnull<StmtExpr>(Around)) || isa_and_nonnull<ParenExpr>(Around);
       Around = Parents.getParent(Around))
    if (Around->getBeginLoc().isMacroID())
      Whole = Around;
  std::optional<SourceRange> All = tokensInMacro(Whole->getSourceRange(), S);
  std::optional<SourceRange> Own = tokensInMacro(Operation->getSourceRange(), S);
  if (!blockOf(Whole, Parents) || !All || !Own)
    return std::nullopt;
  const SourceLocation Use = S.SM.getExpansionLoc(Whole->getBeginLoc());
  const MacroInfo *Macro = macroUsedAt(Use, S);
  if (!Macro || Macro->tokens().front().getLocation() != All->getBegin() ||
      Macro->tokens().back().getLocation() != All->getEnd())
    return std::nullopt;
  std::optional<MacroRest> Rest = Divider(Whole->getSourceRange(), *Own, S).divide();
  if (!Rest)
    return std::nullopt;
  return LockMacro{Whole, std::move(*Rest)};
}

} // namespace relock
