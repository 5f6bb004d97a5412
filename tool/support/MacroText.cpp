// SPDX-License-Identifier: MIT
#include "support/MacroText.h"

#include "support/Source.h"

#include "clang/Basic/CharInfo.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallSet.h"

using namespace clang;
using namespace llvm;

namespace relock {

const MacroInfo *macroUsedAt(SourceLocation Use, const Source &S) {
  Token Name;
  if (Lexer::getRawToken(Use, Name, S.SM, S.Language) || Name.isNot(tok::raw_identifier))
    return nullptr;
  const MacroInfo *Macro = S.macroAt(Name.getRawIdentifier(), Use);
  return Macro && !Macro->isVariadic() && !Macro->isBuiltinMacro() ? Macro : nullptr;
}

std::vector<std::string> argumentsAt(SourceLocation Use, const Source &S) {
  FileID File = S.SM.getFileID(Use);
  StringRef Text = S.fileText(File);
  Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(),
            Text.begin() + S.SM.getFileOffset(Use), Text.end());
  std::vector<std::string> Result;
  unsigned Begin = 0;
  int Depth = 0;
  Token Current;
  while (!Raw.LexFromRawLexer(Current)) {
    unsigned At = S.SM.getFileOffset(Current.getLocation());
    if (Current.isOneOf(tok::l_paren, tok::l_brace, tok::l_square) && Depth++ == 0)
      Begin = At + 1;
    bool Closes = Current.isOneOf(tok::r_paren, tok::r_brace, tok::r_square) && --Depth == 0;
    if (Closes || (Current.is(tok::comma) && Depth == 1)) {
      Result.push_back(Text.slice(Begin, At).trim().str());
      Begin = At + 1;
    }
    if (Closes)
      break;
  }
  return Result;
}

// Tokens of the body of the macro that is used at Use.
static std::optional<std::string> expand(SourceLocation Use, ArrayRef<Token> Tokens,
                                         const std::map<SourceLocation, std::string> &Changes,
                                         const Source &S) {
  const MacroInfo *Macro = macroUsedAt(Use, S);
  std::vector<std::string> Arguments;
  if (Macro->isFunctionLike())
    Arguments = argumentsAt(Use, S);
  if (Arguments.size() != Macro->getNumParams())
    return std::nullopt;
  std::string Text;
  size_t Changed = 0;
  for (const Token &T : Tokens) {
    if (T.isOneOf(tok::hash, tok::hashhash, tok::hashat))
      return std::nullopt;
    if (!Text.empty() && (T.hasLeadingSpace() || T.isAtStartOfLine()))
      Text += ' ';
    int Parameter = T.getIdentifierInfo() ? Macro->getParameterNum(T.getIdentifierInfo()) : -1;
    if (auto Change = Changes.find(T.getLocation()); Change != Changes.end()) {
      Text += Change->second;
      ++Changed;
    } else if (Parameter >= 0) {
      Text += Arguments[Parameter];
    } else {
      Text += Lexer::getSpelling(T, S.SM, S.Language);
    }
  }
  return Changed == Changes.size() ? std::optional(Text) : std::nullopt;
}

std::optional<std::string> expandOnce(SourceLocation Use,
                                      const std::map<SourceLocation, std::string> &Changes,
                                      const Source &S) {
  const MacroInfo *Macro = macroUsedAt(Use, S);
  return Macro && Macro->isFunctionLike() ? expand(Use, Macro->tokens(), Changes, S) : std::nullopt;
}

enum class Edge { Begin, End };

// The token of the outermost macro's body in whose place, or for whose parameter, the token at L
// stands. Invalid if it is not the first one there, or the last one.
static SourceLocation inOutermostBody(SourceLocation L, Edge Which, const Source &S) {
  const SourceManager &SM = S.SM;
  auto IsEdge = [&] {
    return Which == Edge::Begin
               ? SM.isAtStartOfImmediateMacroExpansion(L)
               : SM.isAtEndOfImmediateMacroExpansion(L.getLocWithOffset(S.tokenLength(L)));
  };
  while (L.isMacroID()) {
    CharSourceRange Range = SM.getImmediateExpansionRange(L);
    if (SM.isMacroArgExpansion(L)) {
      SourceLocation Written = SM.getImmediateSpellingLoc(L);
      if (Written.isFileID() && !IsEdge())
        return {};
      L = Written.isMacroID() ? Written : Range.getBegin();
    } else if (Range.getBegin().isFileID()) {
      return L;
    } else if (!IsEdge()) {
      return {};
    } else {
      L = Which == Edge::Begin ? Range.getBegin() : Range.getEnd();
    }
  }
  return {};
}

// The tokens of an expression in the body of the macro that is used at Use.
static ArrayRef<Token> bodyTokens(SourceRange Expression, SourceLocation &Use, const Source &S) {
  SourceLocation First = inOutermostBody(Expression.getBegin(), Edge::Begin, S);
  SourceLocation Last = inOutermostBody(Expression.getEnd(), Edge::End, S);
  if (First.isInvalid() || Last.isInvalid())
    return {};
  Use = S.SM.getImmediateExpansionRange(First).getBegin();
  const MacroInfo *Macro = macroUsedAt(Use, S);
  if (!Macro || Use != S.SM.getImmediateExpansionRange(Last).getBegin())
    return {};
  auto Place = [&](SourceLocation At) {
    return find_if(Macro->tokens(),
                   [&](const Token &T) { return T.getLocation() == S.SM.getSpellingLoc(At); });
  };
  const Token *Begin = Place(First), *End = Place(Last);
  if (Begin == Macro->tokens_end() || End == Macro->tokens_end() || End < Begin)
    return {};
  return ArrayRef<Token>(Begin, End + 1);
}

std::optional<std::string> textInMacro(SourceRange Expression, const Source &S) {
  SourceLocation Use;
  ArrayRef<Token> Tokens = bodyTokens(Expression, Use, S);
  return Tokens.empty() ? std::nullopt : expand(Use, Tokens, {}, S);
}

std::optional<SourceRange> tokensInMacro(SourceRange Expression, const Source &S) {
  SourceLocation Use;
  ArrayRef<Token> Tokens = bodyTokens(Expression, Use, S);
  if (Tokens.empty())
    return std::nullopt;
  return SourceRange(Tokens.front().getLocation(), Tokens.back().getLocation());
}

static size_t endOfLogicalLine(StringRef File, size_t At) {
  for (;;) {
    size_t End = std::min(File.find('\n', At), File.size());
    if (End == File.size() || !File.take_front(End).rtrim("\r").ends_with("\\"))
      return End;
    At = End + 1;
  }
}

std::optional<std::vector<WrittenMacro>> definitionsOf(StringRef Name, StringRef File) {
  std::vector<WrittenMacro> Result;
  for (size_t Line = 0, Next; Line < File.size(); Line = Next) {
    const size_t End = endOfLogicalLine(File, Line);
    Next = End + 1;
    StringRef Text = File.slice(Line, End), Rest = Text.ltrim(" \t");
    if (!Rest.consume_front("#"))
      continue;
    Rest = Rest.ltrim(" \t");
    const bool Defines = Rest.consume_front("define");
    if (!Defines && !Rest.consume_front("undef"))
      continue;
    Rest = Rest.ltrim(" \t");
    const unsigned At = Rest.data() - File.data();
    if (!Rest.consume_front(Name) || (!Rest.empty() && isAsciiIdentifierContinue(Rest[0])))
      continue;
    if (Rest.starts_with("("))
      Rest = Rest.drop_front(std::min(Rest.find(')'), Rest.size() - 1) + 1);
    StringRef Head = File.slice(At, Rest.data() - File.data());
    if (!Defines || Head.contains('\\'))
      return std::nullopt;
    Result.push_back({unsigned(Line), unsigned(End), At, Head, Rest});
  }
  return Result;
}

StringRef behindLongerHead(StringRef Text, size_t Longer) {
  const size_t Blanks = Text.find_first_not_of(" \t");
  const bool Fits = Blanks != StringRef::npos && Text[Blanks] == '\\' && Blanks > Longer &&
                    !Text.take_front(Blanks).contains('\t');
  return Fits ? Text.drop_front(Longer) : Text;
}

static bool sameMacro(StringRef Name, SourceLocation Use, SourceLocation Other,
                      SmallSet<StringRef, 8> &Seen, const Source &S) {
  if (!Seen.insert(Name).second)
    return true;
  if (!S.isSameMacro(Name, Use, Other))
    return false;
  const MacroInfo *Macro = S.macroAt(Name, Use);
  return !Macro || all_of(Macro->tokens(), [&](const Token &T) {
    const IdentifierInfo *Inner = T.getIdentifierInfo();
    return !Inner || sameMacro(Inner->getName(), Use, Other, Seen, S);
  });
}

bool sameMacros(StringRef Text, SourceLocation Use, SourceLocation Other, const Source &S) {
  std::string Buffer = Text.str(); // the lexer reads the zero behind it
  Lexer Raw(SourceLocation(), S.Language, Buffer.data(), Buffer.data(),
            Buffer.data() + Buffer.size());
  SmallSet<StringRef, 8> Seen;
  for (Token T; Raw.LexFromRawLexer(T), T.isNot(tok::eof);)
    if (T.is(tok::raw_identifier) && !sameMacro(T.getRawIdentifier(), Use, Other, Seen, S))
      return false;
  return true;
}

} // namespace relock
