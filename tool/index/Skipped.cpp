// SPDX-License-Identifier: MIT
//
// Skipped text has no AST: it is read token by token, and only the names of POSIX's own functions
// are recognised in it.
#include "index/Skipped.h"

#include "index/LockApi.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"

using namespace clang;
using namespace llvm;

namespace relock {

void SkippedText::watch(Preprocessor &PP) {
  struct Watch : PPCallbacks {
    std::vector<SourceRange> &Ranges;
    explicit Watch(std::vector<SourceRange> &Ranges) : Ranges(Ranges) {}
    void SourceRangeSkipped(SourceRange Range, SourceLocation) override { Ranges.push_back(Range); }
  };
  PP.addPPCallbacks(std::make_unique<Watch>(Ranges));
}

// `#if 0`
static bool neverCompiled(StringRef Directive) {
  Directive = Directive.split('\n').first.ltrim("# \t");
  return Directive.consume_front("if") && Directive.trim() == "0";
}

// A lock function, or a macro whose body names one.
static std::optional<LockFunction> lockOperator(Preprocessor &PP, StringRef Name) {
  if (std::optional<LockFunction> Api = lockFunction(Name))
    return Api;
  const IdentifierInfo *Identifier = PP.getIdentifierInfo(Name);
  const MacroInfo *Macro = Identifier->hasMacroDefinition() ? PP.getMacroInfo(Identifier) : nullptr;
  if (Macro && Macro->isFunctionLike())
    for (const Token &T : Macro->tokens())
      if (T.getIdentifierInfo())
        if (std::optional<LockFunction> Api = lockFunction(T.getIdentifierInfo()->getName()))
          return Api;
  return std::nullopt;
}

static void scan(const Source &S, Preprocessor &PP, SourceRange Range,
                 std::vector<SkippedSite> &Found) {
  auto [File, Begin] = S.SM.getDecomposedLoc(Range.getBegin());
  auto [EndFile, End] = S.SM.getDecomposedLoc(Range.getEnd());
  StringRef Text = S.fileText(File);
  if (File != EndFile || S.SM.isInSystemHeader(Range.getBegin()) ||
      neverCompiled(Text.substr(Begin)))
    return;
  Lexer Raw(S.SM.getLocForStartOfFile(File), S.Language, Text.begin(), Text.begin() + Begin,
            Text.end());
  Token Current;
  bool InCall = false; // between the parentheses of the last site
  int Depth = 0;
  tok::TokenKind Previous = tok::unknown;
  for (; !Raw.LexFromRawLexer(Current) && S.SM.getFileOffset(Current.getLocation()) < End;
       Previous = Current.getKind()) {
    if (Current.is(tok::l_paren))
      ++Depth;
    else if (Current.is(tok::r_paren) && --Depth <= 0)
      InCall = false;
    if (Current.isNot(tok::raw_identifier))
      continue;
    StringRef Name = Current.getRawIdentifier();
    if (std::optional<LockFunction> Api = lockOperator(PP, Name)) {
      SkippedSite Site;
      Site.At = S.spelled(Current.getLocation());
      Site.Acquires = acquires(Api->Kind);
      Site.Operator = Name.str();
      Found.push_back(std::move(Site));
      InCall = true;
      Depth = 0;
    } else if (InCall) {
      Found.back().Operand = Name.str();
      Found.back().Member = Previous == tok::period || Previous == tok::arrow;
    }
  }
}

std::vector<SkippedSite> SkippedText::lockSites(const Source &S, Preprocessor &PP) const {
  std::vector<SkippedSite> Found;
  for (SourceRange Range : Ranges)
    scan(S, PP, Range, Found);
  return Found;
}

} // namespace relock
