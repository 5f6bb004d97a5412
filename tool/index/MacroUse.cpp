// SPDX-License-Identifier: MIT
#include "index/MacroUse.h"

#include "index/LockApi.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"

using namespace clang;
using namespace llvm;

namespace relock {

// The macro that the name at Use means there, if it takes a fixed number of arguments.
static const MacroInfo *macroAt(SourceLocation Use, const Source &S, Preprocessor &PP) {
  Token Name;
  if (Lexer::getRawToken(Use, Name, S.SM, S.Language) || Name.isNot(tok::raw_identifier))
    return nullptr;
  const MacroInfo *Macro =
      PP.getMacroDefinitionAtLoc(PP.getIdentifierInfo(Name.getRawIdentifier()), Use).getMacroInfo();
  return Macro && Macro->isFunctionLike() && !Macro->isVariadic() ? Macro : nullptr;
}

// The arguments between the parentheses that follow the name at Use.
static std::vector<std::string> arguments(SourceLocation Use, const Source &S) {
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

std::optional<std::string> expandOnce(SourceLocation Use,
                                      const std::map<SourceLocation, std::string> &Changes,
                                      const Source &S, Preprocessor &PP) {
  const MacroInfo *Macro = macroAt(Use, S, PP);
  if (!Macro)
    return std::nullopt;
  std::vector<std::string> Arguments = arguments(Use, S);
  if (Arguments.size() != Macro->getNumParams())
    return std::nullopt;
  std::string Text;
  size_t Changed = 0;
  for (const Token &T : Macro->tokens()) {
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

unsigned operationsNamed(SourceLocation Use, const Source &S, Preprocessor &PP) {
  const MacroInfo *Macro = macroAt(Use, S, PP);
  return !Macro ? 0 : count_if(Macro->tokens(), [](const Token &T) {
    return T.getIdentifierInfo() && lockFunction(T.getIdentifierInfo()->getName());
  });
}

} // namespace relock
