// SPDX-License-Identifier: MIT
#include "index/Words.h"

#include "clang/Lex/Lexer.h"

using namespace clang;
using namespace llvm;

namespace relock {

std::vector<Word> wordsOf(const Source &S, FileID File, unsigned Begin, unsigned End) {
  StringRef Text = S.fileText(File);
  Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(), Text.begin() + Begin,
            Text.end());
  std::vector<Word> Result;
  Token Next;
  for (Raw.LexFromRawLexer(Next);
       Next.isNot(tok::eof) && S.SM.getFileOffset(Next.getLocation()) < End;
       Raw.LexFromRawLexer(Next))
    Result.push_back({Next.getKind(),
                      Next.is(tok::raw_identifier) ? Next.getRawIdentifier() : StringRef(),
                      Next.getLocation(), Next.isAtStartOfLine()});
  return Result;
}

size_t pastClosing(ArrayRef<Word> Words, size_t I) {
  if (I >= Words.size())
    return I;
  const tok::TokenKind Opens = Words[I].Kind;
  const tok::TokenKind Closes = Opens == tok::l_brace ? tok::r_brace : tok::r_paren;
  int Open = 0;
  for (; I < Words.size(); ++I) {
    Open += Words[I].Kind == Opens;
    Open -= Words[I].Kind == Closes;
    if (Open == 0)
      return I + 1;
  }
  return I;
}

Operand operandOf(ArrayRef<Word> Words) {
  Operand Result;
  bool Address = false;
  int Index = 0;
  for (size_t I = 0; I < Words.size(); ++I) {
    tok::TokenKind Kind = Words[I].Kind;
    Index += Kind == tok::l_square;
    Index -= Kind == tok::r_square;
    if (Index > 0)
      continue;
    Address |= Kind == tok::amp;
    Result.Computed |= Kind == tok::plus || Kind == tok::minus || Kind == tok::question;
    if (Kind != tok::raw_identifier)
      continue;
    Result.Name = Words[I].Name.str();
    Result.Path.push_back(Words[I].Name);
    Result.Member = I > 0 && (Words[I - 1].Kind == tok::period || Words[I - 1].Kind == tok::arrow);
    if (I + 1 < Words.size() && Words[I + 1].Kind == tok::l_paren)
      I = pastClosing(Words, I + 1) - 1;
  }
  Result.Pointer = !Address || Result.Computed;
  return Result;
}

std::vector<ArrayRef<Word>> argumentsOf(ArrayRef<Word> Words) {
  std::vector<ArrayRef<Word>> Result;
  if (Words.empty() || Words[0].Kind != tok::l_paren)
    return Result;
  size_t End = pastClosing(Words, 0), Begin = 1;
  int Open = 0;
  for (size_t I = 1; I < End; ++I) {
    bool Last = I + 1 == End;
    if (Last || (Open == 0 && Words[I].Kind == tok::comma)) {
      Result.push_back(Words.slice(Begin, I - Begin));
      Begin = I + 1;
    }
    Open += Words[I].Kind == tok::l_paren;
    Open -= Words[I].Kind == tok::r_paren;
  }
  return Result;
}

Definition definitionAt(ArrayRef<Word> Define) {
  Definition Result;
  size_t I = 2;
  Result.FunctionLike = Define.size() > 2 && Define[2].Kind == tok::l_paren &&
                        Define[2].At == Define[1].At.getLocWithOffset(Define[1].Name.size());
  if (Result.FunctionLike) {
    for (I = 3; I < Define.size() && Define[I].Kind != tok::r_paren; ++I)
      if (Define[I].Kind == tok::raw_identifier)
        Result.Parameters.push_back(Define[I].Name);
    ++I;
  }
  for (; I < Define.size() && !Define[I].StartsLine; ++I)
    Result.Body.push_back(Define[I]);
  return Result;
}

Definition definitionOf(const MacroInfo &Macro) {
  Definition Result = {Macro.isFunctionLike(), {}, {}};
  for (const IdentifierInfo *Parameter : Macro.params())
    Result.Parameters.push_back(Parameter->getName());
  for (const Token &T : Macro.tokens())
    if (const IdentifierInfo *Name = T.getIdentifierInfo())
      Result.Body.push_back({tok::raw_identifier, Name->getName(), T.getLocation(), false});
    else
      Result.Body.push_back({T.getKind(), "", T.getLocation(), false});
  return Result;
}

bool changes(StringRef Name, ArrayRef<Word> Words) {
  auto Kind = [&](size_t I) { return I < Words.size() ? Words[I].Kind : tok::eof; };
  for (size_t I = 0; I < Words.size(); ++I)
    if (Words[I].Name == Name &&
        (is_contained({tok::equal, tok::plusequal, tok::minusequal, tok::plusplus, tok::minusminus},
                      Kind(I + 1)) ||
         is_contained({tok::amp, tok::plusplus, tok::minusminus}, Kind(I - 1))))
      return true;
  return false;
}

} // namespace relock
